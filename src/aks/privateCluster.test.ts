import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AzureFixture } from '../../test/fixtures/azure/azureFixture.ts';
import type { AzureCloudProviderOptions } from '../azure/createAzureCloudProvider.ts';
import { Kinds } from '../api/kinds.ts';
import { bootInstance, bootProblem } from '../local/kubelet/bootInstance.ts';
import { ApiVersions, armPort, type ArmPort } from './armPort.ts';
import { checkCluster } from './checks.ts';
import { enableSteps } from './enable.ts';
import { RELEASE } from './installSteps.ts';
import { readCluster, type ManagedCluster } from './managedCluster.ts';
import { renderChart } from './renderChart.ts';
import { runSteps } from './step.ts';

// Definitions are compiled several times over, which takes long on a busy machine.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const CHART = join(import.meta.dirname, '../../charts/nodewright');
const ROLE = JSON.parse(readFileSync(join(CHART, 'azure-role.json'), 'utf8')) as { readonly Actions: string[] };

let fixture: AzureFixture;
let arm: ArmPort;
afterEach(() => fixture.close());

const nameOf = (name: string) => ({ subscriptionId: fixture.arm.subscriptionId, resourceGroup: 'local', name });
const idOf = (name: string): string =>
  `/subscriptions/${fixture.arm.subscriptionId}/resourceGroups/local/providers/Microsoft.ContainerService/managedClusters/${name}`;

async function put(name: string, access: object): Promise<ManagedCluster> {
  await fixture.finish(
    arm.put(idOf(name), ApiVersions.cluster, {
      location: fixture.arm.location,
      identity: { type: 'SystemAssigned' },
      properties: {
        dnsPrefix: name,
        networkProfile: { networkPlugin: 'azure', networkPluginMode: 'overlay', networkDataplane: 'cilium' },
        agentPoolProfiles: [{ name: 'system', mode: 'System', count: 1, vmSize: 'Standard_D4s_v5' }],
        apiServerAccessProfile: access,
      },
    }),
  );
  return fixture.finish(readCluster(arm, nameOf(name)));
}

beforeEach(async () => {
  fixture = await AzureFixture.start();
  arm = armPort(fixture.clients().rest, fixture.clock);
});

describe('the API server of a private cluster', () => {
  const PRIVATE = /^hidden-[0-9a-f]{8}\.[0-9a-f-]{36}\.privatelink\.eastus\.azmk8s\.io$/;
  const NONE = /^$/;
  const PUBLIC = /^hidden-[0-9a-f]{8}\.hcp\.eastus\.azmk8s\.io$/;

  it.each<[string, object, RegExp, RegExp]>([
    ['by both', { enablePrivateCluster: true }, PRIVATE, PUBLIC],
    ['by the private one', { enablePrivateCluster: true, enablePrivateClusterPublicFQDN: false }, PRIVATE, NONE],
    ['by the public one', { enablePrivateCluster: true, privateDNSZone: 'none' }, NONE, PUBLIC],
  ])('is known %s of its names, which stay', async (_which, access, hidden, open) => {
    const names = ({ properties: { privateFQDN, fqdn } }: ManagedCluster) => [privateFQDN, fqdn];
    const made = names(await put('hidden', access));
    expect(made.map((name) => name ?? '')).toEqual([expect.stringMatching(hidden), expect.stringMatching(open)]);
    expect(names(await put('hidden', access))).toEqual(made);
    await expect(put('hidden', { enablePrivateCluster: false })).rejects.toThrow(/enablePrivateCluster/);
  });
});

describe('nodes of a private cluster', () => {
  let cluster: ManagedCluster;
  beforeEach(async () => {
    cluster = await put('hidden', { enablePrivateCluster: true, enablePrivateClusterPublicFQDN: false });
  });

  const launch = async (claim: string, endpoint: string, more: Partial<AzureCloudProviderOptions> = {}) => {
    const managed = fixture.arm.managedCluster({ resourceGroup: 'local', name: 'hidden' });
    if (managed === undefined) throw new Error('there is no cluster');
    await fixture.restart({
      clusterName: 'hidden',
      clusterResourceGroup: 'local',
      nodeResourceGroup: managed.nodeResourceGroup,
      vnetSubnetId: fixture.arm.networkOf(managed).subnetId,
      clusterEndpoint: endpoint,
      ...more,
    });
    if (!(await fixture.kube.list(Kinds.AKSNodeClass)).items.length) await fixture.makeNodeClass('default');
    const { providerID } = await fixture.launch(fixture.claimNamed(claim));
    const vm = fixture.arm.virtualMachines().find(({ id }) => providerID.toLowerCase().endsWith(id.toLowerCase()));
    if (vm === undefined) throw new Error(`there is no VM ${providerID}`);
    return vm;
  };

  it('join by the private name, and not by one that their network does not resolve', async () => {
    const vm = await launch('pool-000ab', `https://${cluster.properties.privateFQDN ?? ''}:443`);
    expect(vm.resourceGroup).toBe('MC_local_hidden_eastus');
    expect(bootProblem(vm)).toBeUndefined();
    expect(bootInstance(vm)?.name).toBe('aks-pool-000ab');
    const lost = await launch('pool-000cd', 'https://hidden-12345678.hcp.eastus.azmk8s.io:443');
    expect(bootProblem(lost)).toBe('API_SERVER_NAME is wrong');
  });

  it('are told the name by the bootstrapping server too', async () => {
    const vm = await launch('pool-000ab', 'https://anything.example.com', {
      provisionMode: 'bootstrappingclient',
      nodeBootstrappingServerUrl: `${fixture.arm.endpoint}/bootstrapping`,
      kubeletIdentityClientId: '61f71907-753f-4802-a901-47361c3664f2',
    });
    expect(bootProblem(vm)).toBeUndefined();
    const script = Buffer.from(vm.customData ?? '', 'base64').toString('utf8');
    expect(script).toContain(`API_SERVER_NAME='${cluster.properties.privateFQDN ?? ''}'`);
  });

  it('get that name from the installation, and the checks have no objection', async () => {
    const { kube, clock } = fixture;
    await kube.create(Kinds.Namespace, { metadata: { name: RELEASE.Namespace } });
    const context = { arm, kube, clock, name: nameOf('hidden') };
    expect(checkCluster(cluster, 'self-hosted').filter(({ state }) => state === 'error')).toEqual([]);
    const steps = await fixture.finish(
      enableSteps(context, {
        image: { repository: 'images/nodewright', tag: '1' },
        defaultNodePools: 'Auto',
        actions: ROLE.Actions,
        renderChart: (values) => renderChart(CHART, values, RELEASE),
        timeout: 60_000,
      }),
    );
    const isInstalled = steps.findIndex(({ name }) => name === 'ready');
    await fixture.finish(runSteps(steps.slice(0, isInstalled), { dryRun: false }));
    const deployment = await kube.get(Kinds.Deployment, { name: 'nodewright', namespace: 'kube-system' });
    expect(deployment.spec?.template.spec?.containers[0]?.env).toContainEqual({
      name: 'CLUSTER_ENDPOINT',
      value: `https://${cluster.properties.privateFQDN ?? ''}:443`,
    });
  });
});
