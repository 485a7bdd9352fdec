import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Kinds } from '../../api/kinds.ts';
import { silentLog } from '../../kube/log.ts';
import { Ledger } from '../../ledger/ledger.ts';
import { podList } from '../../ledger/podList.ts';
import { podKey } from '../../pods/podKey.ts';
import { instance, Simulation } from '../../../test/fixtures/local/simulation.ts';
import { WorldObserver } from './worldObserver.ts';

describe('WorldObserver', () => {
  let simulation: Simulation;
  const stop = new AbortController();
  beforeEach(async () => {
    simulation = new Simulation();
    await simulation.boot(instance('one', { labels: { 'node.kubernetes.io/instance-type': 'Standard_D4s_v5' } }));
  });
  afterEach(async () => {
    stop.abort();
    await simulation.stop();
  });

  it("shows prices, what was saved, and nodewright's own reason for a waiting pod rather than the scheduler's", async () => {
    const { kube, clock } = simulation;
    const ledger = new Ledger({ now: () => clock.now() });
    const observer = new WorldObserver({
      kube,
      clock,
      log: silentLog,
      faults: simulation.world.faults,
      ledger,
      price: (instanceType) => (instanceType === 'Standard_D4s_v5' ? 0.192 : undefined),
      title: '',
      hints: [],
    });
    const running = observer.run(stop.signal);
    const pod = await simulation.create(Kinds.Pod, {
      metadata: { name: 'big', namespace: 'default' },
      spec: { containers: [{ name: 'main', image: 'nginx', resources: { requests: { cpu: '500' } } }] },
    });
    await simulation.advance(10_000);
    expect(observer.facts().waiting[0]?.reason).toMatch(/^0\/1 nodes are available/);
    ledger.append({ kind: 'refusal', pods: podList([podKey(pod)]), reason: { kind: 'no-pools', nodes: [] } });
    const { waiting, nodes } = observer.facts();
    expect(waiting).toEqual([{ owner: 'big', count: 1, reason: 'no NodePool is ready' }]);
    expect(nodes.map(({ name, price }) => [name, price])).toEqual([['one', 0.192]]);
    const begun = { kind: 'disruption', command: 'c1', reason: 'Underutilized', savingsPerHour: 0.1 } as const;
    const node = { nodePool: 'default', node: 'one' };
    ledger.append({
      ...begun,
      consolidationType: 'single',
      decision: 'delete',
      nodes: [node],
      nodeCount: 1,
      replacements: [],
      replacementCount: 0,
      pods: podList([]),
    });
    expect(observer.facts()).toMatchObject({ saved: 0 });
    ledger.append({ kind: 'disruption-end', command: 'c1', reason: 'Underutilized', nodes: ['one'], outcome: 'done' });
    expect(observer.facts()).toMatchObject({ saved: 0.1, held: 0 });
    expect(observer.facts().decisions.at(-1)).toMatch(/Underutilized: removes one, saves \$0\.1000 per hour$/);
    stop.abort();
    await running;
  });
});
