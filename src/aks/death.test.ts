/** A command whose process dies between any two of its writes: given again, it goes on and comes to the same end. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dying } from '../../test/fixtures/local/dyingContext.ts';
import { VirtualCluster } from '../../test/fixtures/local/virtualCluster.ts';
import { Kinds } from '../api/kinds.ts';
import { ignoreNotFound } from '../kube/errors.ts';
import { disableSteps } from './disable.ts';
import { enableSteps, managedSteps, type AksContext } from './enable.ts';
import { areInstalled, RELEASE } from './installSteps.ts';
import { changeCluster, readCluster } from './managedCluster.ts';
import { renderChart } from './renderChart.ts';
import { aksStatus } from './status.ts';
import { runSteps, type Step } from './step.ts';
import { fromKarpenterSteps, toManagedSteps } from './takeover.ts';
import { toSelfHostedSteps } from './toSelfHosted.ts';

const CHART = join(import.meta.dirname, '../../charts/nodewright');
const ROLE = JSON.parse(readFileSync(join(CHART, 'azure-role.json'), 'utf8')) as { readonly Actions: string[] };
const OBJECTS = renderChart(CHART, { image: { repository: 'any' } }, RELEASE);
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
const KARPENTER = { name: 'karpenter', namespace: 'kube-system' };

describe('a command that dies', { timeout: 600_000 }, () => {
  let cluster: VirtualCluster;

  beforeEach(async () => {
    cluster = await VirtualCluster.start();
    await cluster.advance(1);
  });
  afterEach(() => cluster.stop());

  type Plan = (context: AksContext) => Promise<readonly Step[]>;
  const enable: Plan = (context) =>
    enableSteps(context, {
      image: { repository: 'images/nodewright' },
      defaultNodePools: 'Auto',
      actions: ROLE.Actions,
      renderChart: (values) => renderChart(CHART, values, RELEASE),
      timeout: 600_000,
    });
  const disable: Plan = async (context) =>
    disableSteps(context, { drain: true, keepIdentity: false, objects: OBJECTS, timeout: 600_000 });
  /** Dies after so many writes; says whether it came to its end before. */
  const die = async (plan: Plan, writes: number): Promise<boolean> => {
    const { context, died } = dying(cluster.context, writes);
    const whole = plan(context).then((steps) => runSteps(steps, { dryRun: false }));
    return cluster.finish(Promise.race([whole.then(() => true), died.then(() => false)]));
  };
  const goOn = (plan: Plan) => cluster.run(plan(cluster.context));
  const status = () => cluster.finish(aksStatus(cluster.context));
  const assignments = () => {
    const { arm, name } = cluster.context;
    const path = `/subscriptions/${name.subscriptionId}/providers/Microsoft.Authorization/roleAssignments`;
    return cluster.finish(arm.list<{ readonly id: string }>(path, '2022-04-01'));
  };
  const setMode = (mode: string) => {
    const { arm, name } = cluster.context;
    return cluster.finish(changeCluster(arm, name, () => ({ nodeProvisioningProfile: { mode } })));
  };
  const closePools = async (): Promise<void> => {
    for (const name of ['default', 'system-surge']) {
      const body = { spec: { limits: { cpu: '0' } } };
      await cluster.kube.patch(Kinds.NodePool, { name }, { type: 'merge', body });
    }
  };
  /** A Karpenter as its chart installs it, which owns the definitions. */
  const runKarpenter = async (): Promise<void> => {
    const helm = { 'meta.helm.sh/release-name': 'karpenter-crd', 'meta.helm.sh/release-namespace': 'kube-system' };
    for (const { metadata } of (await cluster.kube.list(Kinds.CustomResourceDefinition)).items) {
      const body = { metadata: { labels: { 'app.kubernetes.io/managed-by': 'Helm' }, annotations: helm } };
      await cluster.kube.patch(Kinds.CustomResourceDefinition, { name: metadata.name }, { type: 'merge', body });
    }
    const account = { name: 'karpenter-sa', namespace: 'kube-system' };
    if ((await ignoreNotFound(cluster.kube.get(Kinds.ServiceAccount, account))) === undefined)
      await cluster.kube.create(Kinds.ServiceAccount, { metadata: account });
    const labels = { app: 'karpenter' };
    await cluster.kube.create(Kinds.Deployment, {
      metadata: KARPENTER,
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { serviceAccountName: account.name, containers: [{ name: 'controller', image: 'karpenter:1' }] },
        },
      },
    });
  };
  const owners = async () => {
    const { items } = await cluster.kube.list(Kinds.CustomResourceDefinition);
    return [...new Set(items.map(({ metadata }) => metadata.annotations?.['meta.helm.sh/release-name']))];
  };
  const replicasOf = async (name: string): Promise<number | undefined> => {
    const { items } = await cluster.kube.list(Kinds.Deployment, { namespace: 'kube-system' });
    return items.find(({ metadata }) => metadata.name === name)?.spec?.replicas;
  };

  it('enables and disables a nodewright of the user all the same', async () => {
    await closePools();
    await setMode('Manual');
    for (let writes = 0; ; writes += writes < 3 ? 1 : 9) {
      const isEnabled = await die(enable, writes);
      await goOn(enable);
      expect(await status()).toMatchObject({ mode: 'self-hosted', isReady: true });
      expect(await assignments()).toHaveLength(2);
      const isDisabled = await die(disable, writes);
      await goOn(disable);
      expect(await status()).toMatchObject({ mode: 'off' });
      expect(await assignments()).toEqual([]);
      expect(await areInstalled(cluster.kube, OBJECTS)).toBe(false);
      if (isEnabled && isDisabled) break;
      expect(writes).toBeLessThan(100);
    }
  });

  it('turns node auto-provisioning on and off all the same', async () => {
    const on: Plan = async (context) => managedSteps(context, 'Auto');
    for (let writes = 0; ; writes += 1) {
      const isOff = await die(disable, writes);
      await goOn(disable);
      expect(await status()).toMatchObject({ mode: 'off' });
      const isOn = await die(on, writes);
      await goOn(on);
      expect(await status()).toMatchObject({ mode: 'managed' });
      const pools = (await cluster.kube.list(Kinds.NodePool)).items;
      expect(pools.map(({ spec }) => spec.limits)).toEqual([undefined, undefined]);
      if (isOff && isOn) break;
      expect(writes).toBeLessThan(30);
    }
  });

  it('hands a Karpenter over to AKS all the same, and gives it everything back when AKS refuses', async () => {
    const setPolicy = async (networkPolicy: string): Promise<void> => {
      const { arm, name } = cluster.context;
      const change = changeCluster(arm, name, ({ networkProfile }) => ({
        networkProfile: { ...networkProfile, networkPolicy },
      }));
      await cluster.finish(change);
    };
    const refuse = async (): Promise<typeof GIVEN_BACK> => {
      await setPolicy('calico');
      const isRefused = await goOn(toManagedSteps).then(
        () => false,
        (error: unknown) => String(error).includes('cannot be Auto'),
      );
      const { spec } = await cluster.kube.get(Kinds.Deployment, KARPENTER);
      await setPolicy('cilium');
      return { isRefused, replicas: spec?.replicas ?? 0, owners: await owners() };
    };
    await closePools();
    for (let writes = 0; ; writes += writes < 3 ? 1 : 4) {
      await setMode('Manual');
      await runKarpenter();
      const isOver = await die(toManagedSteps, writes);
      const { properties } = await cluster.finish(readCluster(cluster.context.arm, cluster.context.name));
      // What was taken before it died comes back, too.
      const refusal = properties.nodeProvisioningProfile?.mode === 'Manual' ? await refuse() : GIVEN_BACK;
      expect(refusal).toEqual(GIVEN_BACK);
      await goOn(toManagedSteps);
      expect(await status()).toMatchObject({ mode: 'managed' });
      expect(await owners()).toEqual([undefined]);
      expect((await cluster.kube.list(Kinds.Deployment, { namespace: 'kube-system' })).items).toEqual([]);
      if (isOver) break;
      expect(writes).toBeLessThan(40);
    }
  });

  it('takes a Karpenter over all the same, and gives it everything back when nodewright does not start', async () => {
    const takeOver =
      (timeout: number): Plan =>
      (context) =>
        fromKarpenterSteps(context, {
          image: { repository: 'images/nodewright' },
          renderChart: (values) => renderChart(CHART, values, RELEASE),
          timeout,
        });
    /** Without time to start, and whichever run has installed it: two would buy nodes for the same pods. */
    const failToStart = async (): Promise<typeof NOT_STARTED> => {
      const isLate = await goOn(takeOver(0)).then(
        () => false,
        (error: unknown) => String(error).includes('nodewright is not ready after 0 s'),
      );
      return { isLate, karpenter: await replicasOf('karpenter'), nodewright: await replicasOf('nodewright') };
    };
    await closePools();
    await setMode('Manual');
    for (let writes = 0; ; writes += writes < 3 ? 1 : 5) {
      await runKarpenter();
      const isOver = await die(takeOver(600_000), writes);
      const failure = isOver ? NOT_STARTED : await failToStart();
      expect(failure).toEqual(NOT_STARTED);
      await die(takeOver(600_000), writes);
      await goOn(takeOver(600_000));
      expect(await status()).toMatchObject({ mode: 'self-hosted', isReady: true });
      expect([await replicasOf('karpenter'), await replicasOf('nodewright')]).toEqual([0, 2]);
      expect(await owners()).toEqual(['karpenter-crd']);
      await goOn(disable);
      await cluster.kube.delete(Kinds.Deployment, KARPENTER, { propagationPolicy: 'Foreground' });
      await cluster.advance(1);
      if (isOver) break;
      expect(writes).toBeLessThan(60);
    }
  });

  it('replaces node auto-provisioning by a nodewright of the user all the same', async () => {
    const replace: Plan = (context) =>
      toSelfHostedSteps(context, {
        enable: {
          image: { repository: 'images/nodewright' },
          defaultNodePools: 'None',
          actions: ROLE.Actions,
          renderChart: (values) => renderChart(CHART, values, RELEASE),
          timeout: 600_000,
        },
        disable: { drain: true, objects: [], timeout: 600_000 },
        deleteEmptyDirData: false,
      });
    const limits = async () => (await cluster.kube.list(Kinds.NodePool)).items.map(({ spec }) => spec.limits);
    for (let writes = 0; ; writes += writes < 8 ? 1 : 6) {
      const isOver = await die(replace, writes);
      await goOn(replace);
      expect(await status()).toMatchObject({ mode: 'self-hosted', isReady: true });
      expect(await limits()).toEqual([undefined, undefined]);
      expect(await assignments()).toHaveLength(2);
      await goOn(disable);
      await goOn(async (context) => managedSteps(context, 'None'));
      expect(await status()).toMatchObject({ mode: 'managed' });
      if (isOver) break;
      expect(writes).toBeLessThan(60);
    }
  });
});
