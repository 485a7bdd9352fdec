import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Kinds, type Pod } from '../../api/kinds.ts';
import { Quantity } from '../../units/quantity.ts';
import { instance, Simulation } from '../../../test/fixtures/local/simulation.ts';
import { isReady } from '../workloads/podState.ts';

describe('the scheduler', () => {
  let simulation: Simulation;
  beforeEach(() => {
    simulation = new Simulation();
  });
  afterEach(() => simulation.stop());

  async function pod(name: string, spec: object = {}, cpu = '1', metadata: object = {}): Promise<Pod> {
    const containers = [{ name: 'main', image: 'nginx', resources: { requests: { cpu } } }];
    return simulation.create(Kinds.Pod, {
      metadata: { name, namespace: 'default', ...metadata },
      spec: { containers, ...spec },
    });
  }
  const nodeOf = async (name: string): Promise<string | undefined> =>
    (await simulation.kube.get(Kinds.Pod, { name, namespace: 'default' })).spec?.nodeName;

  it('property: never exceeds the allocatable resources of a node, and binds every pod that fits', async () => {
    const sizes = [1, 2, 4].map((cpu) => instance(`n${cpu}`, { cpu: String(cpu) }));
    await simulation.boot(...sizes);
    let round = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 25 }), { minLength: 1, maxLength: 14 }), async (tenths) => {
        round++;
        await Promise.all(tenths.map((tenth, index) => pod(`p${round}-${index}`, {}, `${tenth * 100}m`)));
        await simulation.advance(3_000);
        const all = await simulation.pods();
        const free = new Map([1, 2, 4].map((cpu) => [`n${cpu}`, cpu * 1000]));
        const waiting: number[] = [];
        for (const { spec } of all) {
          const need = Quantity.parse(spec?.containers[0]?.resources?.requests?.['cpu'] ?? '0').milliValue();
          if (spec?.nodeName) free.set(spec.nodeName, (free.get(spec.nodeName) ?? 0) - need);
          else waiting.push(need);
        }
        expect(Math.min(...free.values())).toBeGreaterThanOrEqual(0);
        expect(Math.min(...waiting, Number.POSITIVE_INFINITY)).toBeGreaterThan(Math.max(...free.values()));
        await simulation.kube.deleteCollection(Kinds.Pod, { namespace: 'default', gracePeriodSeconds: 0 });
        await simulation.until(async () => (await simulation.pods()).length === 0);
      }),
      { numRuns: 12 },
    );
  });

  it('follows preferred node affinity and avoids PreferNoSchedule taints', async () => {
    const taints = [{ key: 'slow', effect: 'PreferNoSchedule' as const }];
    await simulation.boot(
      instance('a', { taints, cpu: '64' }),
      instance('b', { labels: { disk: 'fast' } }),
      instance('c', { zone: 'eastus-2' }),
    );
    const preference = { matchExpressions: [{ key: 'disk', operator: 'In', values: ['fast'] }] };
    await pod('picky', {
      affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 50, preference }] } },
    });
    await pod('plain', {}, '100m');
    await simulation.advance(1_000);
    expect(await nodeOf('picky')).toBe('b');
    expect(await nodeOf('plain')).not.toBe('a');
  });

  it('spreads evenly with a ScheduleAnyway constraint', async () => {
    await simulation.boot(
      ...[1, 2, 3].map((zone) => instance(`n${zone}`, { zone: `eastus-${zone}`, cpu: String(4 * zone) })),
    );
    const labels = { app: 'web' };
    const topologySpreadConstraints = [
      {
        maxSkew: 1,
        topologyKey: 'topology.kubernetes.io/zone',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: labels },
      },
    ];
    for (let index = 0; index < 6; index++) await pod(`p${index}`, { topologySpreadConstraints }, '100m', { labels });
    await simulation.advance(1_000);
    const counts = new Map<string, number>();
    for (const { spec } of await simulation.pods()) {
      counts.set(spec?.nodeName ?? '', (counts.get(spec?.nodeName ?? '') ?? 0) + 1);
    }
    expect([...counts.values()]).toEqual([2, 2, 2]);
  });

  it('does not schedule a pod until its scheduling gates are removed', async () => {
    await simulation.boot(instance('a'));
    await pod('gated', { schedulingGates: [{ name: 'later' }] });
    await simulation.advance(5_000);
    expect(await nodeOf('gated')).toBeUndefined();
    const body = { spec: { schedulingGates: null } };
    await simulation.kube.patch(Kinds.Pod, { name: 'gated', namespace: 'default' }, { type: 'merge', body });
    await simulation.advance(1_000);
    expect(await nodeOf('gated')).toBe('a');
  });

  it('reports why a pod is unschedulable, and binds it when there is room', async () => {
    await simulation.boot(instance('a'));
    await pod('large', {}, '6');
    await simulation.advance(1_000);
    const { status } = await simulation.kube.get(Kinds.Pod, { name: 'large', namespace: 'default' });
    expect(status?.conditions?.[0]).toMatchObject({
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message:
        '0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.',
    });
    await simulation.boot(instance('b', { cpu: '8' }));
    await simulation.advance(1_000);
    expect(await nodeOf('large')).toBe('b');
  });

  it('preempts the fewest pods of the lowest priority', async () => {
    await simulation.boot(instance('a', { cpu: '2' }), instance('b', { cpu: '2' }));
    for (const [name, value] of [
      ['low', 10],
      ['middle', 20],
      ['high', 30],
    ] as const) {
      await simulation.create(Kinds.PriorityClass, { metadata: { name }, value });
    }
    const on = (hostname: string, priorityClassName: string): object => ({
      nodeSelector: { 'kubernetes.io/hostname': hostname },
      priorityClassName,
      terminationGracePeriodSeconds: 5,
    });
    await pod('a1', on('a', 'middle'));
    await pod('a2', on('a', 'middle'));
    await pod('b1', on('b', 'low'));
    await pod('b2', on('b', 'middle'));
    await simulation.advance(5_000);
    await pod('urgent', { priorityClassName: 'high' });
    await simulation.advance(500);
    const { status } = await simulation.kube.get(Kinds.Pod, { name: 'urgent', namespace: 'default' });
    expect(status?.nominatedNodeName).toBe('b');
    await simulation.advance(10_000);
    expect((await simulation.pods()).map(({ metadata }) => metadata.name)).toEqual(['a1', 'a2', 'b2', 'urgent']);
    expect(await nodeOf('urgent')).toBe('b');
    const humble = { metadata: { name: 'humble' }, value: 30, preemptionPolicy: 'Never' } as const;
    await simulation.create(Kinds.PriorityClass, humble);
    await pod('humble', { priorityClassName: 'humble' });
    await simulation.advance(10_000);
    expect(await nodeOf('humble')).toBeUndefined();
  });

  it('schedules a pod in the zone of its disk, and limits the disks of a node', async () => {
    await simulation.boot(
      instance('a', { zone: 'eastus-1' }),
      instance('b', { zone: 'eastus-2', size: 'Standard_D2s_v5' }),
    );
    for (let index = 0; index < 6; index++) {
      await simulation.create(Kinds.PersistentVolumeClaim, {
        metadata: { name: `c${index}`, namespace: 'default' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      });
      const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: `c${index}` } }];
      await pod(`p${index}`, { volumes, nodeSelector: { 'kubernetes.io/hostname': 'b' } }, '100m');
    }
    await simulation.until(async () => (await simulation.pods()).filter(isReady).length === 4, 60_000);
    await simulation.advance(10_000);
    const waiting = (await simulation.pods()).filter(({ spec }) => !spec?.nodeName);
    expect(waiting.map(({ status }) => status?.conditions?.[0]?.message)).toEqual(
      Array.from({ length: 2 }, () => expect.stringContaining('1 node(s) exceed max volume count') as unknown),
    );
    await pod('elsewhere', {
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'c0' } }],
      nodeSelector: { 'kubernetes.io/hostname': 'a' },
    });
    await pod('lost', { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'none' } }] });
    await simulation.advance(2_000);
    const message = async (name: string): Promise<string | undefined> =>
      (await simulation.kube.get(Kinds.Pod, { name, namespace: 'default' })).status?.conditions?.[0]?.message;
    expect(await message('elsewhere')).toContain("1 node(s) didn't match PersistentVolume's node affinity");
    expect(await message('lost')).toBe('0/2 nodes are available: persistentvolumeclaim "none" not found. not found');
  });

  it('sets the zone and region labels of the node on a bound pod', async () => {
    await simulation.boot(instance('one', { zone: 'eastus-2', labels: { 'topology.kubernetes.io/region': 'eastus' } }));
    await pod('bound', {}, '1', { labels: { app: 'web', 'topology.kubernetes.io/zone': 'elsewhere' } });
    await simulation.advance(1_000);
    expect((await simulation.pods()).map(({ metadata }) => metadata.labels)).toEqual([
      { app: 'web', 'topology.kubernetes.io/region': 'eastus', 'topology.kubernetes.io/zone': 'eastus-2' },
    ]);
  });

  describe('a pod with a nominated node', () => {
    const nominate = (name: string, nominatedNodeName: string | null): Promise<Pod> =>
      simulation.kube.patch(
        Kinds.Pod,
        { name, namespace: 'default' },
        { type: 'merge', body: { status: { nominatedNodeName } } },
        { subresource: 'status' },
      );
    const gated = { schedulingGates: [{ name: 'wait' }] };
    const open = (name: string): Promise<Pod> =>
      simulation.kube.patch(
        Kinds.Pod,
        { name, namespace: 'default' },
        { type: 'json', body: [{ op: 'remove', path: '/spec/schedulingGates' }] },
      );
    const nominatedNode = async (name: string): Promise<string | undefined> =>
      (await simulation.kube.get(Kinds.Pod, { name, namespace: 'default' })).status?.nominatedNodeName;

    it('is bound to that node, even if another has a better score', async () => {
      await simulation.boot(instance('large', { cpu: '64' }), instance('small', { cpu: '2' }));
      await pod('meant', gated);
      await nominate('meant', 'small');
      await open('meant');
      await simulation.advance(1_000);
      expect(await nodeOf('meant')).toBe('small');
    });

    it('is bound to another node if that one does not exist', async () => {
      await simulation.boot(instance('one'));
      await pod('meant', gated);
      await nominate('meant', 'gone');
      await open('meant');
      await simulation.advance(1_000);
      expect(await nodeOf('meant')).toBe('one');
    });

    it('has room reserved against pods of the same or a lower priority, but not of a higher one', async () => {
      const priorityClass = (name: string, value: number): Promise<object> =>
        simulation.create(Kinds.PriorityClass, { metadata: { name }, value, preemptionPolicy: 'Never' } as never);
      await priorityClass('low', 10);
      await priorityClass('high', 1000);
      await simulation.boot(instance('one', { cpu: '4' }));
      // The pod waits for its claim, so it stays unbound.
      const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'later' } }];
      await pod('meant', { ...gated, volumes, priorityClassName: 'low' }, '3');
      await nominate('meant', 'one');
      await open('meant');
      await simulation.advance(1_000);
      await pod('same', { priorityClassName: 'low' }, '2');
      await pod('lower', {}, '2');
      await simulation.advance(1_000);
      expect([await nodeOf('same'), await nodeOf('lower')]).toEqual([undefined, undefined]);
      expect(await nominatedNode('meant')).toBe('one');
      await pod('high', { priorityClassName: 'high' }, '2');
      await simulation.advance(1_000);
      expect(await nodeOf('high')).toBe('one');
    });

    it('loses its reservation when its nomination is removed', async () => {
      await simulation.boot(instance('one', { cpu: '4' }));
      const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'later' } }];
      await pod('meant', { ...gated, volumes }, '3');
      await nominate('meant', 'one');
      await open('meant');
      await simulation.advance(1_000);
      await pod('other', {}, '2');
      await simulation.advance(1_000);
      expect(await nodeOf('other')).toBeUndefined();
      await nominate('meant', null);
      await simulation.advance(1_000);
      expect(await nodeOf('other')).toBe('one');
    });

    it('loses its nomination and reservation when it is unschedulable', async () => {
      await simulation.boot(instance('one', { cpu: '4' }));
      await pod('meant', gated, '8');
      await nominate('meant', 'one');
      await open('meant');
      await simulation.advance(1_000);
      expect(await nominatedNode('meant')).toBeUndefined();
      await pod('other', {}, '4');
      await simulation.advance(1_000);
      expect(await nodeOf('other')).toBe('one');
    });
  });
});
