/**
 * A command for which Azure refuses one of its writes: it fails or waits, and run again it continues to the same end.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  CommandedCluster,
  disable,
  enable,
  OBJECTS,
  replace,
  turnOn,
  type Plan,
} from '../../test/fixtures/local/clusterCommands.ts';
import { REFUSALS, RefusingClient, type Refusal } from '../../test/fixtures/local/refusingClient.ts';
import { VirtualCluster } from '../../test/fixtures/local/virtualCluster.ts';
import { Kinds } from '../api/kinds.ts';
import { managedSteps } from './enable.ts';
import { areInstalled } from './installSteps.ts';
import { readCluster } from './managedCluster.ts';
import { runSteps } from './step.ts';
import { toManagedSteps } from './takeover.ts';
import { backSteps, readWaves, waveSteps, type WaveOptions } from './waves.ts';

/** More than any command has writes. */
const MOST = 30;

describe.each(REFUSALS)('a command that meets $name', { timeout: 600_000 }, (refusal: Refusal) => {
  let cluster: VirtualCluster;
  let commanded: CommandedCluster;

  beforeEach(async () => {
    cluster = await VirtualCluster.start();
    commanded = new CommandedCluster(cluster);
    await cluster.advance(1);
  });
  afterEach(() => cluster.stop());

  /** Runs it with a refusal after this many writes, then without; returns whether there was a refusal. */
  const persist = async (plan: Plan, writes: number): Promise<boolean> => {
    const azure = new RefusingClient(refusal, writes);
    const context = cluster.contextThrough((client) => azure.wrap(client));
    const outcome = await cluster.finish(plan(context).then((steps) => runSteps(steps, { dryRun: false }))).then(
      () => 'ended',
      () => 'failed',
    );
    // Temporary refusals are waited for; all others are reported.
    if (azure.hasRefused) expect(outcome).toBe(typeof refusal.scope === 'number' ? 'ended' : 'failed');
    else expect(outcome).toBe('ended');
    await commanded.goOn(plan);
    return azure.hasRefused;
  };
  /** Repeats until nothing is refused: then each write was refused once. */
  const each = async (round: () => Promise<boolean>, least: number): Promise<void> => {
    let refused = 0;
    for (;;) {
      const isRefused = await round();
      if (!isRefused) break;
      refused += 1;
      expect(refused).toBeLessThan(MOST);
    }
    expect(refused).toBeGreaterThanOrEqual(least);
  };

  it('enables and disables a nodewright of the user', async () => {
    await commanded.closePools();
    await commanded.setMode('Manual');
    let writes = 0;
    await each(async () => {
      const isOn = await persist(enable, writes);
      expect(await commanded.status()).toMatchObject({ mode: 'self-hosted', isReady: true });
      expect(await commanded.assignments()).toHaveLength(2);
      const isOff = await persist(disable, writes);
      expect(await commanded.status()).toMatchObject({ mode: 'off' });
      expect(await commanded.assignments()).toEqual([]);
      expect(await areInstalled(cluster.kube, OBJECTS)).toBe(false);
      writes += 1;
      return isOn || isOff;
    }, 4);
  });

  it('turns node auto-provisioning off and on', async () => {
    let writes = 0;
    await each(async () => {
      const isOff = await persist(disable, writes);
      expect(await commanded.status()).toMatchObject({ mode: 'off' });
      const isOn = await persist(turnOn, writes);
      expect(await commanded.status()).toMatchObject({ mode: 'managed' });
      expect(await commanded.limits()).toEqual([undefined, undefined]);
      writes += 1;
      return isOff || isOn;
    }, 1);
  });

  it('hands a Karpenter over to AKS', async () => {
    await commanded.closePools();
    let writes = 0;
    await each(async () => {
      await commanded.setMode('Manual');
      await commanded.runKarpenter();
      const isRefused = await persist(toManagedSteps, writes);
      expect(await commanded.status()).toMatchObject({ mode: 'managed' });
      expect(await commanded.owners()).toEqual([undefined]);
      expect((await cluster.kube.list(Kinds.Deployment, { namespace: 'kube-system' })).items).toEqual([]);
      writes += 1;
      return isRefused;
    }, 1);
  });

  it('replaces node auto-provisioning by a nodewright of the user', async () => {
    let writes = 0;
    await each(async () => {
      const isRefused = await persist(replace, writes);
      expect(await commanded.status()).toMatchObject({ mode: 'self-hosted', isReady: true });
      expect(await commanded.limits()).toEqual([undefined, undefined]);
      expect(await commanded.assignments()).toHaveLength(2);
      await commanded.goOn(disable);
      await commanded.goOn(async (context) => managedSteps(context, 'None'));
      writes += 1;
      return isRefused;
    }, 4);
  });

  it('scales agent pools down in waves, and back', async () => {
    const all: WaveOptions = { pools: ['apps'], nodesPerWave: 2, waves: Number.POSITIVE_INFINITY, timeout: 120_000 };
    cluster.world.arm.addAgentPool('apps', { mode: 'User', vmSize: 'Standard_D4s_v5', count: 3 });
    await cluster.advance(1);
    await cluster.deploy('web', 6, '1');
    const count = async (): Promise<number | undefined> => {
      const { properties } = await cluster.finish(readCluster(cluster.context.arm, cluster.context.name));
      return properties.agentPoolProfiles?.find(({ name }) => name === 'apps')?.count;
    };
    let writes = 0;
    await each(async () => {
      const isDown = await persist((context) => waveSteps(context, all), writes);
      expect(await count()).toBe(0);
      await cluster.advance(1);
      expect(await cluster.runningPods()).toBe(6);
      const isUp = await persist((context) => backSteps(context, all), writes);
      expect(await count()).toBe(3);
      expect((await readWaves(cluster.kube)).waves).toEqual([]);
      await cluster.advance(2);
      writes += 1;
      return isDown || isUp;
    }, 2);
  });
});
