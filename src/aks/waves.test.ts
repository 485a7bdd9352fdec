import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VirtualCluster } from '../../test/fixtures/local/virtualCluster.ts';
import { Kinds } from '../api/kinds.ts';
import { dying } from '../../test/fixtures/local/dyingContext.ts';
import { readCluster } from './managedCluster.ts';
import { backSteps, readWaves, waveSteps, type WaveOptions } from './waves.ts';
import { runSteps } from './step.ts';

const ONE: WaveOptions = { pools: [], nodesPerWave: 2, waves: 1, timeout: 120_000 };
const ALL: WaveOptions = { ...ONE, waves: Number.POSITIVE_INFINITY };

describe('waves', { timeout: 300_000 }, () => {
  let cluster: VirtualCluster;

  beforeEach(async () => {
    cluster = await VirtualCluster.start();
    // Without it, AKS refuses the autoscaler beside node auto-provisioning.
    const { arm, name } = cluster.context;
    const feature = `/subscriptions/${name.subscriptionId}/providers/Microsoft.Features/providers/Microsoft.ContainerService/features/AllowClusterAutoscalerAndNAP/register`;
    await cluster.finish(arm.post(feature, '2021-07-01'));
    const pool = { mode: 'User', vmSize: 'Standard_D4s_v5', enableAutoScaling: true, minCount: 1, maxCount: 9 };
    cluster.world.arm.addAgentPool('apps', { ...pool, count: 3 });
    await cluster.advance(1);
    await cluster.deploy('web', 6, '1');
    if ((await cluster.runningPods()) !== 6) throw new Error('the pods do not run');
  });
  afterEach(() => cluster.stop());

  const apps = async () => {
    const { properties } = await cluster.finish(readCluster(cluster.context.arm, cluster.context.name));
    return properties.agentPoolProfiles?.find(({ name }) => name === 'apps');
  };
  const states = async (options: WaveOptions, dryRun = false): Promise<readonly string[]> =>
    (await cluster.run(waveSteps(cluster.context, options), dryRun)).map(({ state, step }) => `${state} ${step}`);
  const back = async (options: WaveOptions): Promise<readonly string[]> =>
    (await cluster.run(backSteps(cluster.context, options))).map(({ state, step }) => `${state} ${step}`);

  it('are shown first, come one at a time, and lead back to the autoscaler', async () => {
    expect(await states(ALL, true)).toEqual([
      'planned record',
      'planned autoscaler apps',
      'planned wave 1',
      'planned wave 2',
    ]);
    expect(await apps()).toMatchObject({ count: 3, enableAutoScaling: true });
    expect(await states(ONE)).toEqual(['made record', 'made autoscaler apps', 'made wave 1']);
    expect(await apps()).toMatchObject({ count: 1, enableAutoScaling: false });
    expect(await cluster.runningPods()).toBe(6);
    expect(await states(ONE)).toEqual(['done record', 'done autoscaler apps', 'made wave 2']);
    expect(await apps()).toMatchObject({ count: 0 });
    expect(await states(ONE)).toEqual(['done record', 'done autoscaler apps']);
    expect(await back(ONE)).toEqual(['made back 2']);
    expect(await apps()).toMatchObject({ count: 1, enableAutoScaling: false });
    expect(await back(ALL)).toEqual(['made back 1', 'made autoscaler']);
    expect(await apps()).toMatchObject({ count: 3, enableAutoScaling: true, minCount: 1, maxCount: 9 });
    expect(await back(ALL)).toEqual(['done autoscaler']);
  });

  it('stop when pods find no place, and restore their nodes', async () => {
    await cluster.deploy('pinned', 2, '1', { agentpool: 'apps' });
    await expect(states({ ...ALL, nodesPerWave: 3 })).rejects.toThrow(
      /pods have no place after 120 s: default\/pinned/,
    );
    await cluster.advance(2);
    expect(await apps()).toMatchObject({ count: 3 });
    expect(await cluster.runningPods()).toBe(8);
    expect((await readWaves(cluster.kube)).waves).toEqual([]);
  });

  it('do not count pods displaced by an interrupted run as waiting before it', async () => {
    await cluster.deploy('pinned', 2, '1', { agentpool: 'apps' });
    const down: WaveOptions = { ...ALL, nodesPerWave: 3 };
    // The record, the autoscaler, the wave's note and its count; what would follow is the note that it is over.
    const death = dying(cluster.context, 4);
    const run = waveSteps(death.context, { ...down, timeout: 3_600_000 });
    const steps = run.then((found) => runSteps(found, { dryRun: false }));
    const waits = async (): Promise<boolean> => {
      const { items } = await cluster.kube.list(Kinds.Pod, { namespace: 'default' });
      return items.filter(({ spec }) => (spec?.nodeName ?? '') === '').length >= 2;
    };
    const displaced = async (): Promise<void> => {
      while (!(await waits())) await cluster.clock.sleep(1_000);
    };
    await cluster.finish(Promise.race([steps, displaced()]));
    await expect(states(down)).rejects.toThrow(/pods have no place after 120 s: default\/pinned/);
    await cluster.advance(2);
    expect(await apps()).toMatchObject({ count: 3 });
  });

  it('are refused while there is no place for the pods', async () => {
    for (const name of ['default', 'system-surge']) {
      const body = { spec: { limits: { cpu: '0' } } };
      await cluster.kube.patch(Kinds.NodePool, { name }, { type: 'merge', body });
    }
    await expect(states(ONE)).rejects.toThrow('no NodePool may buy nodes');
    await expect(states({ ...ONE, pools: ['system'] })).rejects.toThrow('no NodePool may buy nodes');
  });

  it('continue wherever the command died', async () => {
    for (let writes = 0; writes < 12; writes += 1) {
      const death = dying(cluster.context, writes);
      const steps = waveSteps(death.context, ALL).then((found) => runSteps(found, { dryRun: false }));
      const isOver = await cluster.finish(Promise.race([steps.then(() => true), death.died.then(() => false)]));
      await states(ALL);
      expect(await apps()).toMatchObject({ count: 0, enableAutoScaling: false });
      await cluster.advance(1);
      expect(await cluster.runningPods()).toBe(6);
      await back(ALL);
      expect(await apps()).toMatchObject({ count: 3, enableAutoScaling: true });
      await cluster.advance(2);
      if (isOver) return;
    }
    expect.fail('the command was never over');
  });
});
