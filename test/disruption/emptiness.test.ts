import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { poolSpec, Workbench } from '../fixtures/engine/workbench.ts';
import { Kinds } from '../../src/api/kinds.ts';
import { Annotations } from '../../src/api/labels.ts';
import { createEngine } from '../../src/cli/compose/engine.ts';

const MINUTE = 60_000;

let bench: Workbench;
beforeEach(async () => {
  bench = await Workbench.start({
    engine: (ports) => createEngine({ ...ports, batchIdle: 1_000, batchMax: 10_000 }),
    pace: { boot: 5_000, ready: 1_000, podStart: 1_000 },
  });
});
afterEach(() => bench.close());

const names = async (): Promise<string[]> => (await bench.claims()).map(({ metadata }) => metadata.name);
const disruption = (changes: object) => ({ disruption: { ...poolSpec().disruption, ...changes } });

describe('a node without pods', () => {
  it('goes when nothing has happened on it for consolidateAfter', async () => {
    await bench.createPool('default', disruption({ consolidateAfter: '2m' }));
    await bench.createPod('p');
    await bench.advance(MINUTE);
    expect(await names()).toHaveLength(1);
    await bench.kube.delete(Kinds.Pod, { name: 'p', namespace: 'default' });
    await bench.advance(1.5 * MINUTE);
    expect(await names()).toHaveLength(1);
    await bench.advance(1.5 * MINUTE);
    expect(await names()).toEqual([]);
    expect(bench.cloud.instances).toEqual([]);
    expect(await bench.events('DisruptionTerminating')).toHaveLength(2);
    const labels = { decision: 'delete', reason: 'empty', consolidation_type: 'empty' };
    expect(bench.metrics.value('karpenter_voluntary_disruption_decisions_total', labels)).toBe(1);
    expect(bench.metrics.value('karpenter_nodeclaims_disrupted_total', { reason: 'empty' })).toBe(1);
  });

  it('stays while a budget allows none, and says so', async () => {
    await bench.createPool('default', disruption({ budgets: [{ nodes: '0' }] }));
    await bench.createPod('p');
    await bench.advance(MINUTE);
    await bench.kube.delete(Kinds.Pod, { name: 'p', namespace: 'default' });
    await bench.advance(5 * MINUTE);
    expect(await names()).toHaveLength(1);
    const messages = (await bench.events('DisruptionBlocked')).map(({ message }) => message);
    expect(messages).toContain('No allowed disruptions for disruption reason Empty due to blocking budget');
    await bench.kube.patch(Kinds.NodePool, { name: 'default' }, { type: 'merge', body: { spec: disruption({}) } });
    await bench.advance(MINUTE);
    expect(await names()).toEqual([]);
  });

  it('stays while an entry of the budgets cannot be read, whatever the others allow, and the pool is told', async () => {
    const unreadable = { nodes: '100%', schedule: '0 0 * * tue-mon', duration: '1h', reasons: ['Drifted'] };
    await bench.createPool('default', disruption({}));
    await bench.createPod('p');
    await bench.advance(MINUTE);
    const spec = disruption({ budgets: [{ nodes: '100%' }, unreadable] });
    await bench.kube.patch(Kinds.NodePool, { name: 'default' }, { type: 'merge', body: { spec } });
    await bench.kube.delete(Kinds.Pod, { name: 'p', namespace: 'default' });
    await bench.advance(5 * MINUTE);
    expect(await names()).toHaveLength(1);
    const told = (await bench.events('DisruptionBlocked')).filter(
      ({ involvedObject, message }) => involvedObject.kind === 'NodePool' && message?.includes('tue-mon'),
    );
    expect(told).toHaveLength(1);
  });

  it('stays when it is protected after the decision and before its execution', async () => {
    await bench.createPool('default', disruption({ consolidateAfter: '0s' }));
    await bench.createPod('p');
    await bench.advance(MINUTE);
    await bench.kube.delete(Kinds.Pod, { name: 'p', namespace: 'default' });
    const eligible = 'karpenter_voluntary_disruption_eligible_nodes';
    for (let waited = 0; bench.metrics.value(eligible, { reason: 'empty' }) !== 1; waited += 500) {
      expect(waited).toBeLessThan(MINUTE);
      await bench.advance(500);
    }
    const [node] = await bench.nodes();
    const annotations = { [Annotations.doNotDisrupt]: 'true' };
    const body = { metadata: { annotations } };
    await bench.kube.patch(Kinds.Node, { name: node?.metadata.name ?? '' }, { type: 'merge', body });
    await bench.advance(5 * MINUTE);
    expect(await names()).toHaveLength(1);
    const labels = { consolidation_type: 'empty' };
    expect(bench.metrics.value('karpenter_voluntary_disruption_failed_validations_total', labels)).toBe(1);
  });
});
