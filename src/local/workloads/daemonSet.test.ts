import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Kinds } from '../../api/kinds.ts';
import { instance, Simulation } from '../../../test/fixtures/local/simulation.ts';
import { isReady } from './podState.ts';

describe('a DaemonSet', () => {
  let simulation: Simulation;
  const ref = { name: 'agent', namespace: 'kube-system' };
  beforeEach(async () => {
    simulation = new Simulation();
    const gpu = [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' as const }];
    await simulation.boot(instance('one'), instance('two'), instance('three'), instance('tainted', { taints: gpu }));
    const labels = { app: 'agent' };
    await simulation.create(Kinds.DaemonSet, {
      metadata: ref,
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'agent:1' }] } },
      },
    });
    await simulation.until(async () => (await simulation.pods()).filter(isReady).length === 3);
  });
  afterEach(() => simulation.stop());

  const nodes = async (): Promise<string[]> => {
    const names = (await simulation.pods()).map(({ spec }) => spec?.nodeName ?? '');
    return names.sort((left, right) => (left < right ? -1 : 1));
  };

  it('has one pod on each node whose taints it tolerates, including new nodes', async () => {
    await simulation.boot(instance('four'));
    await simulation.until(async () => (await simulation.pods()).filter(isReady).length === 4);
    expect(await nodes()).toEqual(['four', 'one', 'three', 'two']);
    await simulation.kube.patch(Kinds.Node, { name: 'tainted' }, { type: 'merge', body: { spec: { taints: [] } } });
    await simulation.until(async () => (await simulation.pods()).filter(isReady).length === 5);
    const { status } = await simulation.kube.get(Kinds.DaemonSet, ref);
    expect(status).toMatchObject({ desiredNumberScheduled: 5, numberAvailable: 5, updatedNumberScheduled: 5 });
  });

  it('keeps its pods on cordoned nodes, and loses them with deleted nodes', async () => {
    const { kube } = simulation;
    await kube.patch(Kinds.Node, { name: 'one' }, { type: 'merge', body: { spec: { unschedulable: true } } });
    simulation.world.powerOff('two');
    await simulation.advance(120_000);
    expect(await nodes()).toEqual(['one', 'three']);
  });

  it('deletes unbound pods for deleted nodes', async () => {
    const { kube } = simulation;
    const requests = { cpu: '1000' };
    const body = { spec: { template: { spec: { containers: [{ name: 'main', resources: { requests } }] } } } };
    await kube.patch(Kinds.DaemonSet, ref, { type: 'strategic', body });
    const waiting = async (): Promise<number> => (await simulation.pods()).filter(({ spec }) => !spec?.nodeName).length;
    await simulation.until(async () => (await waiting()) === 1);
    const [pod] = (await simulation.pods()).filter(({ spec }) => !spec?.nodeName);
    const terms = pod?.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
    const node = terms?.[0]?.matchFields?.[0]?.values?.[0] ?? '';
    simulation.world.powerOff(node);
    await simulation.advance(120_000);
    expect((await simulation.pods()).map(({ metadata }) => metadata.name)).not.toContain(pod?.metadata.name);
  });

  it('updates one node at a time', async () => {
    const body = { spec: { template: { spec: { containers: [{ name: 'main', image: 'agent:2' }] } } } };
    await simulation.kube.patch(Kinds.DaemonSet, ref, { type: 'strategic', body });
    let fewest = 3;
    await simulation.until(async () => {
      const pods = await simulation.pods();
      fewest = Math.min(fewest, pods.filter((pod) => isReady(pod) && !pod.metadata.deletionTimestamp).length);
      return pods.filter(isReady).length === 3 && pods.every(({ spec }) => spec?.containers[0]?.image === 'agent:2');
    });
    expect(fewest).toBe(2);
  });
});
