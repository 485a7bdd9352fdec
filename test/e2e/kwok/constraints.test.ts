import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Kinds, type Pod } from '../../../src/api/kinds.ts';
import { Labels } from '../../../src/api/labels.ts';
import { INSTANCE_TYPES } from './instanceTypes.ts';
import { KwokCluster, type Program } from './kwokCluster.ts';
import { Scenario } from './scenario.ts';

const zoneIn = (...values: string[]) => ({ key: Labels.zone, operator: 'In' as const, values });
const requiredTerm = (...matchExpressions: { key: string; operator: string; values?: string[] }[]) => ({
  nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] } },
});
const container = (requests: Record<string, string>, more: object = {}) => [
  { name: 'main', image: 'app', resources: { requests, limits: requests }, ...more },
];
const spread = (labels: Record<string, string>, topologyKey: string) => [
  { maxSkew: 1, topologyKey, whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: labels } },
];

/** Every kind of constraint once, with the real scheduler: a pod runs only where the scheduler agrees. */
describe('pods with wishes', () => {
  let cluster: KwokCluster;
  let program: Program;

  beforeAll(async () => {
    cluster = await KwokCluster.start();
    const file = join(cluster.plane.workDir, 'instance-types.json');
    await writeFile(file, JSON.stringify(INSTANCE_TYPES));
    program = await cluster.run([
      `--instance-types-file-path=${file}`,
      '--batch-idle-duration=300ms',
      '--batch-max-duration=3s',
    ]);
  });
  afterAll(() => cluster?.stop());

  const story = (name: string): Scenario => new Scenario(cluster, name);

  it.concurrent('are put into the zone that their affinity names', async () => {
    const own = story('node-affinity');
    await own.pool();
    await own.deployment(1, { affinity: requiredTerm(zoneIn('test-zone-c')) });
    expect(await own.zones(await own.running(1))).toEqual({ 'test-zone-c': 1 });
  });

  it.concurrent('try the terms of an affinity one after the other', async () => {
    const own = story('or-terms');
    await own.pool({}, { requirements: [zoneIn('test-zone-b')] });
    const terms = [zoneIn('test-zone-a'), zoneIn('test-zone-b')].map((expression) => ({
      matchExpressions: [expression],
    }));
    const affinity = {
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } },
    };
    await own.deployment(1, { affinity });
    expect(await own.zones(await own.running(1))).toEqual({ 'test-zone-b': 1 });
  });

  it.concurrent('get a preference where it can be had, and run where it cannot', async () => {
    const own = story('preference');
    await own.pool();
    const prefer = (zone: string) => ({
      nodeAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 1, preference: { matchExpressions: [zoneIn(zone)] } },
        ],
      },
    });
    await own.deployment(1, { affinity: prefer('test-zone-b') });
    await own.deployment(1, { affinity: prefer('no-such-zone') }, {}, 'preference-unmet');
    expect(await own.running(2)).toHaveLength(2);
  });

  it.concurrent('select nodes by labels that the provider describes them with', async () => {
    const own = story('selectors');
    await own.pool();
    const nodeSelector = {
      [Labels.capacityType]: 'on-demand',
      'karpenter.kwok.sh/instance-family': 'other',
      [Labels.arch]: 'amd64',
    };
    await own.deployment(1, { nodeSelector });
    const [node] = await own.nodesOf(await own.running(1));
    expect(node?.metadata.labels).toMatchObject({ ...nodeSelector, [Labels.instanceType]: 'other-2' });
  });

  it.concurrent('choose among the values that a pool leaves open, and their node carries the value', async () => {
    const own = story('custom-labels');
    await own.pool({}, { requirements: [{ key: 'example.com/team', operator: 'In', values: ['blue', 'green'] }] });
    await own.deployment(1, { nodeSelector: { 'example.com/team': 'green' } });
    const [node] = await own.nodesOf(await own.running(1));
    expect(node?.metadata.labels).toMatchObject({ 'example.com/team': 'green' });
  });

  it.concurrent('are told when no pool tolerates them', async () => {
    const own = story('taints');
    await own.pool({}, { taints: [{ key: 'example.com/special', value: 'yes', effect: 'NoSchedule' }] });
    await own.ready();
    await own.deployment(1);
    const [pod] = await own.eventually('a pod', async () => {
      const pods = await own.pods();
      return pods.length > 0 ? pods : undefined;
    });
    const told = await own.event('FailedScheduling', pod?.metadata.name ?? '');
    expect(told.message).toContain('example.com/special');
    expect(await own.claims()).toEqual([]);
    const special = { key: 'example.com/special', operator: 'Exists' };
    await own.deployment(1, { tolerations: [special] }, {}, 'taints-tolerated');
    await own.running(1);
  });

  it.concurrent('are spread evenly over zones', async () => {
    const own = story('zonal-spread');
    // Without minDomains the scheduler fills the zones that have joined, and does not know of one that will be added.
    const evenly = spread(own.labels, Labels.zone).map((constraint) => ({ ...constraint, minDomains: 3 }));
    await own.deployment(6, { topologySpreadConstraints: evenly });
    await own.waiting(6);
    await own.pool();
    expect(await own.zones(await own.running(6))).toEqual({ 'test-zone-a': 2, 'test-zone-b': 2, 'test-zone-c': 2 });
  });

  it.concurrent('get nodes in every zone that they are to be spread over', async () => {
    const own = story('planned-spread');
    await own.deployment(6, { topologySpreadConstraints: spread(own.labels, Labels.zone) });
    await own.waiting(6);
    await own.pool();
    await own.running(6);
    // The scheduler counts only existing zones: all pods may run before the last node has joined.
    const zones = await cluster.eventually('all claims are launched', async () => {
      const known = (await own.claims()).map(({ metadata }) => metadata.labels?.[Labels.zone]);
      return known.every((zone) => zone !== undefined) ? known : undefined;
    });
    expect(new Set(zones)).toEqual(new Set(['test-zone-a', 'test-zone-b', 'test-zone-c']));
  });

  it.concurrent('are spread over nodes', async () => {
    const own = story('hostname-spread');
    await own.pool();
    await own.deployment(4, { topologySpreadConstraints: spread(own.labels, Labels.hostname) });
    await own.running(4);
    expect((await own.claims()).length).toBeGreaterThanOrEqual(2);
  });

  it.concurrent('follow the pods that they want to be near', async () => {
    const own = story('affinity');
    await own.pool();
    const podAffinity = {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: Labels.zone, labelSelector: { matchLabels: { role: 'leader' } } },
      ],
    };
    await own.deployment(3, { affinity: { podAffinity } }, { labels: { role: 'follower' } }, 'affinity-followers');
    await own.deployment(
      1,
      { affinity: requiredTerm(zoneIn('test-zone-b')) },
      { labels: { role: 'leader' } },
      'affinity-leader',
    );
    expect(await own.zones(await own.running(4))).toEqual({ 'test-zone-b': 4 });
  });

  it.concurrent('keep away from each other', async () => {
    const own = story('anti-affinity');
    await own.pool();
    const podAntiAffinity = {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: Labels.hostname, labelSelector: { matchLabels: own.labels } },
      ],
    };
    await own.deployment(3, { affinity: { podAntiAffinity } });
    expect(await own.nodesOf(await own.running(3))).toHaveLength(3);
    expect(await own.claims()).toHaveLength(3);
  });

  it.concurrent('do not share a host port', async () => {
    const own = story('host-ports');
    await own.pool();
    await own.deployment(2, {
      containers: container({ cpu: '100m' }, { ports: [{ containerPort: 80, hostPort: 8080 }] }),
    });
    expect(await own.nodesOf(await own.running(2))).toHaveLength(2);
  });

  it.concurrent('go where their disk is', async () => {
    const own = story('volumes');
    await own.pool();
    const storage = { storage: '1Gi' };
    await own.kube.create(Kinds.PersistentVolume, {
      metadata: { name: 'zonal' },
      spec: {
        capacity: storage,
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'by-hand',
        hostPath: { path: '/data' },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [zoneIn('test-zone-b')] }] } },
      },
    } as never);
    await own.kube.create(Kinds.PersistentVolumeClaim, {
      metadata: { name: 'disk', namespace: 'default' },
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'by-hand',
        volumeName: 'zonal',
        resources: { requests: storage },
      },
    } as never);
    await own.deployment(1, { volumes: [{ name: 'disk', persistentVolumeClaim: { claimName: 'disk' } }] });
    expect(await own.zones(await own.running(1))).toEqual({ 'test-zone-b': 1 });
  });

  it.concurrent('get what only some nodes have', async () => {
    const own = story('extended-resources');
    await own.deployment(3, { containers: container({ 'example.com/gpu': '1' }) });
    await own.waiting(3);
    await own.pool();
    const nodes = await own.nodesOf(await own.running(3));
    expect(nodes.map(({ metadata }) => metadata.labels?.[Labels.instanceType])).toEqual([
      'accelerated-4',
      'accelerated-4',
    ]);
  });

  it.concurrent('leave room for the daemons of their node', async () => {
    const own = story('daemons');
    const spec = own.placed({ containers: container({ cpu: '600m' }) });
    await own.kube.create(Kinds.DaemonSet, {
      metadata: { name: 'daemons-agent', namespace: 'default' },
      spec: {
        selector: { matchLabels: { app: 'daemons-agent' } },
        template: { metadata: { labels: { app: 'daemons-agent' } }, spec },
      },
    } as never);
    await own.pool();
    await own.deployment(1, { containers: container({ cpu: '700m' }) });
    const [pod] = await own.running(1);
    const agents = await own.eventually('the daemon runs there too', async () => {
      const found = await cluster.pods({ app: 'daemons-agent' });
      return found.some((each: Pod) => each.status?.phase === 'Running') ? found : undefined;
    });
    expect(agents.map((each) => each.spec?.nodeName)).toEqual([pod?.spec?.nodeName]);
  });

  it.concurrent('leave the cloud the choice that minValues asks for', async () => {
    const own = story('min-values');
    await own.pool({}, { requirements: [{ key: Labels.instanceType, operator: 'Exists', minValues: 4 }] });
    await own.deployment(1);
    await own.running(1);
    const [claim] = await own.claims();
    const choice = claim?.spec.requirements.find(({ key }) => key === Labels.instanceType);
    expect(choice?.minValues).toBe(4);
    expect(choice?.values?.length).toBeGreaterThanOrEqual(4);
  });

  it.concurrent('are taken by the pool of the greatest weight, though it costs more', async () => {
    const own = story('weights');
    await own.pool({ weight: 1 });
    const onDemand = { key: Labels.capacityType, operator: 'In' as const, values: ['on-demand'] };
    await own.pool({ weight: 50 }, { requirements: [onDemand] }, 'weights-heavy');
    await own.deployment(1);
    const [node] = await own.nodesOf(await own.running(1));
    expect(node?.metadata.labels).toMatchObject({ [Labels.nodePool]: 'weights-heavy' });
  });

  it.concurrent('wait where a limit is reached, until it is raised', async () => {
    const own = story('limits');
    await own.deployment(6, { containers: container({ cpu: '1' }) });
    await own.waiting(6);
    await own.pool({ limits: { cpu: '4' } });
    await own.running(3);
    expect(await own.claims()).toHaveLength(1);
    const body = { spec: { limits: { cpu: '8' } } };
    await own.kube.patch(Kinds.NodePool, { name: own.name }, { type: 'merge', body });
    await own.running(6);
    const used = (await own.nodes()).reduce((sum, { status }) => sum + Number(status?.capacity?.['cpu']), 0);
    expect(used).toBeLessThanOrEqual(8);
  });

  it.concurrent('use up what is reserved before anything that costs extra', async () => {
    const own = story('reserved');
    const capacityTypes = { key: Labels.capacityType, operator: 'In' as const, values: ['spot', 'reserved'] };
    const small = { key: 'karpenter.kwok.sh/instance-cpu', operator: 'In' as const, values: ['2'] };
    await own.deployment(2, { containers: container({ cpu: '1500m' }) });
    await own.waiting(2);
    await own.pool({}, { requirements: [capacityTypes, small] });
    const nodes = await own.nodesOf(await own.running(2));
    expect(new Set(nodes.map(({ metadata }) => metadata.labels?.[Labels.capacityType]))).toEqual(
      new Set(['reserved', 'spot']),
    );
  });

  it.concurrent('stay off our nodes when they say so, without a word', async () => {
    const own = story('opted-out');
    await own.pool();
    await own.deployment(1, { affinity: requiredTerm({ key: Labels.nodePool, operator: 'DoesNotExist' }) });
    await own.deployment(1, {}, {}, 'opted-out-not');
    await own.running(1);
    expect(await own.claims()).toHaveLength(1);
  });

  it('need no right that the chart does not give', () => {
    expect(program.output).not.toMatch(/forbidden/i);
    expect(program.logged('reconcile failed')).toEqual([]);
  });
});
