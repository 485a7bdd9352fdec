import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Kinds } from '../../src/api/kinds.ts';
import { readCluster } from '../../src/cli/compose/clusterSource.ts';
import { applyFix, explainIn, type Subject } from '../../src/cli/compose/explainCluster.ts';
import { createEngine } from '../../src/cli/compose/engine.ts';
import type { Explanation } from '../../src/ledger/explanation.ts';
import { Workbench } from '../fixtures/engine/workbench.ts';

/** Milliseconds. */
const MINUTE = 60_000;

describe('explain, on a cluster with a running controller', () => {
  let bench: Workbench;
  beforeEach(async () => {
    bench = await Workbench.start({
      engine: (ports) => createEngine({ ...ports, batchIdle: 1_000, batchMax: 10_000 }),
    });
    await bench.createPool();
  });
  afterEach(() => bench.close());

  const explainSubject = async (subject: Subject): Promise<Explanation> => {
    const catalogue = { region: 'eastus', instanceTypes: bench.cloud.types };
    return explainIn(await readCluster(bench.kube, catalogue, { now: bench.clock.now() }), subject);
  };
  const explain = (name: string): Promise<Explanation> => explainSubject({ kind: 'pod', name, namespace: 'default' });

  async function deploy(name: string, spec: object): Promise<string> {
    const labels = { app: name };
    const containers = [{ name: 'main', image: 'app', resources: { requests: { cpu: '500m' } } }];
    await bench.kube.create(Kinds.Deployment, {
      metadata: { name, namespace: 'default' },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers, ...spec } } },
    });
    await bench.advance(MINUTE);
    const [pod] = await bench.pods();
    return pod?.metadata.name ?? '';
  }

  it('names the constraint, and its fix lets the workload run', async () => {
    const name = await deploy('web', { nodeSelector: { team: 'blue' } });
    const explanation = await explain(name);
    expect(explanation).toMatchObject({
      object: { kind: 'Pod', namespace: 'default', name },
      constraint: 'requirements',
    });
    expect(explanation.sentence).toContain('label "team" does not have known values');
    const [fix] = explanation.fixes;
    expect(fix?.patches).toHaveLength(1);
    if (fix) await applyFix(bench.kube, fix, () => bench.advance(1_000));
    await bench.advance(5 * MINUTE);
    const running = (await bench.pods()).filter(({ status }) => status?.phase === 'Running');
    expect(running).toHaveLength(1);
    const [pod] = running;
    expect((await explain(pod?.metadata.name ?? '')).constraint).toBe('bound');
  });

  it('writes nothing, and says so when the pod is not there', async () => {
    await expect(explain('nothing')).rejects.toMatchObject({ code: 'ObjectNotFound' });
  });

  /** A node that a Deployment of one small pod keeps, and that nothing else does. */
  async function runOne(annotations: Record<string, string> = {}): Promise<string> {
    const labels = { app: 'web' };
    const resources = { requests: { cpu: '500m' } };
    const spec = { containers: [{ name: 'main', image: 'app', resources }] };
    await bench.kube.create(Kinds.Deployment, {
      metadata: { name: 'web', namespace: 'default' },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels, annotations }, spec } },
    });
    await bench.advance(5 * MINUTE);
    const [node] = await bench.nodes();
    return node?.metadata.name ?? '';
  }

  it('says why a node is kept and what it costs, and its fix makes the controller remove it', async () => {
    const name = await runOne({ 'karpenter.sh/do-not-disrupt': 'true' });
    await bench.kube.patch(
      Kinds.NodePool,
      { name: 'default' },
      { type: 'merge', body: { spec: { disruption: { consolidateAfter: 'Never' } } } },
    );
    await bench.advance(MINUTE);
    const explanation = await explainSubject({ kind: 'node', name });
    expect(explanation).toMatchObject({
      object: { apiVersion: 'v1', kind: 'Node', name },
      constraint: 'do-not-disrupt-pod',
      node: { nodePool: 'default', instanceType: 'm2', pricePerHour: 0.1, pricePerMonth: 73, boughtForPods: 1 },
    });
    expect(explanation.evidence.join('\n')).toContain('$73 per month');
    const [fix] = explanation.fixes;
    expect(fix?.patches.map(({ target }) => target.kind)).toEqual(['NodePool', 'Node', 'Deployment']);
    if (fix) await applyFix(bench.kube, fix, () => bench.advance(1_000));
    await bench.advance(20 * MINUTE);
    expect((await bench.nodes()).map(({ metadata }) => metadata.name)).not.toContain(name);
  });

  it('says of a NodeClaim what it says of its node', async () => {
    const name = await runOne();
    const [claim] = await bench.claims();
    const ofNode = await explainSubject({ kind: 'node', name });
    const ofClaim = await explainSubject({ kind: 'nodeclaim', name: claim?.metadata.name ?? '' });
    expect(ofClaim).toEqual({ ...ofNode, object: ofClaim.object });
    expect(ofNode.constraint).toBe('not-cheaper');
  });

  it('says which limit of a NodePool is reached, and its fix lets the pool grow', async () => {
    await runOne();
    await bench.kube.patch(
      Kinds.NodePool,
      { name: 'default' },
      { type: 'merge', body: { spec: { limits: { cpu: '2' } } } },
    );
    await bench.advance(MINUTE);
    const explanation = await explainSubject({ kind: 'nodepool', name: 'default' });
    expect(explanation).toMatchObject({ object: { kind: 'NodePool', name: 'default' }, constraint: 'limits' });
    const [fix] = explanation.fixes;
    if (fix) await applyFix(bench.kube, fix, () => bench.advance(1_000));
    expect((await explainSubject({ kind: 'nodepool', name: 'default' })).constraint).not.toBe('limits');
  });

  it.each([
    [{ kind: 'node', name: 'nothing' } as const],
    [{ kind: 'nodeclaim', name: 'nothing' } as const],
    [{ kind: 'nodepool', name: 'nothing' } as const],
  ])('says so when there is no such %j', async (subject) => {
    await expect(explainSubject(subject)).rejects.toMatchObject({ code: 'ObjectNotFound' });
  });
});
