import { describe, expect, it } from 'vitest';
import { PaperCluster } from '../../test/fixtures/disruption/paperCluster.ts';
import { paperCloud, paperObjects } from '../../test/fixtures/disruption/paperObjects.ts';
import { paperPod, UNSCHEDULABLE } from '../../test/fixtures/disruption/paperPods.ts';
import { testType } from '../../test/fixtures/solver/testObjects.ts';
import { Kinds } from '../api/kinds.ts';
import type { NodePool } from '../api/kinds/nodePool.ts';
import { Annotations, Labels, Taints } from '../api/labels.ts';
import { NODE_POOL_HASH_VERSION, nodePoolHash } from '../api/nodePoolHash.ts';
import { changeReportText } from '../ledger/changeReportText.ts';
import { readManifests } from '../plan/readManifests.ts';
import { applyManifests } from './applyManifests.ts';
import { kindKey, objectsOf, type ClusterObjects } from './clusterObjects.ts';
import { decisionsOf } from './decisionsOf.ts';
import { rehearse } from './rehearse.ts';
import { withQuotaUse } from './quotaShares.ts';
import { rehearseChange } from './rehearseChange.ts';
import { HashedNames } from './hashedNames.ts';
import { formatSnapshot, parseSnapshot, withoutSecretFields } from './snapshotFile.ts';

const TYPES = [testType('t2', 2, 4, 0.1), testType('t8', 8, 16, 0.36)];
const cloud = paperCloud(TYPES);

const ON_DEMAND: NodePool['spec']['template']['spec'] = {
  nodeClassRef: { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' },
  requirements: [{ key: Labels.capacityType, operator: 'In', values: ['on-demand'] }],
  expireAfter: 'Never',
};

/** Three nodes filled by the pods, with the hashes of their pool. */
function cluster(nodes = '1'): { readonly objects: ClusterObjects; readonly pool: NodePool } {
  const paper = new PaperCluster();
  const pool = paper.addPool(TYPES, {
    disruption: { consolidateAfter: '0s', consolidationPolicy: 'WhenEmptyOrUnderutilized', budgets: [{ nodes }] },
    template: { spec: ON_DEMAND },
  });
  const stamps = {
    [Annotations.nodePoolHash]: nodePoolHash(pool),
    [Annotations.nodePoolHashVersion]: NODE_POOL_HASH_VERSION,
  };
  pool.metadata.annotations = { ...stamps };
  for (const name of ['a', 'b', 'c']) {
    paper.addNode({ name, type: 't2', claimAnnotations: stamps, pods: [paperPod(`p-${name}`, { cpu: '1500m' })] });
  }
  return { objects: paperObjects(paper), pool };
}

const withLabel = (pool: NodePool): NodePool => ({
  ...pool,
  spec: { ...pool.spec, template: { ...pool.spec.template, metadata: { labels: { team: 'blue' } } } },
});
const applied = (objects: ClusterObjects, ...pools: NodePool[]) =>
  applyManifests(objects, { pools, classes: [], pods: [] });

describe('a change of a pool', () => {
  it('that does not affect nodes does nothing', async () => {
    const { objects, pool } = cluster();
    const report = await rehearseChange(objects, applied(objects, pool), { cloud });
    expect(report).toMatchObject({ drifting: [], steps: [], evictions: 0, unplaced: [], held: [], complete: true });
    expect(report.after).toEqual(report.before);
  });

  it.each([
    ['1', 3],
    ['2', 2],
    ['100%', 1],
  ])('of the template rolls all nodes, under a budget of %s in %i waves', async (budget, waves) => {
    const { objects, pool } = cluster(budget);
    const report = await rehearseChange(objects, applied(objects, withLabel(pool)), { cloud });
    expect(report.drifting.map(({ node, reason }) => `${node} ${reason}`)).toEqual([
      'a NodePoolDrifted',
      'b NodePoolDrifted',
      'c NodePoolDrifted',
    ]);
    const drift = report.steps.filter(({ reason }) => reason === 'Drifted');
    expect(drift).toHaveLength(waves);
    expect(drift.flatMap(({ nodes }) => nodes).sort()).toEqual(['a', 'b', 'c']);
    expect(drift.reduce((sum, { evictions }) => sum + evictions, 0)).toBe(3);
    expect(report).toMatchObject({ held: [], unplaced: [] });
    expect(report.after.pricePerHour).toBeCloseTo(report.before.pricePerHour, 9);
    expect(changeReportText(report)).toContain('| before | 3 | $0.3000 | $219 |');
  });

  it('waits for nodes already being removed, which count against the budget', async () => {
    const { objects, pool } = cluster('1');
    const leaving = objectsOf(objects, Kinds.NodeClaim).map((claim) =>
      claim.metadata.name === 'a'
        ? { ...claim, metadata: { ...claim.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
        : claim,
    );
    const kinds = new Map([...objects.kinds, [kindKey(Kinds.NodeClaim), leaving] as const]);
    const before = { ...objects, kinds };
    const report = await rehearseChange(before, applied(before, withLabel(pool)), { cloud });
    expect(report.steps.map(({ reason, nodes }) => [reason, ...nodes])).toEqual([
      ['Pending'],
      ['Drifted', 'b'],
      ['Drifted', 'c'],
    ]);
    expect(report).toMatchObject({ held: [], unplaced: [], after: { nodes: 3 } });
  });

  it('includes nodes that are still booting, whether their Node exists or not', async () => {
    const { objects, pool } = cluster('100%');
    const booting = objectsOf(objects, Kinds.NodeClaim).map((claim) => {
      if (claim.metadata.name === 'c') return claim;
      const { conditions = [], ...status } = claim.status ?? {};
      const launched = conditions.filter(({ type }) => type === 'Launched');
      return { ...claim, status: { ...status, conditions: launched } };
    });
    const nodes = objectsOf(objects, Kinds.Node).flatMap((node) => {
      if (node.metadata.name === 'c') return [node];
      const { [Labels.registered]: _, [Labels.initialized]: __, ...labels } = node.metadata.labels ?? {};
      const spec = { ...node.spec, taints: [{ ...Taints.unregistered }] };
      return node.metadata.name === 'a' ? [] : [{ ...node, metadata: { ...node.metadata, labels }, spec }];
    });
    const pods = objectsOf(objects, Kinds.Pod).filter(({ spec }) => spec?.nodeName === 'c');
    const kinds = new Map([
      ...objects.kinds,
      [kindKey(Kinds.NodeClaim), booting] as const,
      [kindKey(Kinds.Node), nodes] as const,
      [kindKey(Kinds.Pod), pods] as const,
    ]);
    const before = { ...objects, kinds };
    const report = await rehearseChange(before, applied(before, withLabel(pool)), { cloud });
    expect(report.drifting.map(({ node }) => node).sort()).toEqual(['a', 'b', 'c']);
    expect(report).toMatchObject({ before: { nodes: 3 }, held: [], after: { nodes: 1 } });
    expect([...report.removed].sort()).toEqual(['a', 'b', 'c']);
  });

  it.each([
    ['waits', UNSCHEDULABLE, undefined],
    ['starts', { phase: 'Pending', conditions: [{ type: 'Ready', status: 'False' }] }, 'c'],
    ['fails', { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] }, 'c'],
  ] as const)('counts a pod that %s in its budget as it will be then', async (how, status, nodeName) => {
    const { objects, pool } = cluster('100%');
    const pods = objectsOf(objects, Kinds.Pod).map((pod) => {
      const metadata = { ...pod.metadata, labels: { app: 'web' } };
      if (pod.spec?.nodeName !== 'c') return { ...pod, metadata };
      const { nodeName: _, ...spec } = pod.spec;
      const conditions = [...(status.conditions ?? [])];
      return { ...pod, metadata, spec: { ...spec, ...(nodeName && { nodeName }) }, status: { ...status, conditions } };
    });
    const budget = {
      metadata: { name: 'web', namespace: 'default' },
      spec: { selector: { matchLabels: { app: 'web' } }, maxUnavailable: 1 },
      status: { expectedPods: 3, currentHealthy: 2, desiredHealthy: 2, disruptionsAllowed: 0 },
    };
    const kinds = new Map([
      ...objects.kinds,
      [kindKey(Kinds.Pod), pods] as const,
      [kindKey(Kinds.PodDisruptionBudget), [budget]] as const,
    ]);
    const before = { ...objects, kinds };
    const report = await rehearseChange(before, applied(before, withLabel(pool)), { cloud });
    expect(report.held.map(({ node }) => node)).toEqual(how === 'fails' ? ['a', 'b', 'c'] : []);
  });

  it('reports which nodes a budget of 0 blocks', async () => {
    const { objects, pool } = cluster('0');
    const report = await rehearseChange(objects, applied(objects, withLabel(pool)), { cloud });
    expect(report.held.map(({ node }) => node)).toEqual(['a', 'b', 'c']);
    expect(report.held[0]?.sentence).toContain('disruption reason Drifted');
  });

  it('with waiting pods reports what is bought for them', async () => {
    const { objects } = cluster();
    const pods = [paperPod('new', { cpu: '1500m' })];
    const report = await rehearseChange(objects, applyManifests(objects, { pools: [], classes: [], pods }), { cloud });
    expect(report.steps[0]).toMatchObject({
      reason: 'Pending',
      replacements: [{ instanceType: 't2', nodePool: 'default' }],
    });
    expect(report.after.nodes).toBe(4);
  });
});

describe('a change of a workload that is there already', () => {
  const owned = (name: string, cpu: string) => {
    const pod = paperPod(name, { cpu, labels: { 'pod-template-hash': 'x1' } });
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-x1', uid: 'r', controller: true };
    return { ...pod, metadata: { ...pod.metadata, ownerReferences: [owner] } };
  };
  const web = (replicas: number, cpu: string, strategy?: object) =>
    readManifests([
      {
        source: 'web',
        text: JSON.stringify({
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          metadata: { name: 'web', namespace: 'default' },
          spec: {
            replicas,
            strategy,
            template: { spec: { containers: [{ name: 'main', resources: { requests: { cpu, memory: '1Gi' } } }] } },
          },
        }),
      },
    ]);
  function running(types = TYPES): ClusterObjects {
    const paper = new PaperCluster();
    paper.addPool(types, { template: { spec: ON_DEMAND } });
    for (const name of ['a', 'b', 'c']) paper.addNode({ name, type: 't2', pods: [owned(`web-x1-${name}`, '1500m')] });
    return paperObjects(paper);
  }
  const planned = (objects: ClusterObjects, replicas: number, cpu: string, strategy?: object) =>
    rehearseChange(objects, applyManifests(objects, web(replicas, cpu, strategy)), { cloud });

  it('keeps the pods that are still wanted, and reports which nodes are removed', async () => {
    const same = await planned(running(), 3, '1500m');
    expect(same).toMatchObject({ removed: [], added: [], evictions: 0 });
    const fewer = await planned(running(), 1, '1500m');
    expect(fewer.removed).toHaveLength(2);
    expect(fewer).toMatchObject({ added: [], after: { nodes: 1 } });
    const more = await planned(running(), 4, '1500m');
    // One node is bought for the new pod; then all four are cheaper together.
    expect(more.steps[0]).toMatchObject({ reason: 'Pending', replacements: [{ instanceType: 't2' }] });
    expect(more).toMatchObject({ removed: ['a', 'b', 'c'], added: [{ instanceType: 't8' }], after: { nodes: 1 } });
  });

  it('recreates its pods when their requests change', async () => {
    const report = await planned(running(), 3, '400m');
    expect(report.after.nodes).toBe(1);
  });

  it('buys a node for surge pods, and removes the one that is empty afterwards', async () => {
    const report = await planned(running(), 3, '1600m');
    // Each node has room for one pod: the first new one needs a fourth node, each later one takes the place of an old
    // one.
    expect(report.steps[0]).toMatchObject({ minute: 0, reason: 'Pending', replacements: [{ instanceType: 't2' }] });
    expect(report.after.nodes).toBe(3);
    expect(report.unplaced).toEqual([]);
  });

  it('stops half-way when new pods find no place', async () => {
    const report = await planned(running(), 3, '64');
    expect(report).toMatchObject({ removed: [], added: [], evictions: 0 });
    // Three replicas have a surge of one.
    expect(report.unplaced.map(({ pod }) => pod)).toEqual(['default/web-0']);
  });

  it('replaces all pods at once where the strategy is Recreate', async () => {
    const report = await planned(running(), 3, '1600m', { type: 'Recreate' });
    expect(report).toMatchObject({ steps: [], removed: [], added: [], unplaced: [] });
  });

  it('reports quota use of nodes, including old and new ones in parallel', async () => {
    const sold = TYPES.map((type) => ({
      ...type,
      offerings: type.offerings.map((offering) => ({
        ...offering,
        quotaNeed: { names: ['standardTFamily', 'cores'], amount: type.name === 't2' ? 2 : 8 },
      })),
    }));
    const objects = running(sold);
    const report = await rehearseChange(objects, applyManifests(objects, web(4, '1500m')), { cloud: paperCloud(sold) });
    // Three nodes, a fourth for the new pod, then one large node in addition to all four.
    const share = { before: 6, peak: 16, after: 8 };
    expect(report.quotas).toEqual([
      { quota: 'cores', ...share },
      { quota: 'standardTFamily', ...share },
    ]);
    const asked = withQuotaUse(report.quotas, [{ name: 'Cores', used: 90, limit: 98 }]);
    expect(asked[0]).toEqual({ quota: 'cores', ...share, used: 90, limit: 98 });
    const text = changeReportText({ ...report, quotas: asked });
    expect(text).toContain('| cores | 6 | 16 | 8 | 90 of 98 |');
    expect(text).toContain('The quota cores is short by 2 vCPUs');
    expect(text).toContain('| standardTFamily | 6 | 16 | 8 | not asked |');
  });

  it('reads PodDisruptionBudgets, which then block nodes', async () => {
    const objects = running();
    const spec = { maxUnavailable: 0, selector: { matchLabels: { 'pod-template-hash': 'x1' } } };
    const text = JSON.stringify({
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'web' },
      spec,
    });
    const after = applyManifests(objects, readManifests([{ source: 'budget', text }])).objects;
    expect(objectsOf(after, Kinds.PodDisruptionBudget)).toMatchObject([{ spec, status: { disruptionsAllowed: 0 } }]);
  });
});

describe('a snapshot', () => {
  it('replays to the same decisions, to the byte', async () => {
    const { objects } = cluster();
    const decide = async (from: ClusterObjects): Promise<string> =>
      JSON.stringify(decisionsOf(await rehearse({ objects: from, cloud })));
    const saved = parseSnapshot(formatSnapshot(objects));
    expect(saved && (await decide(saved))).toBe(await decide(objects));
    expect(await decide(saved ?? objects)).toContain('"nodeClaim":"a"');
  });

  it('with hashed names contains no name, and gives the same decisions', async () => {
    const { objects } = cluster();
    const text = formatSnapshot(objects, new HashedNames());
    expect(text).not.toMatch(/"p-a"|"name":"a"/);
    const saved = parseSnapshot(text);
    const fates = async (from: ClusterObjects) =>
      decisionsOf(await rehearse({ objects: from, cloud })).nodes.map(({ fate }) =>
        fate.kind === 'kept' ? fate.kept.cause.kind : fate.kind,
      );
    expect((await fates(saved ?? objects)).sort()).toEqual((await fates(objects)).sort());
  });

  it('contains no environment, command, name of a Secret or unknown annotation', () => {
    const secret = 'hunter2';
    const template = {
      metadata: { annotations: { 'example.com/token': secret, 'karpenter.sh/do-not-disrupt': 'true' } },
      spec: {
        serviceAccountName: secret,
        containers: [{ name: 'main', image: secret, args: [secret], env: [{ name: 'A', value: secret }] }],
        volumes: [
          { name: 'keys', secret: { secretName: secret } },
          { name: 'settings', projected: { sources: [{ configMap: { name: secret } }] } },
          { name: 'data', persistentVolumeClaim: { claimName: 'of-db' } },
        ],
      },
    };
    const deployment = {
      metadata: {
        name: 'web',
        namespace: 'default',
        annotations: { note: secret, 'kubernetes.io/change-cause': `kubectl set env deployment/web A=${secret}` },
      },
      spec: { template },
    };
    const kept = withoutSecretFields(deployment, Kinds.Deployment);
    expect(JSON.stringify(kept)).not.toContain(secret);
    expect(JSON.stringify(kept)).toContain('do-not-disrupt');
    expect(JSON.stringify(kept)).toContain('of-db');
  });

  it('is distinguished from other files', () => {
    expect(['', '{}', 'null', '{"format":"nodewright-snapshot","version":2}'].map(parseSnapshot)).toEqual(
      Array(4).fill(undefined),
    );
    expect(objectsOf({ time: 0, kinds: new Map() }, Kinds.Pod)).toEqual([]);
  });
});
