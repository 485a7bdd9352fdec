/**
 * For every field of a class and every provision mode: the field changes what is sent to Azure, or the class is
 * refused. The fields come from the CRD, so that a new one cannot be forgotten.
 */
import { describe, expect, it } from 'vitest';
import { clusterAccess } from '../../test/fixtures/local/clusterAccess.ts';
import { renderCrds } from '../api/crds.ts';
import type { AksNodeClass, AksNodeClassSpec } from '../api/kinds/aksNodeClass.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import { bundledInstanceTypes } from '../catalogue/bundledCatalogue.ts';
import { machineShape } from '../catalogue/nodeSettings.ts';
import { readSku, type Sku } from '../catalogue/resourceSku.ts';
import { SkuCatalogue } from '../catalogue/skuCatalogue.ts';
import { aksMachineOf } from './aksMachineBody.ts';
import { environmentNamed, type AzureEnvironment } from './azureEnvironment.ts';
import { azureSettings, type AzureSettings } from './azureSettings.ts';
import { nodeTaints } from './bootstrap/bootstrapInput.ts';
import { bootstrappingRequest } from './bootstrap/bootstrappingRequest.ts';
import { scriptVariables } from './bootstrap/scriptVariables.ts';
import { kubeletLabels, streamsArtifacts, type Choice } from './nodeLabels.ts';
import { unsupportedField } from './unsupportedField.ts';
import { tagsOf, virtualMachineOf } from './virtualMachineBody.ts';

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly enum?: readonly string[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
}

const MODES = ['aksscriptless', 'bootstrappingclient', 'aksmachineapi'] as const;
type Mode = (typeof MODES)[number];

const GROUP = 'MC_rg_cluster_eastus';
const NETWORK = `/subscriptions/sub/resourceGroups/${GROUP}/providers/Microsoft.Network/virtualNetworks/net/subnets`;
const IMAGE =
  '/subscriptions/sub/resourceGroups/AKS-Ubuntu/providers/Microsoft.Compute/galleries/AKSUbuntu/images/2204gen2containerd/versions/1';
const TYPES = bundledInstanceTypes({ region: 'eastus' });
const CATALOGUE = new SkuCatalogue('eastus');

/** Values of fields whose schema does not say enough to make one up. */
const zone = (name: string, forwardDestination: 'VnetDNS' | 'ClusterCoreDNS') => ({
  zone: name,
  queryLogging: 'Error' as const,
  protocol: 'PreferUDP' as const,
  forwardDestination,
  forwardPolicy: 'Random' as const,
  maxConcurrent: 100,
  cacheDuration: '1h',
  serveStaleDuration: '90s',
  serveStale: 'Immediate' as const,
});
const overrides = [zone('.', 'VnetDNS'), zone('cluster.local', 'ClusterCoreDNS')];
const LOCAL_DNS = { mode: 'Required' as const, vnetDNSOverrides: overrides, kubeDNSOverrides: overrides };
const VALUES: Readonly<Record<string, unknown>> = {
  vnetSubnetID: `${NETWORK}/other`,
  fipsMode: 'FIPS',
  maxPods: 42,
  tags: { team: 'a' },
  'kubelet.allowedUnsafeSysctls': ['kernel.msg*'],
  'kubelet.containerLogMaxSize': '70Mi',
  'kubelet.cpuCFSQuotaPeriod': '200ms',
  'kubelet.podPidsLimit': 4096,
  'linuxOSConfig.swapFileSize': '1500Mi',
  'linuxOSConfig.sysctls.netIPv4IPLocalPortRange': '1024 65000',
  localDNS: LOCAL_DNS,
};

/** Paths of the fields that hold values; LocalDNS is one, as its parts are required together. */
function leaves(schema: Schema, path = ''): readonly (readonly [path: string, schema: Schema])[] {
  const { properties } = schema;
  if (properties === undefined || path === 'localDNS') return [[path, schema]];
  return Object.entries(properties).flatMap(([name, inner]) => leaves(inner, path === '' ? name : `${path}.${name}`));
}

function specSchema(): Schema {
  const crd = renderCrds().find(({ metadata }) => metadata.name === 'aksnodeclasses.karpenter.azure.com');
  const { versions } = (crd as unknown as { spec: { versions: { schema: { openAPIV3Schema: Schema } }[] } }).spec;
  const spec = versions[0]?.schema.openAPIV3Schema.properties?.['spec'];
  if (spec === undefined) throw new Error('The CRD has no schema for the spec.');
  return spec;
}

/** A value different from the default. */
function otherValue(path: string, schema: Schema): unknown {
  if (path in VALUES) return VALUES[path];
  if (schema.enum !== undefined) return schema.enum.findLast((each) => each !== schema.default && each !== 'Ubuntu');
  if (schema.type === 'boolean') return schema.default !== true;
  if (schema.type === 'integer') return schema.maximum ?? (schema.minimum ?? 0) + 7;
  throw new Error(`Say in VALUES what ${path} can be.`);
}

function withValue(path: string, value: unknown): AksNodeClassSpec {
  const [last = '', ...parents] = path.split('.').toReversed();
  const nested = parents.reduce<unknown>((inner, name) => ({ [name]: inner }), { [last]: value });
  return { imageFamily: 'Ubuntu', osDiskSizeGB: 128, ...(nested as Partial<AksNodeClassSpec>) };
}

function settingsOf(provisionMode: Mode): AzureSettings {
  return azureSettings({
    environment: environmentNamed('AzurePublicCloud') as AzureEnvironment,
    subscriptionId: 'sub',
    tenantId: 'tenant',
    location: 'eastus',
    nodeResourceGroup: GROUP,
    clusterName: 'cluster',
    clusterEndpoint: 'https://cluster.hcp.eastus.azmk8s.io:443',
    vnetSubnetId: `${NETWORK}/nodes`,
    provisionMode,
    ...clusterAccess,
  });
}

function skuNamed(name: string): Sku {
  const sku = readSku(CATALOGUE.find(name)?.sku ?? {}, 'eastus');
  if (sku === undefined) throw new Error(`There is no ${name}.`);
  return sku;
}

/** Everything that a launch sends to Azure. */
function sent(mode: Mode, nodeClass: AksNodeClass, size: string): string {
  const settings = settingsOf(mode);
  const sku = skuNamed(size);
  const type = TYPES.find(({ name }) => name === size);
  const offering = type?.offerings[0];
  if (type === undefined || offering === undefined) throw new Error(`There is no ${size}.`);
  const claim: NodeClaim = {
    metadata: { name: 'pool-1', labels: { 'karpenter.sh/nodepool': 'pool' } },
    spec: {
      nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' },
      requirements: [],
      expireAfter: 'Never',
    },
  };
  const choice: Choice = { claim, nodeClass, type, offering, kubernetesVersion: '1.33.5' };
  const shape = machineShape(sku, nodeClass, { ...settings, networking: settings });
  const common = { nodeClass, sku, osDiskSizeGB: shape.osDiskSizeGB, imageId: IMAGE };
  if (mode === 'aksmachineapi') return JSON.stringify(aksMachineOf({ ...common, choice, settings }));
  const input = {
    settings,
    instanceType: sku.name,
    shape,
    architecture: sku.architecture ?? 'amd64',
    spec: nodeClass.spec,
    subnetId: nodeClass.spec?.vnetSubnetID ?? settings.vnetSubnetId,
    securityGroup: { id: 'nsg', name: 'aks-agentpool-12345678-nsg', clusterId: '12345678' },
    kubernetesVersion: '1.33.5',
    labels: kubeletLabels(choice, settings),
    taints: nodeTaints(claim),
  };
  const tags = tagsOf(claim, nodeClass, settings);
  const artifactStreaming = streamsArtifacts(nodeClass, type);
  const isEphemeral = sku.ephemeralDisk !== undefined && shape.osDiskSizeGB <= sku.ephemeralDisk.sizeGB;
  return JSON.stringify([
    mode === 'aksscriptless'
      ? scriptVariables(input)
      : bootstrappingRequest({ ...input, nodeClass, imageId: IMAGE, ephemeralDisk: isEphemeral, artifactStreaming }),
    virtualMachineOf({
      ...common,
      name: 'aks-pool-1',
      settings,
      offering,
      customData: '',
      ultraSsd: false,
      tags,
      interfaceId: 'nic',
    }),
  ]);
}

const FIELDS = leaves(specSchema()).map(([path, schema]) => ({ path, value: otherValue(path, schema) }));

describe.each(MODES)('in mode %s', (mode) => {
  it.each(FIELDS)('$path: $value has an effect, or the class is refused', ({ path, value }) => {
    const size = path.startsWith('gpu') ? 'Standard_NC24ads_A100_v4' : 'Standard_D4s_v3';
    const status = { localDNSState: path === 'localDNS' ? ('Enabled' as const) : ('Disabled' as const) };
    const nodeClass: AksNodeClass = { metadata: { name: 'default' }, spec: withValue(path, value), status };
    const plain: AksNodeClass = { ...nodeClass, spec: { imageFamily: 'Ubuntu', osDiskSizeGB: 128 } };
    const isRefused = unsupportedField(nodeClass, settingsOf(mode)) !== undefined;
    expect(isRefused || sent(mode, nodeClass, size) !== sent(mode, plain, size)).toBe(true);
  });
});

describe('the fields of a class', () => {
  it('are all covered', () => {
    expect(FIELDS.length).toBeGreaterThan(50);
  });
});
