import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { AzureFixture } from '../../test/fixtures/azure/azureFixture.ts';
import { Kinds } from '../api/kinds.ts';
import { ArmError } from '../local/arm/armError.ts';
import { armPort } from './armPort.ts';
import type { AksContext } from './enable.ts';
import { RELEASE } from './installSteps.ts';
import { readCluster } from './managedCluster.ts';
import { renderChart } from './renderChart.ts';
import { runSteps, type StepRecord } from './step.ts';
import { fromKarpenterSteps, toManagedSteps } from './takeover.ts';

// Definitions are compiled several times over, which takes long on a busy machine.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const CHART = join(import.meta.dirname, '../../charts/nodewright');
const NAMESPACE = 'kube-system';
const HELM = { 'meta.helm.sh/release-name': 'karpenter-crd', 'meta.helm.sh/release-namespace': NAMESPACE };

describe('a cluster with a Karpenter of its own', () => {
  let fixture: AzureFixture;
  let context: AksContext;

  beforeAll(async () => {
    fixture = await AzureFixture.start();
    const { clock, kube, arm: azure } = fixture;
    const arm = armPort(fixture.clients().rest, clock);
    context = { arm, kube, clock, name: { subscriptionId: azure.subscriptionId, ...azure.cluster } };
    const cluster = await fixture.finish(readCluster(arm, context.name));
    const properties = { ...cluster.properties, nodeProvisioningProfile: { mode: 'Manual' } };
    await fixture.finish(arm.put(cluster.id, '2025-05-01', { ...cluster, properties }));
    await kube.create(Kinds.Namespace, { metadata: { name: NAMESPACE } });
    for (const { metadata } of (await kube.list(Kinds.CustomResourceDefinition)).items) {
      const body = { metadata: { labels: { 'app.kubernetes.io/managed-by': 'Helm' }, annotations: HELM } };
      await kube.patch(Kinds.CustomResourceDefinition, { name: metadata.name }, { type: 'merge', body });
    }
    const labels = { app: 'karpenter' };
    const env = [
      { name: 'CLUSTER_NAME', value: 'shop' },
      { name: 'CLUSTER_ENDPOINT', value: 'https://shop.example' },
      { name: 'KUBELET_BOOTSTRAP_TOKEN', value: 'abcdef.0123456789abcdef' },
      // What its chart sets besides, and ours as well.
      { name: 'METRICS_PORT', value: '8000' },
      { name: 'LOG_LEVEL', value: 'debug' },
      { name: 'FEATURE_GATES', value: 'SpotToSpotConsolidation=true' },
      { name: 'SSH_PUBLIC_KEY', valueFrom: { secretKeyRef: { name: 'ssh', key: 'public' } } },
    ];
    await kube.create(Kinds.Deployment, {
      metadata: { name: 'karpenter', namespace: NAMESPACE },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { serviceAccountName: 'karpenter-sa', containers: [{ name: 'controller', image: 'karpenter:1', env }] },
        },
      },
    });
    await fixture.makeNodeClass('default');
  });
  afterAll(() => fixture.close());

  const replicas = async (): Promise<number | undefined> =>
    (await fixture.kube.get(Kinds.Deployment, { name: 'karpenter', namespace: NAMESPACE })).spec?.replicas;
  const owners = async (): Promise<readonly (string | undefined)[]> => {
    const { items } = await fixture.kube.list(Kinds.CustomResourceDefinition);
    return [...new Set(items.map(({ metadata }) => metadata.annotations?.['meta.helm.sh/release-name']))];
  };
  const toManaged = async (dryRun = false): Promise<StepRecord[]> =>
    fixture.finish(runSteps(await fixture.finish(toManagedSteps(context)), { dryRun }));

  it('is replaced by nodewright with its settings and its account, and runs again when that fails', async () => {
    const options = {
      image: { repository: 'images/nodewright' },
      renderChart: (values: Readonly<Record<string, unknown>>) => renderChart(CHART, values, RELEASE),
      timeout: 10_000,
    };
    const steps = await fixture.finish(fromKarpenterSteps(context, options));
    const plan = await fixture.finish(runSteps(steps, { dryRun: true }));
    expect(plan.map(({ step, state }) => `${state} ${step}`)).toEqual([
      'planned stop',
      'planned definitions',
      'planned nodewright',
      'planned ready',
    ]);
    expect(await replicas()).toBe(2);
    const [stop, , chart] = steps;
    await fixture.finish(
      runSteps(
        [stop, chart].flatMap((step) => step ?? []),
        { dryRun: false },
      ),
    );
    const own = await fixture.kube.get(Kinds.Deployment, { name: 'nodewright', namespace: NAMESPACE });
    expect(own.spec?.template.spec?.serviceAccountName).toBe('karpenter-sa');
    expect(own.spec?.template.spec?.containers[0]?.env).toEqual(
      expect.arrayContaining([
        { name: 'CLUSTER_NAME', value: 'shop' },
        { name: 'KUBELET_BOOTSTRAP_TOKEN', value: 'abcdef.0123456789abcdef' },
      ]),
    );
    const variables = own.spec?.template.spec?.containers[0]?.env?.filter(({ name }) =>
      ['METRICS_PORT', 'LOG_LEVEL', 'FEATURE_GATES', 'SSH_PUBLIC_KEY'].includes(name),
    );
    expect(variables).toEqual([
      { name: 'METRICS_PORT', value: '8080' },
      { name: 'LOG_LEVEL', value: 'debug' },
      { name: 'FEATURE_GATES', value: 'SpotToSpotConsolidation=true' },
      { name: 'SSH_PUBLIC_KEY', valueFrom: { secretKeyRef: { name: 'ssh', key: 'public' } } },
    ]);
    expect(await replicas()).toBe(0);
    // Nothing runs it here, so the rest fails.
    await fixture.kube.delete(Kinds.Deployment, { name: 'nodewright', namespace: NAMESPACE });
    await stop?.undo?.();
    const again = (await fixture.finish(fromKarpenterSteps(context, options))).filter(
      ({ name }) => name !== 'definitions',
    );
    await expect(fixture.finish(runSteps(again, { dryRun: false }))).rejects.toThrow(
      'nodewright is not ready after 10 s',
    );
    expect(await replicas()).toBe(2);
    expect(await owners()).toEqual(['karpenter-crd']);
  });

  it('stays stopped where nodewright has replaced it, when AKS refuses node auto-provisioning', async () => {
    const { metadata: _metadata, ...rest } = await fixture.kube.get(Kinds.Deployment, {
      name: 'karpenter',
      namespace: NAMESPACE,
    });
    await fixture.kube.create(Kinds.Deployment, { ...rest, metadata: { name: 'nodewright', namespace: NAMESPACE } });
    const body = { metadata: { annotations: { 'nodewright.dev/replicas-before': '2' } }, spec: { replicas: 0 } };
    await fixture.kube.patch(Kinds.Deployment, { name: 'karpenter', namespace: NAMESPACE }, { type: 'merge', body });
    const error = new ArmError(400, 'OperationNotAllowed', 'Not now.', { flat: true });
    fixture.failNext('managedClusters.createOrUpdate', { kind: 'refuse', error });
    await expect(toManaged()).rejects.toThrow(/failed: Not now/);
    expect(await replicas()).toBe(0);
    const own = await fixture.kube.get(Kinds.Deployment, { name: 'nodewright', namespace: NAMESPACE });
    expect(own.spec?.replicas).toBe(2);
    await fixture.kube.delete(Kinds.Deployment, { name: 'nodewright', namespace: NAMESPACE });
    const again = { metadata: { annotations: { 'nodewright.dev/replicas-before': null } }, spec: { replicas: 2 } };
    await fixture.kube.patch(
      Kinds.Deployment,
      { name: 'karpenter', namespace: NAMESPACE },
      { type: 'merge', body: again },
    );
  });

  it('keeps everything when AKS refuses node auto-provisioning', async () => {
    const error = new ArmError(400, 'OperationNotAllowed', 'Not now.', { flat: true });
    fixture.failNext('managedClusters.createOrUpdate', { kind: 'refuse', error });
    await expect(toManaged()).rejects.toThrow(/failed: Not now/);
    expect(await replicas()).toBe(2);
    expect(await owners()).toEqual(['karpenter-crd']);
  });

  it('is handed over to AKS without losing a definition, a class or a pool', async () => {
    const { metadata, ...rest } = await fixture.kube.get(Kinds.Deployment, { name: 'karpenter', namespace: NAMESPACE });
    // As after a takeover, which leaves the Deployment of Karpenter.
    await fixture.kube.create(Kinds.Deployment, { ...rest, metadata: { name: 'nodewright', namespace: NAMESPACE } });
    expect(metadata.annotations?.['nodewright.dev/replicas-before']).toBeUndefined();
    expect((await toManaged()).map(({ step, state }) => `${state} ${step}`)).toEqual([
      'made stop',
      'made stop',
      'made disown',
      'made node-auto-provisioning',
      'done reopen',
      'made remove',
      'made remove',
    ]);
    expect((await fixture.kube.list(Kinds.Deployment, { namespace: NAMESPACE })).items).toEqual([]);
    expect(await owners()).toEqual([undefined]);
    expect((await fixture.kube.list(Kinds.AKSNodeClass)).items.map(({ metadata }) => metadata.name)).toEqual([
      'default',
    ]);
    const { properties } = await fixture.finish(readCluster(context.arm, context.name));
    expect(properties.nodeProvisioningProfile).toEqual({ mode: 'Auto', defaultNodePools: 'None' });
    expect((await toManaged()).map(({ state }) => state)).toEqual(['done', 'done']);
  });

  it('stays stopped when the hand-over fails after AKS has begun to provision', async () => {
    const template = {
      metadata: { labels: { app: 'karpenter' } },
      spec: { containers: [{ name: 'controller', image: 'karpenter:1' }] },
    };
    await fixture.kube.create(Kinds.Deployment, {
      metadata: { name: 'karpenter', namespace: NAMESPACE },
      spec: { replicas: 2, selector: { matchLabels: { app: 'karpenter' } }, template },
    });
    const steps = (await fixture.finish(toManagedSteps(context))).map((step) =>
      step.name === 'remove' ? { ...step, run: () => Promise.reject(new Error('the connection broke')) } : step,
    );
    const records: string[] = [];
    const onRecord = ({ state, step }: StepRecord): number => records.push(`${state} ${step}`);
    await expect(fixture.finish(runSteps(steps, { dryRun: false, onRecord }))).rejects.toThrow('the connection broke');
    expect(records.slice(-3)).toEqual(['failed remove', 'left disown', 'left stop']);
    expect(await replicas()).toBe(0);
    expect((await toManaged()).at(-1)).toMatchObject({ step: 'remove', state: 'made' });
  });
});
