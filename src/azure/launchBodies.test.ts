import { afterEach, describe, expect, it } from 'vitest';
import { AzureFixture } from '../../test/fixtures/azure/azureFixture.ts';
import type { AksNodeClassSpec } from '../api/kinds/aksNodeClass.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import { Labels } from '../api/labels.ts';
import { bootInstance } from '../local/kubelet/bootInstance.ts';
import { ArmError } from '../local/arm/armError.ts';
import type { AzureCloudProviderOptions } from './createAzureCloudProvider.ts';
import { beginOperation, finishOperation } from './operations.ts';

interface Sent {
  readonly nic: { readonly properties: { readonly ipConfigurations: readonly object[] } };
  readonly vm: { readonly properties: object };
  readonly script: string;
}

let fixture: AzureFixture;
afterEach(() => fixture.close());

const size = (name: string): NodeClaim['spec']['requirements'][number] => ({
  key: Labels.instanceType,
  operator: 'In',
  values: [name],
});

/** What one launch sends to Azure; the instance must boot from it. */
async function launched(
  spec: Partial<AksNodeClassSpec>,
  options: Partial<AzureCloudProviderOptions> = {},
  requirements: NodeClaim['spec']['requirements'] = [size('Standard_D2s_v3')],
): Promise<Sent> {
  fixture = await AzureFixture.start(options);
  await fixture.makeNodeClass('default', spec);
  await fixture.launch(fixture.claimNamed('pool-1', requirements));
  const [vm] = fixture.arm.virtualMachines();
  expect(vm && bootInstance(vm)).toBeDefined();
  return {
    nic: fixture.callsOf('networkInterfaces.createOrUpdate')[0]?.body as Sent['nic'],
    vm: fixture.callsOf('virtualMachines.createOrUpdate')[0]?.body as Sent['vm'],
    script: atob(vm?.customData ?? ''),
  };
}

describe('a launch', () => {
  it.each([
    ['overlay with Cilium', {}, 1, 'none', true],
    ['overlay', { networkDataplane: 'azure' }, 1, 'none', true],
    ['node subnet with Cilium', { networkPluginMode: '' }, 30, 'none', false],
    ['node subnet', { networkPluginMode: '', networkDataplane: '' }, 30, 'azure', false],
    ['no plugin', { networkPlugin: 'none', networkPluginMode: '', networkDataplane: '' }, 1, 'none', false],
  ] as const)('on %s', async (_name, options, addresses, plugin, overlay) => {
    const { nic, script } = await launched({}, options);
    expect(nic.properties.ipConfigurations).toHaveLength(addresses);
    expect(script).toContain(`NETWORK_PLUGIN='${plugin}'`);
    expect(script.includes('kubernetes.azure.com/azure-cni-overlay=true')).toBe(overlay);
    expect(script).toContain(`--max-pods=${addresses === 1 ? 250 : 30} `);
  });

  it('names its zone, or an empty list for an instance in no zone', async () => {
    expect((await launched({})).vm).toMatchObject({ zones: ['1'] });
    const { spec, ...claim } = fixture.claimNamed('pool-2', [
      { key: Labels.placementScope, operator: 'In', values: ['regional'] },
    ]);
    const requirements = spec.requirements.filter(({ key }) => key !== Labels.zone);
    await fixture.launch({ ...claim, spec: { ...spec, requirements } });
    expect(fixture.callsOf('virtualMachines.createOrUpdate')[1]?.body).toMatchObject({ zones: [] });
  });

  it('gives each pod of a class an address of the subnet, where pods have such', async () => {
    const { nic } = await launched({ maxPods: 12 }, { networkPluginMode: '', networkDataplane: 'azure' });
    expect(nic.properties.ipConfigurations).toHaveLength(12);
  });

  it('carries identities, admin user, SSH key, tags and the DNS address', async () => {
    const identity =
      '/subscriptions/s/resourceGroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/kubelet';
    const { vm, nic, script } = await launched(
      { tags: { 'cost/center': '7', 'karpenter.azure.com_cluster': 'stolen' } },
      {
        nodeIdentities: [identity],
        linuxAdminUsername: 'someone',
        sshPublicKey: 'ssh-ed25519 AAAA',
        additionalTags: { team: 'a' },
        dnsServiceIp: '10.1.0.10',
      },
    );
    expect(vm).toMatchObject({
      identity: { type: 'UserAssigned', userAssignedIdentities: { [identity]: {} } },
      properties: {
        osProfile: {
          adminUsername: 'someone',
          linuxConfiguration: {
            disablePasswordAuthentication: true,
            ssh: { publicKeys: [{ keyData: 'ssh-ed25519 AAAA', path: '/home/someone/.ssh/authorized_keys' }] },
          },
        },
      },
    });
    const tags = { team: 'a', cost_center: '7', 'karpenter.azure.com_cluster': 'local' };
    expect(vm).toMatchObject({ tags });
    expect(nic).toMatchObject({ tags });
    expect(script).toContain('--cluster-dns=10.1.0.10 ');
  });

  it('sets up Trusted Launch and encryption at host', async () => {
    const security = { encryptionAtHost: true, trustedLaunch: { vtpm: true, secureBoot: false } };
    const { vm } = await launched({ security, imageFamily: 'Ubuntu2204' }, {}, [size('Standard_D2s_v5')]);
    expect(vm.properties).toMatchObject({
      securityProfile: {
        encryptionAtHost: true,
        securityType: 'TrustedLaunch',
        uefiSettings: { secureBootEnabled: false, vTpmEnabled: true },
      },
      storageProfile: {
        imageReference: { communityGalleryImageId: expect.stringContaining('/2204gen2TLcontainerd/') as string },
      },
    });
  });

  it('puts the system disk on local storage where it fits', async () => {
    const { vm } = await launched({ osDiskSizeGB: 50 });
    expect(vm.properties).toMatchObject({
      storageProfile: {
        osDisk: {
          diskSizeGB: 50,
          caching: 'ReadOnly',
          diffDiskSettings: { option: 'Local', placement: 'CacheDisk' },
          deleteOption: 'Delete',
        },
      },
    });
  });

  it('encrypts the system disk with the keys of the operator', async () => {
    fixture = await AzureFixture.start();
    const diskEncryptionSetId = await fixture.makeEncryptionSet('keys');
    await fixture.restart({ diskEncryptionSetId });
    await fixture.makeNodeClass('default');
    await fixture.launch(fixture.claimNamed('pool-1', [size('Standard_D2s_v3')]));
    const [call] = fixture.callsOf('virtualMachines.createOrUpdate');
    expect(call?.body).toMatchObject({
      properties: { storageProfile: { osDisk: { managedDisk: { diskEncryptionSet: { id: diskEncryptionSetId } } } } },
    });
  });

  it('turns ultra disks on for claims that want nothing else, and says nothing of them otherwise', async () => {
    const wanted = { key: Labels.skuUltraSsd, operator: 'In' as const, values: ['true'] };
    const { vm, script } = await launched({}, {}, [size('Standard_D2s_v5'), wanted]);
    expect(vm.properties).toMatchObject({ additionalCapabilities: { ultraSSDEnabled: true } });
    expect(script).toContain('karpenter.azure.com/sku-storage-ultra-ssd=true');
    const either = { ...wanted, values: ['true', 'false'] };
    await fixture.launch(fixture.claimNamed('pool-2', [size('Standard_D2s_v5'), either]));
    const [, second] = fixture.callsOf('virtualMachines.createOrUpdate');
    expect(second?.body).not.toHaveProperty('properties.additionalCapabilities');
  });

  it('joins the subnet of the class, with the security group of the cluster where AKS does not manage the network', async () => {
    fixture = await AzureFixture.start();
    const { arm } = fixture;
    const { virtualNetworks } = fixture.clients().network;
    const network = {
      location: arm.location,
      addressSpace: { addressPrefixes: ['10.1.0.0/16'] },
      subnets: [
        { name: 'nodes', addressPrefix: '10.1.0.0/24' },
        { name: 'batch', addressPrefix: '10.1.1.0/24' },
      ],
    };
    const made = await fixture.finish(
      (async () => {
        const operation = await beginOperation(async () => ({
          poller: await virtualNetworks.beginCreateOrUpdate(arm.nodeResourceGroup, 'corp', network),
        }));
        return finishOperation(fixture.clock, operation, 'network');
      })(),
    );
    const idOf = (name: string): string => made?.subnets?.find((subnet) => subnet.name === name)?.id ?? '';
    await fixture.restart({ vnetSubnetId: idOf('nodes') });
    await fixture.makeNodeClass('default', { vnetSubnetID: idOf('batch') });
    await fixture.launch(fixture.claimNamed('pool-1'));
    const [call] = fixture.callsOf('networkInterfaces.createOrUpdate');
    expect(call?.body).toMatchObject({
      properties: {
        networkSecurityGroup: { id: expect.stringMatching(/\/aks-agentpool-\d{8}-nsg$/) as string },
        ipConfigurations: [{ properties: { subnet: { id: idOf('batch') } } }],
      },
    });
    const [vm] = fixture.arm.virtualMachines();
    const script = atob(vm?.customData ?? '');
    expect(script).toContain("SUBNET='batch'");
    expect(script).toContain("VIRTUAL_NETWORK='corp'");
    expect(script).toContain(`VIRTUAL_NETWORK_RESOURCE_GROUP='${arm.nodeResourceGroup}'`);
    expect(script).toContain('kubernetes.azure.com/network-subnet=batch');
    // In the network that AKS manages, the subnet has the group already, and takes no other subnets.
    const managed = await AzureFixture.start();
    await managed.makeNodeClass('default');
    await managed.launch(managed.claimNamed('pool-1'));
    expect(managed.callsOf('networkInterfaces.createOrUpdate')[0]?.body).not.toHaveProperty(
      'properties.networkSecurityGroup',
    );
    const foreign = await managed.makeNodeClass('other', { vnetSubnetID: `${managed.arm.network.subnetId}2` });
    expect(foreign.status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'SubnetsReady', status: 'False', reason: 'SubnetIDInvalid' }),
    );
    await managed.close();
  });

  it('boots arm64 and Azure Linux from images of their own', async () => {
    const { vm, script } = await launched({ imageFamily: 'AzureLinux' }, {}, [size('Standard_D2pds_v5')]);
    expect(vm.properties).toMatchObject({
      storageProfile: {
        imageReference: { communityGalleryImageId: expect.stringContaining('/V3gen2arm64/') as string },
      },
    });
    expect(script).toContain('azure-vnet-cni-linux-arm64');
    expect(script).toContain('kubernetes.azure.com/os-sku=AzureLinux');
  });

  it('learns of a new backend pool and tries the interface again, once', async () => {
    fixture = await AzureFixture.start();
    await fixture.makeNodeClass('default');
    await fixture.launch(fixture.claimNamed('pool-1'));
    const [first] = fixture.callsOf('networkInterfaces.createOrUpdate');
    const [pool = ''] = JSON.stringify(first?.body).match(/[^"]*\/backendAddressPools\/[^"]*/) ?? [];
    expect(pool).not.toBe('');
    const error = new ArmError(400, 'InvalidResourceReference', `Resource ${pool.toUpperCase()} was not found.`);
    fixture.failNext('networkInterfaces.createOrUpdate', { kind: 'refuse', error });
    const lists = fixture.callsOf('loadBalancers.list').length;
    await fixture.launch(fixture.claimNamed('pool-2'));
    expect(fixture.callsOf('loadBalancers.list')).toHaveLength(lists + 1);
    expect(fixture.callsOf('networkInterfaces.createOrUpdate')).toHaveLength(3);
  });

  it('tries the next zone, type and capacity type in one attempt', async () => {
    fixture = await AzureFixture.start();
    await fixture.makeNodeClass('default');
    const error = new ArmError(409, 'ZonalAllocationFailed', 'No room in the zone.');
    fixture.failNext('virtualMachines.createOrUpdate', { kind: 'refuse', error }, 3);
    const claim = fixture.claimNamed('pool-1', [{ key: Labels.skuFamily, operator: 'In', values: ['D'] }]);
    const [, ...anyZone] = claim.spec.requirements;
    const instance = await fixture.launch({ ...claim, spec: { ...claim.spec, requirements: anyZone } });
    const tried = fixture.callsOf('virtualMachines.createOrUpdate').map(({ body }) => {
      const { zones, properties } = body as {
        readonly zones?: readonly string[];
        readonly properties: { readonly hardwareProfile: { readonly vmSize: string } };
      };
      return `${properties.hardwareProfile.vmSize} ${zones?.[0] ?? '-'}`;
    });
    expect(new Set(tried).size).toBe(4);
    expect(tried[3]).toContain(instance.labels[Labels.instanceType]);
    expect(fixture.arm.virtualMachines()).toHaveLength(1);
  });
});
