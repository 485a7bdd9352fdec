import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Kinds } from '../../src/api/kinds.ts';
import type { NodePool } from '../../src/api/kinds/nodePool.ts';
import { Annotations, Labels, Taints } from '../../src/api/labels.ts';
import { KwokCluster } from './kwok/kwokCluster.ts';
import { Scenario } from './kwok/scenario.ts';

const ON_DEMAND = { requirements: [{ key: Labels.capacityType, operator: 'In' as const, values: ['on-demand'] }] };
const SPOT = { requirements: [{ key: Labels.capacityType, operator: 'In' as const, values: ['spot'] }] };
/** Expired nodes drift instead of being deleted by force. */
const UNFORCED = { metadata: { annotations: { [Annotations.forcefulExpiration]: 'false' } } };
const ONE_CORE = { containers: [{ name: 'main', image: 'app', resources: { requests: { cpu: '900m' } } }] };
const EAGER: NodePool['spec']['disruption'] = {
  consolidateAfter: '0s',
  consolidationPolicy: 'WhenEmptyOrUnderutilized',
  budgets: [{ nodes: '100%' }],
};
const drifting: NodePool['spec']['disruption'] = { ...EAGER, consolidateAfter: 'Never' };

/** Nodes go on a real control plane, with its scheduler and its controllers. */
describe('disruption', () => {
  let cluster: KwokCluster;

  beforeAll(async () => {
    cluster = await KwokCluster.start();
    await cluster.run(['--batch-idle-duration=300ms', '--batch-max-duration=3s', '--feature-gates=NodeRepair=true']);
  });
  afterAll(() => cluster?.stop());

  const story = (name: string): Scenario => new Scenario(cluster, name);
  const patchPool = (own: Scenario, spec: object): Promise<unknown> =>
    own.kube.patch(Kinds.NodePool, { name: own.name }, { type: 'merge', body: { spec } });
  const cores = async (own: Scenario): Promise<number> =>
    (await own.nodes()).reduce((sum, { status }) => sum + Number(status?.capacity?.['cpu'] ?? 0), 0);

  it.concurrent('deletes nodes without pods', async () => {
    const own = story('emptiness');
    await own.pool({ disruption: { ...EAGER, consolidationPolicy: 'WhenEmpty' } }, ON_DEMAND);
    await own.deployment(2, ONE_CORE);
    await own.running(2);
    await own.scale(0);
    await own.eventually('no node is left', async () => ((await own.claims()).length === 0 ? true : undefined));
    expect(await own.nodes()).toEqual([]);
    await own.end();
  });

  it.concurrent('replaces nodes by fewer and cheaper ones', async () => {
    const own = story('consolidation');
    await own.pool({ disruption: EAGER }, ON_DEMAND);
    await own.deployment(14, ONE_CORE);
    await own.running(14);
    const before = await cores(own);
    await own.scale(3);
    await own.eventually('few cores are left', async () => ((await cores(own)) <= 4 ? true : undefined));
    expect(before).toBeGreaterThan(12);
    await own.running(3);
    await own.end();
  });

  it.concurrent.each([
    ['NodePoolDrifted', 'drift', { spec: { template: { metadata: { labels: { generation: 'second' } } } } }],
    ['RequirementsDrifted', 'requirements-drift', { spec: { template: { spec: SPOT } } }],
    ['Expired', 'expiration-drift', UNFORCED],
  ] as const)('replaces nodes that have drifted, the new ones first: %s', async (reason, name, change) => {
    const own = story(name);
    await own.pool({ disruption: drifting }, { ...ON_DEMAND, ...(reason === 'Expired' && { expireAfter: '40s' }) });
    await own.deployment(3, ONE_CORE);
    await own.running(3);
    const old = new Set((await own.claims()).map(({ metadata }) => metadata.uid));
    await own.kube.patch(Kinds.NodePool, { name: own.name }, { type: 'merge', body: change });
    const reasons = new Set<string | undefined>();
    await own.eventually('only new nodes are left', async () => {
      const claims = await own.claims();
      for (const { status } of claims) reasons.add(status?.conditions?.find(({ type }) => type === 'Drifted')?.reason);
      return claims.length > 0 && claims.every(({ metadata }) => !old.has(metadata.uid)) ? true : undefined;
    });
    expect(reasons).toContain(reason);
    expect(await own.running(3)).toHaveLength(3);
    await patchPool(own, { template: { spec: { expireAfter: 'Never' } } });
    await own.end();
  });

  it.concurrent('ends claims that reach their age', async () => {
    const own = story('expiration');
    await own.pool({ disruption: drifting }, { ...ON_DEMAND, expireAfter: '20s' });
    await own.deployment(1, ONE_CORE);
    await own.running(1);
    const [first] = await own.claims();
    const next = await own.eventually('another node takes its place', async () =>
      (await own.claims()).find(({ metadata }) => metadata.uid !== first?.metadata.uid),
    );
    const age = Date.parse(next.metadata.creationTimestamp ?? '') - Date.parse(first?.metadata.creationTimestamp ?? '');
    expect(age).toBeGreaterThanOrEqual(19_000);
    await patchPool(own, { template: { spec: { expireAfter: 'Never' } } });
    await own.end();
  });

  it.concurrent('keeps to a window in which nothing may go', async () => {
    const own = story('window');
    const closed = [{ nodes: '100%' }, { nodes: '0', schedule: '* * * * *', duration: '5m' }];
    await own.pool({ disruption: { ...EAGER, budgets: closed } }, ON_DEMAND);
    await own.deployment(1, ONE_CORE);
    await own.running(1);
    await own.scale(0);
    await own.eventually('the pool is told', async () => {
      const { items } = await own.kube.list(Kinds.Event);
      const said = items.filter(
        ({ involvedObject, reason }) => involvedObject.name === own.name && reason === 'DisruptionBlocked',
      );
      return said.length > 0 ? true : undefined;
    });
    expect(await own.claims()).toHaveLength(1);
    await patchPool(own, { disruption: { budgets: [{ nodes: '100%' }] } });
    await own.eventually('no node is left', async () => ((await own.claims()).length === 0 ? true : undefined));
    await own.end();
  });

  it.concurrent('takes a command back whose replacement is lost', async () => {
    const own = story('roll-back');
    const never = { key: 'example.com/never', value: 'true', effect: 'NoSchedule' as const };
    await own.pool({ disruption: drifting }, ON_DEMAND);
    await own.deployment(1, ONE_CORE);
    await own.running(1);
    const [first] = await own.nodes();
    // The replacement does not become ready: its startup taint stays.
    await patchPool(own, { template: { spec: { startupTaints: [never] } } });
    const replacement = await own.eventually('a replacement is on its way', async () =>
      (await own.claims()).find(({ metadata }) => metadata.annotations?.[Annotations.disruptionCommand] !== undefined),
    );
    const name = first?.metadata.name ?? '';
    const isMarked = async (): Promise<boolean> =>
      (await own.kube.get(Kinds.Node, { name })).spec?.taints?.some(({ key }) => key === Taints.disrupted.key) ?? false;
    expect(await isMarked()).toBe(true);
    await patchPool(own, { disruption: { budgets: [{ nodes: '0' }] } });
    await own.kube.delete(Kinds.NodeClaim, { name: replacement.metadata.name });
    await own.eventually('the mark is taken off', async () => ((await isMarked()) ? undefined : true));
    await own.running(1);
    await own.end();
  });

  it.concurrent('repairs a sick node, unless more than a fifth are sick', async () => {
    const own = story('repair');
    const apart = { topologyKey: Labels.hostname, labelSelector: { matchLabels: own.labels } };
    const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [apart] } };
    await own.pool({ disruption: drifting }, ON_DEMAND);
    await own.deployment(5, { ...ONE_CORE, affinity });
    await own.running(5);
    const [one = '', other = ''] = (await own.nodes()).map(({ metadata }) => metadata.name);
    const says = (name: string, status: 'True' | 'False', minutesAgo: number): Promise<unknown> => {
      const since = new Date(Date.now() - minutesAgo * 60_000).toISOString().replace(/\.\d+/, '');
      const condition = { type: 'Ready', status, reason: 'Test', message: since, lastTransitionTime: since };
      const body = { status: { conditions: [condition] } };
      return own.kube.patch(Kinds.Node, { name }, { type: 'strategic', body }, { subresource: 'status' });
    };
    const isThere = async (name: string): Promise<boolean> =>
      (await own.nodes()).some(({ metadata }) => metadata.name === name && metadata.deletionTimestamp === undefined);
    // The first is not sick for long enough to be repaired, but counts.
    await says(one, 'False', 1);
    await says(other, 'False', 11);
    await own.event('NodeRepairBlocked', other);
    expect([await isThere(one), await isThere(other)]).toEqual([true, true]);
    await says(one, 'True', 0);
    await says(other, 'False', 12);
    await own.eventually('the sick node goes', async () => ((await isThere(other)) ? undefined : true));
    expect(await isThere(one)).toBe(true);
    await own.running(5);
    await own.end();
  });
});
