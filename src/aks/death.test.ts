/** A command whose process dies between any two of its writes: run again, it continues to the same end. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  CommandedCluster,
  disable,
  enable,
  KARPENTER,
  OBJECTS,
  replace,
  takeOver,
  turnOn,
  type Plan,
} from '../../test/fixtures/local/clusterCommands.ts';
import { dying } from '../../test/fixtures/local/dyingContext.ts';
import { VirtualCluster } from '../../test/fixtures/local/virtualCluster.ts';
import { Kinds } from '../api/kinds.ts';
import { managedSteps } from './enable.ts';
import { areInstalled } from './installSteps.ts';
import { changeCluster, readCluster } from './managedCluster.ts';
import { runSteps } from './step.ts';
import { toManagedSteps } from './takeover.ts';

/** Karpenter when AKS has refused to take over. */
const GIVEN_BACK: { isRefused: boolean; replicas: number; owners: readonly (string | undefined)[] } = {
  isRefused: true,
  replicas: 2,
  owners: ['karpenter-crd'],
};
/** Karpenter when nodewright has not started in its place. */
const NOT_STARTED: { isLate: boolean; karpenter: number | undefined; nodewright: number | undefined } = {
  isLate: true,
  karpenter: 2,
  nodewright: undefined,
};

describe('a command that dies', { timeout: 600_000 }, () => {
  let cluster: VirtualCluster;
  let commanded: CommandedCluster;

  beforeEach(async () => {
    cluster = await VirtualCluster.start();
    commanded = new CommandedCluster(cluster);
    await cluster.advance(1);
  });
  afterEach(() => cluster.stop());

  /** Dies after this many writes; returns whether it had finished before. */
  const die = async (plan: Plan, writes: number): Promise<boolean> => {
    const { context, died } = dying(cluster.context, writes);
    const whole = plan(context).then((steps) => runSteps(steps, { dryRun: false }));
    return cluster.finish(Promise.race([whole.then(() => true), died.then(() => false)]));
  };
  it('still enables and disables a self-hosted nodewright', async () => {
    await commanded.closePools();
    await commanded.setMode('Manual');
    for (let writes = 0; ; writes += writes < 3 ? 1 : 9) {
      const isEnabled = await die(enable, writes);
      await commanded.goOn(enable);
      expect(await commanded.status()).toMatchObject({ mode: 'self-hosted', isReady: true });
      expect(await commanded.assignments()).toHaveLength(2);
      const isDisabled = await die(disable, writes);
      await commanded.goOn(disable);
      expect(await commanded.status()).toMatchObject({ mode: 'off' });
      expect(await commanded.assignments()).toEqual([]);
      expect(await areInstalled(cluster.kube, OBJECTS)).toBe(false);
      if (isEnabled && isDisabled) break;
      expect(writes).toBeLessThan(100);
    }
  });

  it('still turns node auto-provisioning on and off', async () => {
    for (let writes = 0; ; writes += 1) {
      const isOff = await die(disable, writes);
      await commanded.goOn(disable);
      expect(await commanded.status()).toMatchObject({ mode: 'off' });
      const isOn = await die(turnOn, writes);
      await commanded.goOn(turnOn);
      expect(await commanded.status()).toMatchObject({ mode: 'managed' });
      const pools = (await cluster.kube.list(Kinds.NodePool)).items;
      expect(pools.map(({ spec }) => spec.limits)).toEqual([undefined, undefined]);
      if (isOff && isOn) break;
      expect(writes).toBeLessThan(30);
    }
  });

  it('still hands a Karpenter over to AKS, and restores everything when AKS refuses', async () => {
    const setBalancer = async (loadBalancerSku: string): Promise<void> => {
      const { arm, name } = cluster.context;
      const change = changeCluster(arm, name, ({ networkProfile }) => ({
        networkProfile: { ...networkProfile, loadBalancerSku },
      }));
      await cluster.finish(change);
    };
    const refuse = async (): Promise<typeof GIVEN_BACK> => {
      await setBalancer('basic');
      const isRefused = await commanded.goOn(toManagedSteps).then(
        () => false,
        (error: unknown) => String(error).includes('cannot be Auto'),
      );
      const { spec } = await cluster.kube.get(Kinds.Deployment, KARPENTER);
      await setBalancer('standard');
      return { isRefused, replicas: spec?.replicas ?? 0, owners: await commanded.owners() };
    };
    await commanded.closePools();
    for (let writes = 0; ; writes += writes < 3 ? 1 : 4) {
      await commanded.setMode('Manual');
      await commanded.runKarpenter();
      const isOver = await die(toManagedSteps, writes);
      const { properties } = await cluster.finish(readCluster(cluster.context.arm, cluster.context.name));
      // What was changed before it died is also restored.
      const refusal = properties.nodeProvisioningProfile?.mode === 'Manual' ? await refuse() : GIVEN_BACK;
      expect(refusal).toEqual(GIVEN_BACK);
      await commanded.goOn(toManagedSteps);
      expect(await commanded.status()).toMatchObject({ mode: 'managed' });
      expect(await commanded.owners()).toEqual([undefined]);
      expect((await cluster.kube.list(Kinds.Deployment, { namespace: 'kube-system' })).items).toEqual([]);
      if (isOver) break;
      expect(writes).toBeLessThan(40);
    }
  });

  it('still replaces a Karpenter, and restores everything when nodewright does not start', async () => {
    /** Without time to start, and whichever run has installed it: two would buy nodes for the same pods. */
    const failToStart = async (): Promise<typeof NOT_STARTED> => {
      const isLate = await commanded.goOn(takeOver(0)).then(
        () => false,
        (error: unknown) => String(error).includes('nodewright is not ready after 0 s'),
      );
      return {
        isLate,
        karpenter: await commanded.replicasOf('karpenter'),
        nodewright: await commanded.replicasOf('nodewright'),
      };
    };
    await commanded.closePools();
    await commanded.setMode('Manual');
    for (let writes = 0; ; writes += writes < 3 ? 1 : 5) {
      await commanded.runKarpenter();
      const isOver = await die(takeOver(), writes);
      const failure = isOver ? NOT_STARTED : await failToStart();
      expect(failure).toEqual(NOT_STARTED);
      await die(takeOver(), writes);
      await commanded.goOn(takeOver());
      expect(await commanded.status()).toMatchObject({ mode: 'self-hosted', isReady: true });
      expect([await commanded.replicasOf('karpenter'), await commanded.replicasOf('nodewright')]).toEqual([0, 2]);
      expect(await commanded.owners()).toEqual(['karpenter-crd']);
      await commanded.goOn(disable);
      await cluster.kube.delete(Kinds.Deployment, KARPENTER, { propagationPolicy: 'Foreground' });
      await cluster.advance(1);
      if (isOver) break;
      expect(writes).toBeLessThan(60);
    }
  });

  it('still replaces node auto-provisioning by a self-hosted nodewright', async () => {
    for (let writes = 0; ; writes += writes < 8 ? 1 : 6) {
      const isOver = await die(replace, writes);
      await commanded.goOn(replace);
      expect(await commanded.status()).toMatchObject({ mode: 'self-hosted', isReady: true });
      expect(await commanded.limits()).toEqual([undefined, undefined]);
      expect(await commanded.assignments()).toHaveLength(2);
      await commanded.goOn(disable);
      await commanded.goOn(async (context) => managedSteps(context, 'None'));
      expect(await commanded.status()).toMatchObject({ mode: 'managed' });
      if (isOver) break;
      expect(writes).toBeLessThan(60);
    }
  });
});
