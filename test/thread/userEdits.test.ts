import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Workbench } from '../fixtures/engine/workbench.ts';
import { Kinds } from '../../src/api/kinds.ts';
import { createEngine } from '../../src/cli/compose/engine.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import type { EditRecord } from '../../src/ledger/record.ts';
import { recordText } from '../../src/ledger/recordText.ts';

describe('an edit by a user', { timeout: 600_000 }, () => {
  let bench: Workbench;
  let ledger: Ledger;
  let node = '';

  beforeEach(async () => {
    bench = await Workbench.start({
      engine: (ports) => {
        ledger = new Ledger({ now: () => ports.clock.now() });
        return createEngine({ ...ports, ledger, batchIdle: 1_000, batchMax: 10_000 });
      },
    });
    await bench.createPool('default');
    const spec = { containers: [{ name: 'main', image: 'app', resources: { requests: { cpu: '1' } } }] };
    await bench.kube.create(Kinds.Pod, { metadata: { name: 'web', namespace: 'default' }, spec });
    await bench.advance(3 * 60_000);
    node = (await bench.nodes())[0]?.metadata.name ?? '';
  });
  afterEach(() => bench.close());

  const edits = (): readonly EditRecord[] =>
    ledger.entries().flatMap((entry): EditRecord[] => (entry.kind === 'edit' ? [entry] : []));
  const said = (): readonly string[] => edits().map(recordText);
  const annotate = (value: string | null) => ({
    type: 'merge' as const,
    body: { metadata: { annotations: { 'karpenter.sh/do-not-disrupt': value } } },
  });

  it('of settings is recorded with the nodes that they rule, and of a template with those that drift', async () => {
    expect(edits()).toEqual([]);
    const patch = async (body: object): Promise<void> => {
      await bench.kube.patch(Kinds.NodePool, { name: 'default' }, { type: 'merge', body });
      await bench.advance(1_000);
    };
    await patch({ spec: { disruption: { consolidateAfter: 'Never' } } });
    await patch({ spec: { template: { metadata: { labels: { 'example.com/team': 'red' } } } } });
    expect(edits()).toMatchObject([
      { object: { kind: 'NodePool', name: 'default' }, outcome: 'rules', nodes: { count: 1, names: [node] } },
      { object: { kind: 'NodePool', name: 'default' }, outcome: 'drift', nodes: { count: 1, names: [node] } },
    ]);
    expect(said()).toEqual([
      `NodePool default was edited (spec.disruption.consolidateAfter): other settings for ${node}`,
      `NodePool default was edited (spec.template.metadata.labels.example.com/team): ${node} drifts`,
    ]);
  });

  it('that protects a node or a pod, or no longer does, is recorded with the node', async () => {
    await bench.kube.patch(Kinds.Node, { name: node }, annotate('true'));
    await bench.kube.patch(Kinds.Pod, { name: 'web', namespace: 'default' }, annotate('true'));
    await bench.advance(1_000);
    await bench.kube.patch(Kinds.Node, { name: node }, annotate(null));
    await bench.advance(1_000);
    const field = 'metadata.annotations.karpenter.sh/do-not-disrupt';
    expect(said()).toEqual([
      `Node ${node} was edited (${field}): ${node} is kept`,
      `Pod default/web was edited (${field}): ${node} is kept`,
      `Node ${node} was edited (${field}): ${node} may be removed`,
    ]);
  });

  it('that concerns no node is not recorded', async () => {
    await bench.createPool('second');
    await bench.advance(1_000);
    await bench.kube.patch(Kinds.NodePool, { name: 'second' }, { type: 'merge', body: { spec: { weight: 5 } } });
    await bench.advance(1_000);
    expect(edits()).toEqual([]);
  });
});
