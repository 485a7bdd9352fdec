import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Kinds } from '../../../src/api/kinds.ts';
import { Annotations, Labels, Taints } from '../../../src/api/labels.ts';
import { isRunning, KwokCluster, type Program } from './kwokCluster.ts';
import { Scenario, statusOf } from './scenario.ts';

const SHIELD = { [Annotations.doNotDisrupt]: 'true' };
const oneOfEach = [
  ['deleting its Node', 'delete-node', Kinds.Node],
  ['deleting its NodeClaim', 'delete-claim', Kinds.NodeClaim],
] as const;

/** From a request to a working node and back, in all supported ways. */
describe('the life of a node', () => {
  let cluster: KwokCluster;
  let program: Program;

  beforeAll(async () => {
    cluster = await KwokCluster.start();
    program = await cluster.run([
      '--batch-idle-duration=300ms',
      '--batch-max-duration=3s',
      '--feature-gates=StaticCapacity=true,CapacityBuffer=true,NodeOverlay=true',
    ]);
  });
  afterAll(() => cluster?.stop());

  const story = (name: string): Scenario => new Scenario(cluster, name);

  it.concurrent('begins when its startup taints have been taken off', async () => {
    const own = story('startup-taints');
    const taint = { key: 'example.com/agent-missing', value: 'true', effect: 'NoSchedule' as const };
    await own.pool({}, { startupTaints: [taint] });
    await own.deployment(1);
    const claim = await own.eventually('a node that waits for its agent', async () =>
      (await own.claims()).find(
        ({ status }) => statusOf(status?.conditions, 'Initialized') === 'Unknown StartupTaintsExist',
      ),
    );
    expect((await own.pods()).filter(isRunning)).toEqual([]);
    const name = claim.status?.nodeName ?? '';
    const node = await own.kube.get(Kinds.Node, { name });
    const taints = node.spec?.taints?.filter(({ key }) => key !== taint.key) ?? [];
    await own.kube.patch(Kinds.Node, { name }, { type: 'merge', body: { spec: { taints } } });
    await own.running(1);
    await own.eventually('initialized', async () =>
      (await own.nodes()).some(({ metadata }) => metadata.labels?.[Labels.initialized] === 'true') ? true : undefined,
    );
    expect(await own.claims()).toHaveLength(1);
    await own.end();
  });

  it.concurrent.each(oneOfEach)('ends by %s; its pods run elsewhere', async (_title, name, kind) => {
    const own = story(name);
    await own.pool();
    await own.deployment(3);
    await own.running(3);
    const [[claim], [node]] = [await own.claims(), await own.nodes()];
    const target = kind === Kinds.Node ? node : claim;
    await own.kube.delete(kind, { name: target?.metadata.name ?? '' });
    await own.eventually('another node stands in', async () => {
      const others = await own.claims();
      return others.length === 1 && others[0]?.metadata.uid !== claim?.metadata.uid ? true : undefined;
    });
    await own.running(3);
    expect(await own.nodes()).toHaveLength(1);
    await own.end();
  });

  it.concurrent('ends with its NodePool; its pods wait', async () => {
    const own = story('delete-pool');
    await own.pool();
    await own.deployment(2);
    await own.running(2);
    await own.kube.delete(Kinds.NodePool, { name: own.name });
    await own.gone();
    const pods = await own.eventually('pods wait', async () => {
      const found = await own.pods();
      return found.every(({ spec }) => !spec?.nodeName) ? found : undefined;
    });
    expect(pods).toHaveLength(2);
  });

  it.concurrent('goes on for a pod that must not be disrupted', async () => {
    const own = story('do-not-disrupt');
    await own.pool();
    await own.deployment(1, {}, { annotations: SHIELD });
    const [pod] = await own.running(1);
    const [node] = await own.nodes();
    const nodeName = node?.metadata.name ?? '';
    await own.kube.delete(Kinds.Node, { name: nodeName });
    await own.event('FailedDraining', nodeName);
    const draining = await own.kube.get(Kinds.Node, { name: nodeName });
    expect(draining.spec?.taints).toContainEqual(expect.objectContaining(Taints.disrupted));
    expect(draining.metadata.labels).toMatchObject({ [Labels.excludeFromLoadBalancers]: 'karpenter' });
    expect((await own.pods()).filter(isRunning).map(({ metadata }) => metadata.uid)).toEqual([pod?.metadata.uid]);
    const ref = { name: pod?.metadata.name ?? '', namespace: 'default' };
    const body = { metadata: { annotations: { [Annotations.doNotDisrupt]: null } } };
    await own.kube.patch(Kinds.Pod, ref, { type: 'merge', body });
    await own.eventually('the node is gone', async () =>
      (await own.nodes()).some(({ metadata }) => metadata.name === nodeName) ? undefined : true,
    );
  });

  it.concurrent('goes on while a budget says so', async () => {
    const own = story('budget');
    await own.pool();
    await own.deployment(1);
    const [pod] = await own.running(1);
    await own.kube.create(Kinds.PodDisruptionBudget, {
      metadata: { name: own.name, namespace: 'default' },
      spec: { maxUnavailable: 0, selector: { matchLabels: own.labels } },
    });
    await own.eventually('the budget counts', async () => {
      const { status } = await own.kube.get(Kinds.PodDisruptionBudget, { name: own.name, namespace: 'default' });
      return status?.expectedPods === 1 ? true : undefined;
    });
    const [claim] = await own.claims();
    await own.kube.delete(Kinds.NodeClaim, { name: claim?.metadata.name ?? '' });
    await own.eventually('evictions are refused', async () =>
      (await program.metric('karpenter_pods_eviction_requests_total', { code: '429' })) > 0 ? true : undefined,
    );
    expect((await own.pods()).map(({ metadata }) => metadata.uid)).toContain(pod?.metadata.uid);
    expect(await own.claims()).toHaveLength(1);
    await own.kube.delete(Kinds.PodDisruptionBudget, { name: own.name, namespace: 'default' });
    await own.eventually('the old node is gone and another one has the pod', async () => {
      const [next, ...more] = await own.claims();
      return next && more.length === 0 && next.metadata.uid !== claim?.metadata.uid ? true : undefined;
    });
    await own.running(1);
  });

  it.concurrent('has a last moment when its pool sets one, whatever its pods want', async () => {
    const own = story('grace-period');
    await own.pool({}, { terminationGracePeriod: '8s' });
    await own.deployment(1, {}, { annotations: SHIELD });
    const [pod] = await own.running(1);
    const [claim] = await own.claims();
    const ref = { name: claim?.metadata.name ?? '' };
    await own.kube.delete(Kinds.NodeClaim, ref);
    const deadline = await own.eventually('the deadline is written down', async () => {
      const { metadata } = await own.kube.get(Kinds.NodeClaim, ref);
      return metadata.annotations?.[Annotations.terminationTimestamp];
    });
    const { metadata } = await own.kube.get(Kinds.NodeClaim, ref);
    expect(Date.parse(deadline) - Date.parse(metadata.deletionTimestamp ?? '')).toBe(8_000);
    await own.event('Disrupted', pod?.metadata.name ?? '');
    await own.eventually('the node is gone', async () =>
      (await own.claims()).some(({ metadata: { uid } }) => uid === claim?.metadata.uid) ? undefined : true,
    );
    expect(Date.now()).toBeGreaterThan(Date.parse(deadline) - 3_000);
    await own.running(1);
  });

  it.concurrent('ends only when its disks are detached', async () => {
    const own = story('detach');
    await own.pool();
    await own.deployment(1);
    await own.running(1);
    const [[claim], [node]] = [await own.claims(), await own.nodes()];
    const nodeName = node?.metadata.name ?? '';
    await own.kube.create(Kinds.VolumeAttachment, {
      metadata: { name: 'detach-disk' },
      spec: { attacher: 'disks.example.com', nodeName, source: { persistentVolumeName: 'some-disk' } },
    });
    await own.kube.delete(Kinds.NodeClaim, { name: claim?.metadata.name ?? '' });
    await own.event('AwaitingVolumeDetachment', nodeName);
    const waiting = await own.kube.get(Kinds.NodeClaim, { name: claim?.metadata.name ?? '' });
    expect(statusOf(waiting.status?.conditions, 'VolumesDetached')).toBe('Unknown AwaitingVolumeDetachment');
    await own.kube.delete(Kinds.VolumeAttachment, { name: 'detach-disk' });
    await own.eventually('the node is gone', async () =>
      (await own.claims()).some(({ metadata: { uid } }) => uid === claim?.metadata.uid) ? undefined : true,
    );
    await own.running(1);
  });

  it.concurrent('ends at its age', async () => {
    const own = story('expiration');
    await own.pool({}, { expireAfter: '10s' });
    await own.deployment(1);
    await own.running(1);
    const [claim] = await own.claims();
    await own.eventually('a younger one has taken over', async () => {
      const claims = await own.claims();
      return claims.length > 0 && claims.every(({ metadata: { uid } }) => uid !== claim?.metadata.uid)
        ? true
        : undefined;
    });
    expect(
      await program.metric('karpenter_nodeclaims_disrupted_total', { reason: 'expired', nodepool: own.name }),
    ).toBeGreaterThanOrEqual(1);
    await own.end();
  });

  it.concurrent('begins and ends with the size of a static pool', async () => {
    const own = story('static');
    const type = { key: Labels.instanceType, operator: 'In' as const, values: ['c-2x-amd64-linux'] };
    await own.pool({ replicas: 3 }, { requirements: [type] });
    const count = (wanted: number) =>
      own.eventually(`${wanted} nodes`, async () => {
        const nodes = (await own.nodes()).filter(({ metadata }) => metadata.labels?.[Labels.initialized] === 'true');
        return nodes.length === wanted && (await own.claims()).length === wanted ? nodes : undefined;
      });
    const scale = (replicas: number) =>
      own.kube.patch(Kinds.NodePool, { name: own.name }, { type: 'merge', body: { spec: { replicas } } });
    const nodes = await count(3);
    expect(nodes[0]?.metadata.labels).toMatchObject({ 'karpenter.kwok.sh/instance-cpu': '2' });
    await scale(4);
    await count(4);
    await scale(1);
    await count(1);
    await scale(0);
    await own.gone();
  });

  it.concurrent('begins for a buffer before any pod needs it', async () => {
    const own = story('buffer');
    await own.pool();
    const spec = own.placed({
      containers: [{ name: 'main', image: 'app', resources: { requests: { cpu: '1' } } }],
    });
    await own.kube.create(Kinds.PodTemplate, {
      metadata: { name: own.name, namespace: 'default' },
      template: { metadata: { labels: own.labels }, spec },
    } as never);
    const ref = { name: own.name, namespace: 'default' };
    await own.kube.create(Kinds.CapacityBuffer, {
      metadata: ref,
      spec: {
        provisioningStrategy: 'buffer.x-k8s.io/active-capacity',
        podTemplateRef: { name: own.name },
        replicas: 3,
      },
    });
    await own.eventually('room is kept', async () => {
      const { status } = await own.kube.get(Kinds.CapacityBuffer, ref);
      return statusOf(status?.conditions, 'Provisioning') === 'True FitsExistingCapacity' ? true : undefined;
    });
    await own.eventually('room for three pods is there', async () => {
      const nodes = await own.nodes();
      const cores = nodes.reduce((sum, { status }) => sum + Number(status?.capacity?.['cpu']), 0);
      return cores >= 4 ? true : undefined;
    });
    expect(await own.pods()).toEqual([]);
    await own.kube.delete(Kinds.CapacityBuffer, ref);
    await own.kube.delete(Kinds.NodePool, { name: own.name });
    await own.gone();
  });

  it.concurrent('is priced and equipped as overlays say', async () => {
    const own = story('overlay');
    const requirements = [
      { key: Labels.instanceType, operator: 'In' as const, values: ['m-8x-amd64-linux'] },
      { key: Labels.nodePool, operator: 'In' as const, values: [own.name] },
    ];
    await own.kube.create(Kinds.NodeOverlay, {
      metadata: { name: own.name },
      spec: { requirements, price: '0.0001', capacity: { 'example.com/widget': '2' } },
    });
    await own.pool();
    await own.deployment(1, {
      containers: [
        {
          name: 'main',
          image: 'app',
          resources: { requests: { cpu: '1', 'example.com/widget': '1' }, limits: { 'example.com/widget': '1' } },
        },
      ],
    });
    const claim = await own.eventually('a node whose widgets are missing', async () =>
      (await own.claims()).find(
        ({ status }) => statusOf(status?.conditions, 'Initialized') === 'Unknown ResourceNotRegistered',
      ),
    );
    expect(claim.metadata.annotations).toMatchObject({
      [Annotations.priceOverlayApplied]: 'true',
      [Annotations.capacityOverlayApplied]: 'true',
    });
    expect(program.logged('created nodeclaim').find(({ NodePool }) => NodePool === own.name)).toMatchObject({
      pricePerHour: 0.0001,
    });
    // What a device plugin does.
    const widgets = { 'example.com/widget': '2' };
    const body = { status: { capacity: widgets, allocatable: widgets } };
    const ref = { name: claim.status?.nodeName ?? '' };
    await own.kube.patch(Kinds.Node, ref, { type: 'merge', body }, { subresource: 'status' });
    const [node] = await own.nodesOf(await own.running(1));
    expect(node?.metadata.labels?.[Labels.instanceType]).toBe('m-8x-amd64-linux');
    await own.end();
  });

  it('needs no right that the chart does not give', () => {
    expect(program.output).not.toMatch(/forbidden/i);
  });
});
