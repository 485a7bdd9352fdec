/** Agent pools of the local AKS under a virtual clock: nodes are drained before they go, as AKS does it. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Kinds } from '../../src/api/kinds.ts';
import { SeededRandom } from '../../src/clock/seededRandom.ts';
import { VirtualClock } from '../../src/clock/virtualClock.ts';
import { silentLog } from '../../src/kube/log.ts';
import { LocalWorld } from '../../src/local/localWorld.ts';

const MINUTE = 60_000;
const VERSION = 'api-version=2025-05-01';

describe('an agent pool', { timeout: 120_000 }, () => {
  let clock: VirtualClock;
  let world: LocalWorld;
  let end: AbortController;
  let running: Promise<void>;

  beforeEach(async () => {
    clock = new VirtualClock(Date.UTC(2026, 0, 5, 9), { quietTurns: 2 });
    world = new LocalWorld({ clock, random: new SeededRandom(1), log: silentLog, leasePeriod: 30_000 });
    world.arm.addAgentPool('pool', {
      mode: 'System',
      count: 2,
      vmSize: 'Standard_D4s_v5',
      orchestratorVersion: '1.35.3',
    });
    end = new AbortController();
    running = world.run(end.signal);
    await clock.advance(MINUTE);
    if ((await nodes()).length !== 2) throw new Error('the pool has no two nodes');
  });
  afterEach(async () => {
    end.abort();
    let ended = false;
    await Promise.all([running.finally(() => (ended = true)), clock.runUntil(() => ended)]);
    await world.close();
  });

  const nodes = async () => (await world.kube.list(Kinds.Node)).items;
  const names = async () => (await nodes()).map(({ metadata }) => metadata.name).toSorted();
  const pods = async () => (await world.kube.list(Kinds.Pod, { namespace: 'default' })).items;
  const send = async (method: string, path: string, body: object = {}): Promise<number> => {
    const { token } = await world.arm.credential.getToken();
    const { resourceGroup, name } = world.arm.cluster;
    const target = `/subscriptions/${world.arm.subscriptionId}/resourceGroups/${resourceGroup}/providers/Microsoft.ContainerService/managedClusters/${name}${path}?${VERSION}`;
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    return (await world.arm.handle({ method, target, headers, text: JSON.stringify(body) })).status;
  };
  const state = async (): Promise<unknown> => {
    const { token } = await world.arm.credential.getToken();
    const { resourceGroup, name } = world.arm.cluster;
    const target = `/subscriptions/${world.arm.subscriptionId}/resourceGroups/${resourceGroup}/providers/Microsoft.ContainerService/managedClusters/${name}/agentPools/pool?${VERSION}`;
    const answer = await world.arm.handle({
      method: 'GET',
      target,
      headers: { authorization: `Bearer ${token}` },
      text: '',
    });
    return (JSON.parse(answer.text) as { readonly properties: { readonly provisioningState: string } }).properties
      .provisioningState;
  };
  const deploy = async (maxUnavailable: number): Promise<void> => {
    const labels = { app: 'web' };
    const containers = [{ name: 'main', image: 'web', resources: { requests: { cpu: '1' } } }];
    await world.kube.create(Kinds.Deployment, {
      metadata: { name: 'web', namespace: 'default' },
      spec: {
        replicas: 3,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers } },
      },
    });
    await world.kube.create(Kinds.PodDisruptionBudget, {
      metadata: { name: 'web', namespace: 'default' },
      spec: { maxUnavailable, selector: { matchLabels: labels } },
    });
    await clock.advance(MINUTE);
    expect((await pods()).filter(({ status }) => status?.phase === 'Running')).toHaveLength(3);
  };

  it('replaces its nodes for another version of Kubernetes, one by one, within the budgets of pods', async () => {
    await deploy(1);
    const before = await names();
    let fewest = 3;
    const isDisturbed = async (): Promise<boolean> => {
      const ready = (await pods()).filter(({ status }) =>
        status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True'),
      );
      fewest = Math.min(fewest, ready.length);
      return (await state()) !== 'Succeeded';
    };
    expect(await send('PUT', '/agentPools/pool', { properties: { orchestratorVersion: '1.36.3' } })).toBe(200);
    for (let step = 0; step < 300 && (await isDisturbed()); step += 1) await clock.advance(2_000);
    expect(await state()).toBe('Succeeded');
    const after = await nodes();
    expect(after).toHaveLength(2);
    expect(after.map(({ status }) => status?.nodeInfo?.kubeletVersion)).toEqual(['v1.36.3', 'v1.36.3']);
    expect(after.filter(({ metadata }) => before.includes(metadata.name))).toEqual([]);
    expect(fewest).toBeGreaterThanOrEqual(2);
    await clock.advance(MINUTE);
    expect((await pods()).filter(({ status }) => status?.phase === 'Running')).toHaveLength(3);
  });

  it('keeps the node that a budget holds, and fails, and goes on when it is asked again', async () => {
    await deploy(0);
    const before = await names();
    await send('PUT', '/agentPools/pool', { properties: { orchestratorVersion: '1.36.3' } });
    await clock.advance(40 * MINUTE);
    expect(await state()).toBe('Failed');
    expect((await names()).filter((name) => before.includes(name))).toEqual(before);
    const body = { spec: { maxUnavailable: 1 } };
    await world.kube.patch(Kinds.PodDisruptionBudget, { name: 'web', namespace: 'default' }, { type: 'merge', body });
    await send('PUT', '/agentPools/pool', { properties: { orchestratorVersion: '1.36.3' } });
    await clock.advance(20 * MINUTE);
    expect(await state()).toBe('Succeeded');
    expect((await nodes()).map(({ status }) => status?.nodeInfo?.kubeletVersion)).toEqual(['v1.36.3', 'v1.36.3']);
  });

  it('drains the nodes that a smaller count takes, and makes as many as a larger one wants', async () => {
    await deploy(1);
    await send('PUT', '/agentPools/pool', { properties: { count: 1 } });
    await clock.advance(5 * MINUTE);
    expect(await nodes()).toHaveLength(1);
    expect((await pods()).filter(({ status }) => status?.phase === 'Running')).toHaveLength(3);
    await send('PUT', '/agentPools/pool', { properties: { count: 3 } });
    await clock.advance(2 * MINUTE);
    expect(await nodes()).toHaveLength(3);
    expect(await state()).toBe('Succeeded');
  });

  it('brings its labels and taints to the nodes that it has, and takes away those that it had', async () => {
    const before = await names();
    const marks = async () =>
      (await nodes()).map(({ metadata, spec }) => [metadata.labels?.['team'], spec?.taints?.map(({ key }) => key)]);
    const [first = ''] = before;
    const body = { spec: { taints: [{ key: 'mine', effect: 'NoSchedule' }] } };
    await world.kube.patch(Kinds.Node, { name: first }, { type: 'merge', body });
    const nodeTaints = ['autoscaling.azure.com/cas-block=true:NoSchedule'];
    await send('PUT', '/agentPools/pool', { properties: { nodeLabels: { team: 'a' }, nodeTaints } });
    await clock.advance(MINUTE);
    expect(await marks()).toEqual([
      ['a', ['mine', 'autoscaling.azure.com/cas-block']],
      ['a', ['autoscaling.azure.com/cas-block']],
    ]);
    await send('PUT', '/agentPools/pool', { properties: { nodeLabels: {}, nodeTaints: [] } });
    await clock.advance(MINUTE);
    expect(await marks()).toEqual([
      [undefined, ['mine']],
      [undefined, undefined],
    ]);
    expect(await names()).toEqual(before);
  });

  it('keeps its node image until that is upgraded', async () => {
    const images = async () =>
      (await nodes()).map(({ metadata }) => metadata.labels?.['kubernetes.azure.com/node-image-version']);
    const release = `/subscriptions/${world.arm.subscriptionId}/providers/Microsoft.ContainerService/locations/eastus/nodeImageVersions/202611.02.0?${VERSION}`;
    const { token } = await world.arm.credential.getToken();
    const headers = { authorization: `Bearer ${token}` };
    expect((await world.arm.handle({ method: 'PUT', target: release, headers, text: '{}' })).status).toBe(200);
    await send('PUT', '/agentPools/pool', { properties: { tags: { team: 'a' } } });
    await clock.advance(5 * MINUTE);
    expect(new Set(await images())).toEqual(new Set(['AKSUbuntu-2404gen2containerd-202610.15.0']));
    expect(await send('POST', '/agentPools/pool/upgradeNodeImageVersion')).toBe(202);
    await clock.advance(5 * MINUTE);
    expect(await images()).toEqual(Array(2).fill('AKSUbuntu-2404gen2containerd-202611.02.0'));
    expect(await state()).toBe('Succeeded');
  });

  it('of spot instances keeps pods away that do not ask for them', async () => {
    const properties = { mode: 'User', scaleSetPriority: 'Spot', count: 1, nodeTaints: ['mine=yes:NoExecute'] };
    expect(await send('PUT', '/agentPools/cheap', { properties })).toBe(201);
    await clock.advance(2 * MINUTE);
    const [node] = (await nodes()).filter(({ metadata }) => metadata.labels?.['agentpool'] === 'cheap');
    expect(node?.metadata.labels).toMatchObject({ 'kubernetes.azure.com/scalesetpriority': 'spot' });
    expect(node?.spec?.taints).toEqual([
      { key: 'kubernetes.azure.com/scalesetpriority', value: 'spot', effect: 'NoSchedule' },
      { key: 'mine', value: 'yes', effect: 'NoExecute' },
    ]);
  });
});
