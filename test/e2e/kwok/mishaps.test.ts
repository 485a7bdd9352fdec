import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Kinds } from '../../../src/api/kinds.ts';
import { Finalizers, Labels, Taints } from '../../../src/api/labels.ts';
import { KwokCluster, type Program } from './kwokCluster.ts';
import { Scenario, statusOf } from './scenario.ts';

const LEASE = { name: 'karpenter-leader-election', namespace: 'kube-system' };
const HOLD = { key: 'example.com/hold', value: 'true', effect: 'NoSchedule' as const };
const BRISK = ['--batch-idle-duration=300ms', '--batch-max-duration=3s'];

/** Failures around the program, one after the other. */
describe('in spite of', () => {
  let cluster: KwokCluster;
  const programs: Program[] = [];

  beforeAll(async () => {
    cluster = await KwokCluster.start();
  });
  afterEach(async () => {
    await Promise.all(programs.splice(0).map((program) => program.end()));
  });
  afterAll(() => cluster?.stop());

  async function run(...args: string[]): Promise<Program> {
    const program = await cluster.run([...BRISK, ...args], { elects: true });
    programs.push(program);
    return program;
  }
  const leader = async (): Promise<string | undefined> =>
    (await cluster.kube.list(Kinds.Lease, { namespace: LEASE.namespace })).items.find(
      ({ metadata }) => metadata.name === LEASE.name,
    )?.spec?.holderIdentity;

  it('nodes that never join, pods are planned for again and the pool is called unhealthy', async () => {
    const own = new Scenario(cluster, 'never-joins');
    const program = await run('--registration-timeout=4s');
    await cluster.kube.create(Kinds.KWOKNodeClass, {
      metadata: { name: 'never' },
      spec: { nodeRegistrationDelay: '24h' },
    });
    const nodeClassRef = { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'never' };
    await own.pool({}, { nodeClassRef });
    await own.deployment(1);
    const counted = { reason: 'registration_timeout', nodepool: own.name };
    await own.eventually('two nodes are given up', async () =>
      (await program.metric('karpenter_nodeclaims_disrupted_total', counted)) >= 2 ? true : undefined,
    );
    await own.eventually('the pool is blamed', async () => {
      const { status } = await own.kube.get(Kinds.NodePool, { name: own.name });
      return statusOf(status?.conditions, 'NodeRegistrationHealthy') === 'False RegistrationFailed' ? true : undefined;
    });
    expect(await own.nodes()).toEqual([]);
    await own.end();
  });

  it('the death of the leader in the middle of launches, its successor neither loses nor doubles a node', async () => {
    const own = new Scenario(cluster, 'fail-over');
    const first = await run();
    const before = await cluster.eventually('a leader', async () => (await leader()) || undefined);
    await run();
    await own.pool();
    await own.ready();
    const keepAway = { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: own.labels } };
    const podAntiAffinity = { requiredDuringSchedulingIgnoredDuringExecution: [keepAway] };
    await own.deployment(12, { affinity: { podAntiAffinity } });
    await own.eventually('claims appear', async () => ((await own.claims()).length > 0 ? true : undefined));
    await first.end('SIGKILL');
    await own.running(12);
    expect(await leader()).not.toBe(before);
    const claims = await own.claims();
    const nodes = await own.nodes();
    expect(claims).toHaveLength(12);
    expect(nodes).toHaveLength(claims.length);
    expect(new Set(nodes.map(({ spec }) => spec?.providerID))).toEqual(
      new Set(claims.map(({ status }) => status?.providerID)),
    );
    await own.end();
  });

  it.each([
    ['its replacement is there', 'drift-waits'],
    ['the old node is gone', 'drift-deletes'],
  ])('the death of the process before %s, a drifted node is replaced once', async (_, name) => {
    const own = new Scenario(cluster, name);
    const isWaiting = name === 'drift-waits';
    await run();
    const disruption = { consolidateAfter: 'Never', consolidationPolicy: 'WhenEmpty' as const };
    await own.pool({ disruption: { ...disruption, budgets: [{ nodes: '100%' }] } });
    await own.deployment(3);
    await own.running(3);
    const [old, ...others] = await own.nodes();
    expect(others).toEqual([]);
    const ref = { name: old?.metadata.name ?? '' };
    // What the phase waits for is held until the successor runs.
    if (!isWaiting) {
      const finalizers = [...(old?.metadata.finalizers ?? []), HOLD.key];
      await own.kube.patch(Kinds.Node, ref, { type: 'merge', body: { metadata: { finalizers } } });
    }
    const spec = {
      ...(isWaiting && { spec: { startupTaints: [HOLD] } }),
      metadata: { labels: { generation: 'second' } },
    };
    await own.kube.patch(Kinds.NodePool, { name }, { type: 'merge', body: { spec: { template: spec } } });
    const next = await own.eventually('the phase has begun', async () => {
      const nodes = await own.nodes();
      const came = nodes.find(({ metadata }) => metadata.name !== ref.name);
      const isHeld = isWaiting
        ? came?.metadata.labels?.[Labels.registered] === 'true'
        : nodes.some(({ metadata }) => metadata.name === ref.name && metadata.deletionTimestamp);
      return isHeld ? came : undefined;
    });
    await programs.pop()?.end('SIGKILL');
    await run();
    if (isWaiting) {
      const node = await own.kube.get(Kinds.Node, { name: next.metadata.name });
      const taints = (node.spec?.taints ?? []).filter(({ key }) => key !== HOLD.key);
      await own.kube.patch(Kinds.Node, { name: next.metadata.name }, { type: 'merge', body: { spec: { taints } } });
    } else {
      const { metadata } = await own.kube.get(Kinds.Node, ref);
      const finalizers = metadata.finalizers?.filter((each) => each !== HOLD.key) ?? [];
      await own.kube.patch(Kinds.Node, ref, { type: 'merge', body: { metadata: { finalizers } } });
    }
    await own.eventually('only the new node is left', async () => {
      const nodes = await own.nodes();
      const isAlone = nodes.length === 1 && nodes[0]?.metadata.name === next.metadata.name;
      return isAlone && (await own.claims()).length === 1 ? true : undefined;
    });
    expect((await own.nodes()).flatMap(({ spec: { taints = [] } = {} }) => taints.map(({ key }) => key))).not.toContain(
      Taints.disrupted.key,
    );
    expect(await own.running(3)).toHaveLength(3);
    await own.end();
  });

  it('a restart of the API server in the middle of drains, all of them end', async () => {
    const own = new Scenario(cluster, 'restart');
    await run();
    await own.pool();
    await own.deployment(24, {}, {}, 'restart');
    await own.running(24);
    const nodes = (await own.nodes()).map(({ metadata }) => metadata.name);
    await own.kube.delete(Kinds.NodePool, { name: own.name });
    await own.eventually('drains have begun', async () =>
      (await own.nodes()).some(({ spec }) => spec?.taints?.some(({ key }) => key === Taints.disrupted.key))
        ? true
        : undefined,
    );
    await cluster.plane.restartApiServer('SIGKILL');
    await own.gone();
    const stuck = (await cluster.nodes()).filter(({ metadata }) =>
      metadata.finalizers?.includes(Finalizers.termination),
    );
    expect(stuck).toEqual([]);
    // No pod is lost: they wait for a pool, and a new one takes them all.
    await own.pool();
    await own.running(24);
    expect((await own.nodes()).map(({ metadata }) => metadata.name)).not.toEqual(nodes);
  });
});
