import {
  createDefaultHttpClient,
  RestError,
  type PipelineRequest,
  type PipelineResponse,
} from '@azure/core-rest-pipeline';
import { afterEach, describe, expect, it } from 'vitest';
import { kubeletDefaults } from '../../test/fixtures/azure/kubeletDefaults.ts';
import { AzureFixture, launchedClaim } from '../../test/fixtures/azure/azureFixture.ts';
import { Kinds } from '../api/kinds.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import { Annotations, Labels, ManagedTags } from '../api/labels.ts';
import { InstanceNotFoundError, LaunchError } from '../cloud/errors.ts';
import { ArmError } from '../local/arm/armError.ts';
import { bootInstance, bootProblem } from '../local/kubelet/bootInstance.ts';
import type { AzureCloudProviderOptions } from './createAzureCloudProvider.ts';

const SIG = '11111111-1111-1111-1111-111111111111';
const D2S: NodeClaim['spec']['requirements'] = [
  { key: Labels.instanceType, operator: 'In', values: ['Standard_D2s_v3'] },
];
const MACHINES: Partial<AzureCloudProviderOptions> = {
  provisionMode: 'aksmachineapi',
  aksMachinesPoolName: 'aksmanagedap',
  useSig: true,
  sigSubscriptionId: SIG,
};

let fixture: AzureFixture;
afterEach(() => fixture.close());

describe('mode bootstrappingclient', () => {
  async function start(more: Partial<AzureCloudProviderOptions> = {}): Promise<void> {
    fixture = await AzureFixture.start({ provisionMode: 'bootstrappingclient', ...more });
    await fixture.restart({
      provisionMode: 'bootstrappingclient',
      nodeBootstrappingServerUrl: `${fixture.arm.endpoint}/bootstrapping`,
      kubeletIdentityClientId: '61f71907-753f-4802-a901-47361c3664f2',
      vnetGuid: 'a519e60a-cac0-40b2-b883-084477fe6f5c',
      ...more,
    });
  }

  it('asks the server for the scripts, and runs its command as an extension', async () => {
    await start();
    await fixture.makeNodeClass('default', { imageFamily: 'Ubuntu2204' });
    await fixture.launch(fixture.claimNamed('pool-000ab', D2S));
    const [request] = fixture.callsOf('nodeBootstrapping.get');
    const sent = typeof request?.body === 'string' ? (JSON.parse(request.body) as unknown) : request?.body;
    expect(sent).toMatchSnapshot();
    const [vm] = fixture.arm.virtualMachines();
    expect(vm && bootProblem(vm)).toBeUndefined();
    expect(vm && bootInstance(vm)?.taints).toEqual([{ key: 'karpenter.sh/unregistered', effect: 'NoExecute' }]);
    await fixture.clock.advance(2 * 60_000);
    const extensions = fixture.callsOf('virtualMachineExtensions.createOrUpdate').map(({ body }) => body);
    expect(extensions).toMatchObject([
      {
        properties: {
          publisher: 'Microsoft.Azure.Extensions',
          type: 'CustomScript',
          typeHandlerVersion: '2.0',
          autoUpgradeMinorVersion: true,
          protectedSettings: { commandToExecute: expect.stringContaining('abcdef.0123456789abcdef') as string },
        },
      },
      { properties: { publisher: 'Microsoft.AKS', type: 'Compute.AKS.Linux.Billing' } },
    ]);
  });

  it('carries all settings of the class to the server', async () => {
    await start();
    const common = {
      queryLogging: 'Error' as const,
      protocol: 'PreferUDP' as const,
      forwardPolicy: 'Random' as const,
      maxConcurrent: 100,
      cacheDuration: '1h30m',
      serveStaleDuration: '90s',
      serveStale: 'Immediate' as const,
    };
    const overrides = [
      { ...common, zone: '.', forwardDestination: 'VnetDNS' as const },
      { ...common, zone: 'cluster.local', forwardDestination: 'ClusterCoreDNS' as const },
    ];
    await fixture.makeNodeClass('default', {
      imageFamily: 'AzureLinux',
      maxPods: 42,
      security: { encryptionAtHost: true, trustedLaunch: { vtpm: true, secureBoot: false } },
      kubelet: {
        cpuManagerPolicy: 'none',
        topologyManagerPolicy: 'none',
        cpuCFSQuota: true,
        cpuCFSQuotaPeriod: '0s',
        containerLogMaxFiles: 5,
        containerLogMaxSize: '100M',
        podPidsLimit: 2 ** 40,
        failSwapOn: false,
      },
      linuxOSConfig: {
        swapFileSize: '1500Mi',
        sysctls: { netIPv4TCPKeepaliveIntvl: 30, netIPv4IPLocalPortRange: '1024 65000' },
      },
      localDNS: { mode: 'Required', vnetDNSOverrides: overrides, kubeDNSOverrides: overrides },
    });
    const cpus = { key: Labels.skuCpu, operator: 'Gt' as const, values: ['3'] };
    await fixture.launch(fixture.claimNamed('pool-000ab', [cpus]));
    const [request] = fixture.callsOf('nodeBootstrapping.get');
    const sent = (typeof request?.body === 'string' ? JSON.parse(request.body) : request?.body) as {
      provisionProfile: Record<string, unknown>;
    };
    const { customNodeLabels: _labels, vnetSubnetID: _subnet, ...profile } = sent.provisionProfile;
    expect(profile).toMatchSnapshot();
  });

  it('boots a kubelet with another CPU quota period', async () => {
    await start();
    fixture.version = '1.33.5';
    await fixture.makeNodeClass('default', { kubelet: { ...kubeletDefaults, cpuCFSQuotaPeriod: '200ms' } });
    await fixture.launch(fixture.claimNamed('pool-1', D2S));
    expect(fixture.arm.virtualMachines().map((vm) => bootProblem(vm))).toEqual([undefined]);
  });

  it('reports a refusal of the server, and leaves nothing', async () => {
    await start();
    await fixture.makeNodeClass('default');
    const error = new ArmError(400, 'BadProfile', 'No.');
    fixture.failNext('nodeBootstrapping.get', { kind: 'refuse', error });
    await expect(fixture.launch(fixture.claimNamed('pool-1'))).rejects.toThrow(/bootstrapping server .* answered 400/);
    expect(fixture.arm.virtualMachines()).toEqual([]);
  });
});

describe('images of the shared galleries', () => {
  it('boot with a second token, also FIPS ones', async () => {
    fixture = await AzureFixture.start();
    await fixture.restart({
      useSig: true,
      sigSubscriptionId: SIG,
      sigAccessTokenServerUrl: `${fixture.arm.endpoint}/sig/token`,
    });
    const ready = await fixture.makeNodeClass('default', { fipsMode: 'FIPS' });
    expect(ready.status?.images?.map(({ id }) => id)).toEqual([
      `/subscriptions/${SIG}/resourceGroups/AKS-Ubuntu/providers/Microsoft.Compute/galleries/AKSUbuntu/images/2004gen2fipscontainerd/versions/202610.15.0`,
      `/subscriptions/${SIG}/resourceGroups/AKS-Ubuntu/providers/Microsoft.Compute/galleries/AKSUbuntu/images/2004fipscontainerd/versions/202610.15.0`,
    ]);
    const instance = await fixture.launch(fixture.claimNamed('pool-1', D2S));
    expect(instance.imageID).toContain('2004gen2fipscontainerd');
    expect(fixture.callsOf('sharedImages.token')).toHaveLength(1);
    await fixture.launch(fixture.claimNamed('pool-2', D2S));
    expect(fixture.callsOf('sharedImages.token')).toHaveLength(1);
  });
});

describe.each(['aksmachineapi', 'aksmachineapiheaderbatch'] as const)('mode %s', (provisionMode) => {
  const options = { ...MACHINES, provisionMode };
  const machineBodies = (): readonly unknown[] => fixture.callsOf('machines.createOrUpdate').map(({ body }) => body);

  async function start(more: Partial<AzureCloudProviderOptions> = {}): Promise<void> {
    fixture = await AzureFixture.start({ ...options, ...more });
    await fixture.makeNodeClass('default', { imageFamily: 'Ubuntu2204' });
  }

  it('creates an AKS machine that AKS boots, and finds it again', async () => {
    await start();
    const claim = fixture.claimNamed('pool-000ab', D2S);
    const instance = await fixture.launch(claim);
    expect(machineBodies()).toMatchSnapshot();
    const machineId = `/subscriptions/${fixture.arm.subscriptionId}/resourceGroups/local/providers/Microsoft.ContainerService/managedClusters/local/agentPools/aksmanagedap/machines/pool-000ab`;
    expect(instance).toMatchObject({
      claimName: 'pool-000ab',
      providerID: expect.stringMatching(/\/virtualMachines\/aks-aksmanagedap-pool-000ab-\d{8}-vm$/) as string,
      imageID: 'AKSUbuntu-2204gen2containerd-202610.15.0',
      annotations: { [Annotations.aksMachineResourceId]: machineId },
      labels: { [Labels.instanceType]: 'Standard_D2s_v3', [Labels.zone]: 'eastus-1' },
    });
    const [vm] = fixture.arm.virtualMachines();
    expect(vm && bootInstance(vm)).toMatchObject({
      providerID: instance.providerID,
      labels: { [Labels.nodePool]: 'pool' },
      taints: [{ key: 'karpenter.sh/unregistered', effect: 'NoExecute' }],
    });
    expect(await fixture.finish(fixture.cloud.get(instance.providerID))).toMatchObject({ claimName: 'pool-000ab' });
    await fixture.clock.advance(60_000);
    expect((await fixture.finish(fixture.cloud.list())).map(({ claimName }) => claimName)).toEqual(['pool-000ab']);
    await fixture.restart();
    const again = await fixture.launch(claim);
    expect(again.providerID).toBe(instance.providerID);
    expect(machineBodies()).toHaveLength(1);
  });

  it('removes it through AKS, whether or not its claim is complete', async () => {
    await start();
    const [one, two] = [fixture.claimNamed('pool-1', D2S), fixture.claimNamed('pool-2', D2S)];
    const first = await fixture.launch(one);
    const second = await fixture.launch(two);
    const gone = async (claim: NodeClaim): Promise<void> => {
      await fixture.finish(fixture.cloud.delete(claim));
      await fixture.clock.advance(60_000);
      await expect(fixture.finish(fixture.cloud.delete(claim))).rejects.toBeInstanceOf(InstanceNotFoundError);
    };
    await gone(launchedClaim(one, first));
    await gone({ ...two, status: { providerID: second.providerID } });
    expect(fixture.arm.virtualMachines()).toEqual([]);
    expect(fixture.callsOf('virtualMachines.delete')).toEqual([]);
    expect(await fixture.finish(fixture.cloud.list())).toEqual([]);
  });

  it('uses compute’s error behind AKS, and tries another offering', async () => {
    await start();
    const error = new ArmError(409, 'ZonalAllocationFailed', 'No room in the zone.');
    fixture.failNext('virtualMachines.createOrUpdate', { kind: 'refuse', error });
    const anyZone = fixture.claimNamed('pool-1', D2S);
    const [, ...others] = anyZone.spec.requirements;
    const claim = { ...anyZone, spec: { ...anyZone.spec, requirements: others } };
    const instance = await fixture.launch(claim);
    const zones = machineBodies().map((body) => (body as { zones?: readonly string[] }).zones);
    expect(machineBodies().length).toBeGreaterThan(1);
    await fixture.clock.advance(60_000);
    expect(fixture.arm.virtualMachines()).toMatchObject([{ provisioningState: 'Succeeded' }]);
    expect(instance.labels[Labels.zone]).not.toBe(`eastus-${zones[0]?.[0] ?? ''}`);
  });

  it('reports to the claim when a machine fails after AKS has accepted it', async () => {
    await start();
    const error = new ArmError(409, 'SkuNotAvailable', 'Sold out.');
    fixture.failNext('virtualMachines.createOrUpdate', { kind: 'failLate', error });
    const failures: Error[] = [];
    await fixture.launch(fixture.claimNamed('pool-1', D2S), (failure) => failures.push(failure));
    await fixture.clock.advance(3 * 60_000);
    expect(failures).toMatchObject([{ reason: 'SKUNotAvailable' }]);
    expect(await fixture.finish(fixture.cloud.list())).toEqual([]);
  });

  it.each<[string, Partial<Record<'In' | 'NotIn', string[]>>, string]>([
    ['a requirement', { In: ['system'] }, 'System'],
    ['requirements that leave only it', { In: ['system', 'user'], NotIn: ['user'] }, 'System'],
    ['a requirement against its label', { In: ['user'] }, 'User'],
  ])('asks for a system node by %s', async (_name, wanted, mode) => {
    await start();
    const terms = Object.entries(wanted).map(([operator, values]) => ({
      key: Labels.aksMode,
      operator: operator as 'In' | 'NotIn',
      values,
    }));
    const claim = fixture.claimNamed('pool-1', [...D2S, ...terms]);
    const labels = { ...claim.metadata.labels, ...(mode === 'User' ? { [Labels.aksMode]: 'system' } : {}) };
    await fixture.launch({ ...claim, metadata: { ...claim.metadata, labels } });
    expect(machineBodies()).toMatchObject([{ properties: { mode } }]);
  });

  it('gives two claims with the same shortened name separate machines', async () => {
    await start();
    const long = 'a'.repeat(60);
    await fixture.launch(fixture.claimNamed(`${long}b-12345`, D2S));
    await fixture.launch(fixture.claimNamed(`${long}c-12345`, D2S));
    const names = fixture.arm.virtualMachines().map(({ tags }) => tags[ManagedTags.machineNodeClaim]);
    expect(new Set(names)).toEqual(new Set([`${long}b-12345`, `${long}c-12345`]));
  });

  it('refuses images for which AKS has no name', async () => {
    await start({ useSig: false });
    await expect(fixture.launch(fixture.claimNamed('pool-1', D2S))).rejects.toBeInstanceOf(LaunchError);
  });
});

describe('batches of AKS machines', () => {
  it('create what differs in name, zone and tags with one request, never more than fifty', async () => {
    fixture = await AzureFixture.start(
      { ...MACHINES, provisionMode: 'aksmachineapiheaderbatch' },
      { throttling: 'none' },
    );
    await fixture.makeNodeClass('default', { imageFamily: 'Ubuntu2204' });
    const claims = Array.from({ length: 120 }, (_, index) => {
      const claim = fixture.claimNamed(`pool-${index}`, D2S);
      const zone = { key: Labels.zone, operator: 'In' as const, values: [`eastus-${(index % 3) + 1}`] };
      return { ...claim, spec: { ...claim.spec, requirements: [zone, ...claim.spec.requirements.slice(1)] } };
    });
    const nodeClass = await fixture.kube.get(Kinds.AKSNodeClass, { name: 'default' });
    await fixture.finish(Promise.all(claims.map((claim) => fixture.cloud.create({ claim, nodeClass }))));
    expect(fixture.callsOf('machines.createOrUpdate')).toHaveLength(3);
    expect(new Set(fixture.arm.virtualMachines().map(({ zone }) => zone))).toEqual(new Set(['1', '2', '3']));
    await fixture.clock.advance(60_000);
    const listed = await fixture.finish(fixture.cloud.list());
    expect(new Set(listed.map(({ claimName }) => claimName))).toEqual(
      new Set(claims.map(({ metadata }) => metadata.name)),
    );
  });
});

describe('a batch of AKS machines', () => {
  type Answer = (request: PipelineRequest, send: () => Promise<PipelineResponse>) => Promise<PipelineResponse>;
  const names = ['pool-1', 'pool-2', 'pool-3'];

  /** Every batch passes through `between` on its way to Azure. */
  async function startBehind(between: Answer, tags: Readonly<Record<string, string>> = {}): Promise<void> {
    const options: Partial<AzureCloudProviderOptions> = { ...MACHINES, provisionMode: 'aksmachineapiheaderbatch' };
    fixture = await AzureFixture.start(options, { throttling: 'none' });
    const network = createDefaultHttpClient();
    const sendRequest = (request: PipelineRequest): Promise<PipelineResponse> => {
      const send = (): Promise<PipelineResponse> => network.sendRequest(request);
      return request.headers.has('BatchPutMachine') ? between(request, send) : send();
    };
    await fixture.restart({ ...options, httpClient: { sendRequest } });
    await fixture.makeNodeClass('default', { imageFamily: 'Ubuntu2204', tags });
  }

  async function launchAll(claims: readonly string[]): Promise<Record<string, string>> {
    const nodeClass = await fixture.kube.get(Kinds.AKSNodeClass, { name: 'default' });
    const launches = claims.map((name) => fixture.cloud.create({ claim: fixture.claimNamed(name, D2S), nodeClass }));
    const settled = await fixture.finish(Promise.allSettled(launches));
    await fixture.clock.advance(60_000);
    const outcome = (one: (typeof settled)[number] | undefined): string =>
      one?.status === 'fulfilled' ? 'made' : String(one?.reason);
    return Object.fromEntries(claims.map((name, index): [string, string] => [name, outcome(settled[index])]));
  }

  const made = (): readonly (string | undefined)[] =>
    fixture.arm.virtualMachines().map(({ tags }) => tags[ManagedTags.machineNodeClaim]);

  it('in which AKS could not create one machine is not sent again, and the others stay', async () => {
    let requests = 0;
    await startBehind(async (request, send) => {
      requests += 1;
      const { batchMachines } = JSON.parse(request.headers.get('BatchPutMachine') ?? '') as {
        batchMachines: readonly { machineName: string }[];
      };
      const rest = batchMachines.filter(({ machineName }) => machineName !== 'pool-2');
      request.headers.set('BatchPutMachine', JSON.stringify({ batchMachines: rest }));
      const response = await send();
      const details = [{ code: 'InternalOperationError', message: 'broken', target: 'pool-2' }];
      const body = { code: 'BatchMachineInternalServerError', message: JSON.stringify({ details }) };
      return { ...response, status: 500, bodyAsText: JSON.stringify(body) };
    });
    expect(await launchAll(names)).toEqual({
      'pool-1': 'made',
      'pool-2': expect.stringContaining('broken') as string,
      'pool-3': 'made',
    });
    expect(requests).toBe(1);
    expect(made()).toEqual(['pool-1', 'pool-3']);
  });

  it('whose answer was lost is used as AKS has created it', async () => {
    let requests = 0;
    await startBehind(async (request, send) => {
      requests += 1;
      const response = await send();
      if (requests > 1) return response;
      throw new RestError('socket hang up', { code: 'ECONNRESET', request });
    });
    expect(await launchAll(names)).toEqual({ 'pool-1': 'made', 'pool-2': 'made', 'pool-3': 'made' });
    expect(requests).toBe(2);
    expect(made()).toEqual(names);
    expect(fixture.callsOf('agentPools.deleteMachines')).toEqual([]);
  });

  it('carries tags of any length and in any language', async () => {
    const tags = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`Büro ${index}`, '東京'.repeat(100)]));
    await startBehind((_request, send) => send(), tags);
    const claims = Array.from({ length: 12 }, (_, index) => `pool-${index}`);
    expect(new Set(Object.values(await launchAll(claims)))).toEqual(new Set(['made']));
    expect(fixture.arm.virtualMachines()[0]?.tags).toMatchObject(tags);
  });
});

describe('AKS machines of an earlier mode', () => {
  it.each([
    ['that is told of them', { manageExistingAksMachines: true, aksMachinesPoolName: 'aksmanagedap' }],
    ['that is not', {}],
  ])('stay, are listed, and go through AKS only, in a process %s', async (_name, options) => {
    fixture = await AzureFixture.start(MACHINES);
    await fixture.makeNodeClass('default', { imageFamily: 'Ubuntu2204' });
    const claim = fixture.claimNamed('pool-1', D2S);
    const instance = await fixture.launch(claim);
    await fixture.clock.advance(60_000);
    await fixture.restart({ provisionMode: 'aksscriptless', ...options });
    const [listed] = await fixture.finish(fixture.cloud.list());
    expect(listed).toMatchObject({ claimName: 'pool-1', providerID: instance.providerID });
    expect(await fixture.finish(fixture.cloud.leftovers.remove(() => []))).toEqual([]);
    expect(fixture.arm.virtualMachines()).toHaveLength(1);
    // As garbage collection would do it for an instance whose claim is lost.
    await fixture.finish(fixture.cloud.delete({ ...claim, status: { providerID: instance.providerID } }));
    expect(fixture.callsOf('virtualMachines.delete')).toEqual([]);
    expect(fixture.callsOf('agentPools.deleteMachines')).toHaveLength(1);
    await fixture.clock.advance(60_000);
    expect(fixture.arm.virtualMachines()).toEqual([]);
  });
});
