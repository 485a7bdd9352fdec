import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AzureFixture } from '../../test/fixtures/azure/azureFixture.ts';
import { Kinds } from '../api/kinds.ts';
import { ArmError } from '../local/arm/armError.ts';
import { armPort, type ArmPort } from './armPort.ts';
import { federationId, readIdentity } from './azureRights.ts';
import { checkCluster } from './checks.ts';
import { disableSteps } from './disable.ts';
import { enableSteps, type AksContext } from './enable.ts';
import { RELEASE } from './installSteps.ts';
import { allowsSideBySide, readCluster, settle, type ManagedCluster } from './managedCluster.ts';
import { renderChart } from './renderChart.ts';
import { aksStatus } from './status.ts';
import { runSteps, type Step, type StepRecord } from './step.ts';

// Definitions are compiled several times over, which takes long on a busy machine.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const CHART = join(import.meta.dirname, '../../charts/nodewright');
const ROLE = JSON.parse(readFileSync(join(CHART, 'azure-role.json'), 'utf8')) as { readonly Actions: string[] };
const AUTHORIZATION = '2022-04-01';

let fixture: AzureFixture;
let arm: ArmPort;
let context: AksContext;

beforeEach(async () => {
  fixture = await AzureFixture.start();
  const { clock, kube } = fixture;
  await kube.create(Kinds.Namespace, { metadata: { name: RELEASE.Namespace } });
  fixture.arm.addAgentPool('system', { mode: 'System', count: 1, vmSize: 'Standard_D4s_v5', osType: 'Linux' });
  arm = armPort(fixture.clients().rest, clock);
  const { resourceGroup, name } = fixture.arm.cluster;
  context = { arm, kube, clock, name: { subscriptionId: fixture.arm.subscriptionId, resourceGroup, name } };
  // This cluster is one that a nodewright of one's own is for.
  const cluster = await fixture.finish(readCluster(arm, context.name));
  const properties = { ...cluster.properties, nodeProvisioningProfile: { mode: 'Manual' } };
  await fixture.finish(arm.put(cluster.id, '2025-05-01', { ...cluster, properties }));
});
afterEach(() => fixture.close());

/** Stands for the kubelets and controllers of a cluster: what is deployed, runs. */
async function runDeployment(): Promise<void> {
  const ref = { name: RELEASE.Name, namespace: RELEASE.Namespace };
  const status = { observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 1, readyReplicas: 1 };
  await fixture.kube.patch(Kinds.Deployment, ref, { type: 'merge', body: { status } }, { subresource: 'status' });
}

const stepsToEnable = (): Promise<readonly Step[]> =>
  fixture.finish(
    enableSteps(context, {
      image: { repository: 'images/nodewright', tag: '1' },
      defaultNodePools: 'Auto',
      actions: ROLE.Actions,
      renderChart: (values) => renderChart(CHART, values, RELEASE),
      timeout: 60_000,
    }),
  );

async function enable(dryRun = false): Promise<StepRecord[]> {
  const steps = await stepsToEnable();
  const isInstalled = steps.findIndex(({ name }) => name === 'ready');
  const before = await fixture.finish(runSteps(steps.slice(0, isInstalled), { dryRun }));
  if (!dryRun) await runDeployment();
  return [...before, ...(await fixture.finish(runSteps(steps.slice(isInstalled), { dryRun })))];
}

const statesOf = (records: readonly StepRecord[]): readonly string[] => [...new Set(records.map(({ state }) => state))];
const assignments = (): Promise<readonly { readonly properties: { readonly scope: string } }[]> =>
  fixture.finish(
    arm.list(
      `/subscriptions/${fixture.arm.subscriptionId}/providers/Microsoft.Authorization/roleAssignments`,
      AUTHORIZATION,
    ),
  );

describe('enabling', () => {
  it('shows the planned steps, and does nothing', async () => {
    const plan = await enable(true);
    expect(plan.map(({ step, state }) => `${state} ${step}`)).toEqual([
      'planned workload-identity',
      'planned identity',
      'planned federated-credential',
      'planned role nodewright',
      'planned role nodewright-catalogue',
      `planned assignment nodewright ${fixture.arm.nodeResourceGroup}`,
      `planned assignment nodewright-catalogue ${fixture.arm.subscriptionId}`,
      'planned definitions',
      'planned nodewright',
      'planned default-pools',
      'planned ready',
      'done reopen',
    ]);
    expect(await assignments()).toEqual([]);
    expect((await fixture.kube.list(Kinds.Deployment)).items).toEqual([]);
  });

  it('installs everything once, with no more rights than it needs', async () => {
    expect(statesOf(await enable())).toEqual(['made', 'done']);
    const deployment = await fixture.kube.get(Kinds.Deployment, { name: 'nodewright', namespace: 'kube-system' });
    const pod = deployment.spec?.template;
    expect(pod?.metadata?.labels).toMatchObject({ 'azure.workload.identity/use': 'true' });
    expect(pod?.spec?.containers[0]?.env).toEqual(
      expect.arrayContaining([
        { name: 'AZURE_NODE_RESOURCE_GROUP', value: fixture.arm.nodeResourceGroup },
        { name: 'VNET_SUBNET_ID', value: fixture.arm.network.subnetId },
      ]),
    );
    expect((await fixture.kube.list(Kinds.NodePool)).items.map(({ metadata }) => metadata.name)).toEqual([
      'default',
      'system-surge',
    ]);
    expect((await assignments()).map(({ properties }) => properties.scope).toSorted()).toEqual([
      `/subscriptions/${fixture.arm.subscriptionId}`,
      `/subscriptions/${fixture.arm.subscriptionId}/resourceGroups/${fixture.arm.nodeResourceGroup}`,
    ]);
    expect(statesOf(await enable())).toEqual(['done']);
    expect(await fixture.finish(aksStatus(context))).toMatchObject({ mode: 'self-hosted', isReady: true, nodes: 0 });
  });

  it('updates definitions that it has installed, which stay with their Helm release', async () => {
    const definitions = (await stepsToEnable()).filter(({ name }) => name === 'definitions');
    const ref = { name: 'nodepools.karpenter.sh' };
    const marks = async () => {
      const { metadata } = await fixture.kube.get(Kinds.CustomResourceDefinition, ref);
      const { 'nodewright.dev/installed': _digest, ...annotations } = metadata.annotations ?? {};
      return { annotations, labels: metadata.labels };
    };
    await fixture.finish(runSteps(definitions, { dryRun: false }));
    const before = await marks();
    expect(before.annotations).toMatchObject({ 'meta.helm.sh/release-name': 'nodewright-crd' });
    const body = { metadata: { annotations: { 'nodewright.dev/installed': 'older' } } };
    await fixture.kube.patch(Kinds.CustomResourceDefinition, ref, { type: 'merge', body });
    expect(statesOf(await fixture.finish(runSteps(definitions, { dryRun: false })))).toEqual(['made']);
    expect(await marks()).toEqual(before);
  });

  it('undoes its changes when Azure refuses a step, and continues when it is run again', async () => {
    const rights = (await stepsToEnable()).slice(0, 7);
    const identity = `/subscriptions/${fixture.arm.subscriptionId}/resourceGroups/local/providers/Microsoft.ManagedIdentity/userAssignedIdentities/nodewright`;
    for (const call of [
      'userAssignedIdentities.createOrUpdate',
      'federatedIdentityCredentials.createOrUpdate',
      'roleAssignments.create.1',
      'roleAssignments.create.0',
    ]) {
      fixture.failNext(call, { kind: 'refuse', error: new ArmError(403, 'AuthorizationFailed', 'No.') });
      await expect(fixture.finish(runSteps(rights, { dryRun: false }))).rejects.toThrow(/failed: No\./);
      expect(await fixture.finish(arm.get(identity, '2023-01-31'))).toBeUndefined();
      expect(await assignments()).toEqual([]);
    }
    // Killed between two steps, by another process.
    await fixture.finish(runSteps((await stepsToEnable()).slice(0, 4), { dryRun: false }));
    const records = await fixture.finish(runSteps((await stepsToEnable()).slice(0, 7), { dryRun: false }));
    expect(records.map(({ state }) => state)).toEqual(['done', 'done', 'done', 'done', 'done', 'made', 'made']);
    expect(await assignments()).toHaveLength(2);
  });
});

describe('checks', () => {
  it('report what prevents it', async () => {
    const cluster = await fixture.finish(readCluster(arm, context.name));
    const failed = (properties: object): readonly string[] =>
      checkCluster({ ...cluster, properties: { ...cluster.properties, ...properties } }, 'self-hosted')
        .filter(({ state }) => state !== 'ok')
        .map(({ name }) => name);
    expect(failed({})).toEqual([]);
    expect(
      failed({ networkProfile: { networkPlugin: 'kubenet', networkPolicy: 'calico', ipFamilies: ['IPv4', 'IPv6'] } }),
    ).toEqual(['network plugin', 'network policy', 'address families']);
    expect(failed({ nodeProvisioningProfile: { mode: 'Auto' }, servicePrincipalProfile: { clientId: 'x' } })).toEqual([
      'identity of the cluster',
      'node auto-provisioning',
    ]);
    expect(failed({ agentPoolProfiles: [{ name: 'w', osType: 'Windows', enableAutoScaling: true }] })).toEqual([
      'cluster autoscaler',
      'Windows',
      'system pool',
    ]);
  });

  it('allow a command after a failed operation, but not during one', async () => {
    const identity = (await stepsToEnable()).slice(0, 1);
    fixture.failNext('managedClusters.createOrUpdate', {
      kind: 'failLate',
      error: new ArmError(500, 'InternalOperationError', 'No.'),
    });
    await expect(fixture.finish(runSteps(identity, { dryRun: false }))).rejects.toThrow('failed: No.');
    const found = (cluster: ManagedCluster): readonly string[] =>
      checkCluster(cluster, 'self-hosted')
        .filter(({ state }) => state !== 'ok')
        .map(({ state, name }) => `${state} ${name}`);
    const cluster = await fixture.finish(readCluster(arm, context.name));
    expect(found(cluster)).toEqual(['warning last operation']);
    const busy = { ...cluster, properties: { ...cluster.properties, provisioningState: 'Updating' } };
    expect(found(busy)).toEqual(['error provisioning state']);
    await fixture.finish(runSteps(identity, { dryRun: false }));
  });

  it('are preceded by a wait for what a command that was killed has begun', async () => {
    const cluster = await fixture.finish(readCluster(arm, context.name));
    const { rest } = fixture.clients();
    await rest.begin({
      method: 'PUT',
      path: cluster.id,
      apiVersion: '2025-05-01',
      body: { ...cluster, tags: { a: 'b' } },
    });
    const waited: string[] = [];
    const { clock } = fixture;
    const onWait = (what: string, state: string): number => waited.push(`${what} is ${state}`);
    await fixture.finish(settle({ arm, clock, name: context.name, timeout: 600_000, onWait }));
    expect(waited).toEqual(['the cluster is Updating']);
    expect((await fixture.finish(readCluster(arm, context.name))).properties.provisioningState).toBe('Succeeded');
  });

  it('refuse for node auto-provisioning what AKS would refuse', async () => {
    const cluster = await fixture.finish(readCluster(arm, context.name));
    const refused = (properties: object, sideBySide = false): readonly string[] =>
      checkCluster({ ...cluster, properties: { ...cluster.properties, ...properties } }, 'managed', { sideBySide })
        .filter(({ state }) => state === 'error')
        .map(({ name }) => name);
    const scaled = { agentPoolProfiles: [{ name: 'a', mode: 'System', count: 1, enableAutoScaling: true }] };
    expect(refused({})).toEqual([]);
    expect(refused(scaled)).toEqual(['cluster autoscaler']);
    expect(refused(scaled, true)).toEqual([]);
    expect(refused({ agentPoolProfiles: [{ name: 'w', osType: 'Windows' }] })).toEqual(['Windows']);
    expect(refused({ publicNetworkAccess: 'Disabled' })).toEqual(['public network access']);
    expect(refused({ apiServerAccessProfile: { privateDNSZone: '/privateDnsZones/mine' } })).toEqual([
      'private DNS zone',
    ]);
    expect(await fixture.finish(allowsSideBySide(arm, context.name))).toBe(false);
  });
});

describe('disabling', () => {
  const options = () => ({
    drain: true,
    keepIdentity: false,
    objects: renderChart(CHART, { image: { repository: 'any' } }, RELEASE),
    timeout: 10_000,
  });

  it('closes and drains pools, waits for nodes, and removes what enabling made, but no pools', async () => {
    await enable();
    const node = { metadata: { name: 'n1', labels: { 'karpenter.sh/nodepool': 'default' } }, spec: {} };
    await fixture.kube.create(Kinds.Node, node);
    const progress: string[][] = [];
    const steps = disableSteps(context, { ...options(), onProgress: (nodes) => progress.push([...nodes]) });
    await expect(fixture.finish(runSteps(steps, { dryRun: false }))).rejects.toThrow('1 node is left after 10 s: n1');
    expect(progress).toEqual([['n1']]);
    const pools = (await fixture.kube.list(Kinds.NodePool)).items;
    expect(pools.map(({ spec }) => [spec.limits?.['cpu'], spec.template.spec.taints?.at(-1)?.key])).toEqual([
      ['0', 'karpenter.azure.com/disable'],
      ['0', 'karpenter.azure.com/disable'],
    ]);
    await fixture.kube.delete(Kinds.Node, { name: 'n1' });
    const records = await fixture.finish(runSteps(disableSteps(context, options()), { dryRun: false }));
    expect(records.map(({ step, state }) => `${state} ${step}`)).toEqual([
      'done limits',
      'done taint',
      'done drain',
      'done empty',
      'done manual',
      'made nodewright',
      'made identity',
    ]);
    expect(await assignments()).toEqual([]);
    expect((await fixture.kube.list(Kinds.Deployment)).items).toEqual([]);
    expect(await fixture.finish(aksStatus(context))).toMatchObject({
      mode: 'off',
      pools: [{ name: 'default' }, { name: 'system-surge' }],
    });
  });

  it('is reverted by enabling again: pools get back their limits and taints', async () => {
    await enable();
    await fixture.kube.patch(
      Kinds.NodePool,
      { name: 'default' },
      { type: 'merge', body: { spec: { limits: { memory: '1Ti' } } } },
    );
    const specs = async () => (await fixture.kube.list(Kinds.NodePool)).items.map(({ spec }) => spec);
    const before = await specs();
    await fixture.finish(runSteps(disableSteps(context, options()), { dryRun: false }));
    expect(await specs()).not.toEqual(before);
    await enable();
    expect(await specs()).toEqual(before);
  });

  it('leaves what another cluster of the resource group needs', async () => {
    await enable();
    const other = { ...context.name, name: 'other' };
    const credential = { issuer: 'https://issuer.example/', subject: 'system:serviceaccount:kube-system:nodewright' };
    await fixture.finish(
      arm.put(federationId(other), '2023-01-31', { properties: { ...credential, audiences: ['a'] } }),
    );
    await fixture.finish(runSteps(disableSteps(context, options()), { dryRun: false }));
    expect(await fixture.finish(readIdentity(arm, context.name))).toBeDefined();
    expect(await fixture.finish(arm.get(federationId(context.name), '2023-01-31'))).toBeUndefined();
    expect((await assignments()).map(({ properties }) => properties.scope)).toEqual([
      `/subscriptions/${fixture.arm.subscriptionId}`,
    ]);
    expect(statesOf(await fixture.finish(runSteps(disableSteps(context, options()), { dryRun: false })))).toEqual([
      'done',
    ]);
    await fixture.finish(arm.remove(federationId(other), '2023-01-31'));
    await fixture.finish(runSteps(disableSteps(context, options()), { dryRun: false }));
    expect(await fixture.finish(readIdentity(arm, context.name))).toBeUndefined();
  });

  it('adds fixed nodes for the pods when asked', async () => {
    const fixedPool = { name: 'fixed', count: 2, vmSize: 'Standard_D4s_v5' };
    await fixture.finish(runSteps(disableSteps(context, { ...options(), fixedPool }), { dryRun: false }));
    const { properties } = await fixture.finish(readCluster(arm, context.name));
    expect(properties.agentPoolProfiles).toEqual(
      expect.arrayContaining([expect.objectContaining({ name: 'fixed', count: 2 })]),
    );
  });
});
