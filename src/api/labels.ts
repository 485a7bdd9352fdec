/**
 * All labels, annotations, finalizers and taints that nodewright reads or writes, and the rules for label keys that
 * users may set.
 */

export const Groups = {
  karpenter: 'karpenter.sh',
  azure: 'karpenter.azure.com',
  kwok: 'karpenter.kwok.sh',
  buffers: 'autoscaling.x-k8s.io',
  compatibility: 'compatibility.karpenter.sh',
  /** Labels in this domain belong to AKS itself. */
  aks: 'kubernetes.azure.com',
} as const;

/** Keys of node labels. */
export const Labels = {
  nodePool: 'karpenter.sh/nodepool',
  capacityType: 'karpenter.sh/capacity-type',
  registered: 'karpenter.sh/registered',
  initialized: 'karpenter.sh/initialized',
  doNotSyncTaints: 'karpenter.sh/do-not-sync-taints',

  hostname: 'kubernetes.io/hostname',
  arch: 'kubernetes.io/arch',
  os: 'kubernetes.io/os',
  zone: 'topology.kubernetes.io/zone',
  region: 'topology.kubernetes.io/region',
  instanceType: 'node.kubernetes.io/instance-type',
  windowsBuild: 'node.kubernetes.io/windows-build',
  excludeFromLoadBalancers: 'node.kubernetes.io/exclude-from-external-load-balancers',
  diskZone: 'topology.disk.csi.azure.com/zone',

  skuName: 'karpenter.azure.com/sku-name',
  skuFamily: 'karpenter.azure.com/sku-family',
  skuSeries: 'karpenter.azure.com/sku-series',
  skuVersion: 'karpenter.azure.com/sku-version',
  skuCpu: 'karpenter.azure.com/sku-cpu',
  skuMemory: 'karpenter.azure.com/sku-memory',
  skuAcceleratedNetworking: 'karpenter.azure.com/sku-networking-accelerated',
  skuPremiumStorage: 'karpenter.azure.com/sku-storage-premium-capable',
  skuEphemeralOsMaxSize: 'karpenter.azure.com/sku-storage-ephemeralos-maxsize',
  skuUltraSsd: 'karpenter.azure.com/sku-storage-ultra-ssd',
  skuGpuName: 'karpenter.azure.com/sku-gpu-name',
  skuGpuManufacturer: 'karpenter.azure.com/sku-gpu-manufacturer',
  skuGpuCount: 'karpenter.azure.com/sku-gpu-count',
  placementScope: 'karpenter.azure.com/placement-scope',
  /** Internal: part of instance-type requirements, never open to users. */
  skuHyperVGeneration: 'karpenter.azure.com/sku-hyperv-generation',
  aksNodeClass: 'karpenter.azure.com/aksnodeclass',

  aksCpu: 'kubernetes.azure.com/sku-cpu',
  aksMemory: 'kubernetes.azure.com/sku-memory',
  aksCluster: 'kubernetes.azure.com/cluster',
  aksMode: 'kubernetes.azure.com/mode',
  aksScaleSetPriority: 'kubernetes.azure.com/scalesetpriority',
  aksPriority: 'kubernetes.azure.com/priority',
  aksOsSku: 'kubernetes.azure.com/os-sku',
  aksFipsEnabled: 'kubernetes.azure.com/fips_enabled',
  aksRole: 'kubernetes.azure.com/role',
  aksKubeletIdentityClientId: 'kubernetes.azure.com/kubelet-identity-client-id',
  aksOsSkuRequested: 'kubernetes.azure.com/os-sku-requested',
  aksOsSkuEffective: 'kubernetes.azure.com/os-sku-effective',
  aksCniOverlay: 'kubernetes.azure.com/azure-cni-overlay',
  aksNetworkSubnet: 'kubernetes.azure.com/network-subnet',
  aksVnetGuid: 'kubernetes.azure.com/nodenetwork-vnetguid',
  aksPodNetworkType: 'kubernetes.azure.com/podnetwork-type',
  aksStatelessCni: 'kubernetes.azure.com/network-stateless-cni',
  aksEbpfDataplane: 'kubernetes.azure.com/ebpf-dataplane',
  aksEbpfHostRouting: 'kubernetes.azure.com/ebpf-host-routing',
  aksNetworkPolicy: 'kubernetes.azure.com/network-policy',
  aksHostedVm: 'kubernetes.azure.com/hostedvm',
  aksLocalDnsState: 'kubernetes.azure.com/localdns-state',
  aksArtifactStreaming: 'kubernetes.azure.com/artifactstreaming-enabled',
} as const;

/** Labels of old AKS node pools, outside any domain. */
export const LEGACY_AKS_LABELS = ['agentpool', 'storageprofile', 'storagetier', 'accelerator'] as const;

export const Annotations = {
  doNotDisrupt: 'karpenter.sh/do-not-disrupt',
  providerCompatibility: 'compatibility.karpenter.sh/provider',
  nodePoolHash: 'karpenter.sh/nodepool-hash',
  nodePoolHashVersion: 'karpenter.sh/nodepool-hash-version',
  terminationTimestamp: 'karpenter.sh/nodeclaim-termination-timestamp',
  minValuesRelaxed: 'karpenter.sh/nodeclaim-min-values-relaxed',
  requestedDraDrivers: 'karpenter.sh/requested-dra-drivers',
  priceOverlayApplied: 'karpenter.sh/price-overlay-applied',
  capacityOverlayApplied: 'karpenter.sh/capacity-overlay-applied',
  bufferFakePod: 'karpenter.sh/capacity-buffer-fake-pod',
  bufferName: 'karpenter.sh/capacity-buffer-name',
  bufferNamespace: 'karpenter.sh/capacity-buffer-namespace',
  podDeletionCost: 'controller.kubernetes.io/pod-deletion-cost',
  aksNodeClassHash: 'karpenter.azure.com/aksnodeclass-hash',
  aksNodeClassHashVersion: 'karpenter.azure.com/aksnodeclass-hash-version',
  inPlaceUpdateHash: 'karpenter.azure.com/in-place-update-hash',
  aksMachineResourceId: 'karpenter.azure.com/aks-machine-resource-id',
  /** Ours, on NodeClaims: the planned offerings, best first. */
  plannedOfferings: 'nodewright.dev/planned-offerings',
  /** Ours, on NodeClaims: the kinds of pods for which the node was bought, and how many of each. */
  plannedPods: 'nodewright.dev/planned-pods',
  /** Ours, on NodePools: number of zones in which drifted nodes may be replaced at once; default one. */
  driftZonesAtOnce: 'nodewright.dev/drift-zones-at-once',
  /** Ours, on replacement NodeClaims: the names of the replaced ones, and their command. */
  replaces: 'nodewright.dev/replaces',
  disruptionCommand: 'nodewright.dev/disruption-command',
  /** Ours, on NodePools and NodeClaims: `"false"` makes expiry and repair wait for budgets and replacements. */
  forcefulExpiration: 'nodewright.dev/forceful-expiration',
  /** Ours, on AKSNodeClasses: pins the node image version of new nodes. */
  imageVersion: 'nodewright.dev/image-version',
  /**
   * Ours, on AKSNodeClasses: a node image version to preview; the ledger says what pinning the class to it would do.
   */
  previewImageVersion: 'nodewright.dev/preview-image-version',
  /** Ours, on KWOKNodeClasses: maximum random delay, added to the class's own, before a Node joins. */
  registrationJitter: 'nodewright.dev/registration-jitter',
} as const;

/** Our field managers for fields that others write too. */
export const FieldManagers = { placementHints: 'nodewright-placement-hints' } as const;

export const Finalizers = {
  /** On both NodeClaims and Nodes. */
  termination: 'karpenter.sh/termination',
  nodeClassTermination: 'karpenter.azure.com/termination',
} as const;

/** Keys of ARM tags that nodewright manages; `/` is not allowed in them. */
export const ManagedTags = {
  cluster: 'karpenter.azure.com_cluster',
  nodePool: 'karpenter.sh_nodepool',
  machineNodeClaim: 'karpenter.azure.com_aksmachine_nodeclaim',
  billing: 'compute.aks.billing',
} as const;

export const CapacityTypes = { onDemand: 'on-demand', spot: 'spot', reserved: 'reserved' } as const;
export const PlacementScopes = { zonal: 'zonal', regional: 'regional' } as const;

export interface TaintName {
  readonly key: string;
  readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
}

export const Taints = {
  disrupted: { key: 'karpenter.sh/disrupted', effect: 'NoSchedule' },
  unregistered: { key: 'karpenter.sh/unregistered', effect: 'NoExecute' },
} as const satisfies Record<string, TaintName>;

/** Taints removed automatically while a node joins; matched by key and effect only. */
export const KNOWN_EPHEMERAL_TAINTS: readonly TaintName[] = [
  { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule' },
  { key: 'node.cloudprovider.kubernetes.io/uninitialized', effect: 'NoSchedule' },
  Taints.unregistered,
];

/** Any taint whose key starts with this is ephemeral too. */
export const EPHEMERAL_TAINT_PREFIX = 'readiness.k8s.io/';

export const WELL_KNOWN_RESOURCES: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage', 'pods']);

/** Labels of instance types; pods may select on them even if their NodePool does not mention them. */
export const WELL_KNOWN_LABELS: ReadonlySet<string> = new Set([
  Labels.nodePool,
  Labels.zone,
  Labels.region,
  Labels.instanceType,
  Labels.arch,
  Labels.os,
  Labels.capacityType,
  Labels.windowsBuild,
  Labels.skuName,
  Labels.skuFamily,
  Labels.skuSeries,
  Labels.skuVersion,
  Labels.skuCpu,
  Labels.skuMemory,
  Labels.skuAcceleratedNetworking,
  Labels.skuPremiumStorage,
  Labels.skuEphemeralOsMaxSize,
  Labels.skuUltraSsd,
  Labels.skuGpuName,
  Labels.skuGpuManufacturer,
  Labels.skuGpuCount,
  Labels.placementScope,
  Labels.aksCpu,
  Labels.aksMemory,
  Labels.aksCluster,
  Labels.aksMode,
  Labels.aksScaleSetPriority,
  Labels.aksPriority,
  Labels.aksOsSku,
  Labels.aksFipsEnabled,
]);

/** Users may not set keys in these domains or their subdomains, except the well-known ones. */
const RESTRICTED_LABEL_DOMAINS: readonly string[] = [Groups.azure, Groups.karpenter];

const RESTRICTED_LABELS: ReadonlySet<string> = new Set([Labels.hostname]);

/** Old or driver-specific names of the same label. */
const NORMALIZED_LABELS: ReadonlyMap<string, string> = new Map<string, string>([
  ['failure-domain.beta.kubernetes.io/zone', Labels.zone],
  ['failure-domain.beta.kubernetes.io/region', Labels.region],
  ['beta.kubernetes.io/arch', Labels.arch],
  ['beta.kubernetes.io/os', Labels.os],
  ['beta.kubernetes.io/instance-type', Labels.instanceType],
  [Labels.diskZone, Labels.zone],
]);

/** By normalized key: the disk driver uses `""` where an instance without a zone has `"0"`. */
export const NORMALIZED_LABEL_VALUES: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map([
  [Labels.zone, new Map([['', '0']])],
]);

const BOOLEAN_VALUES: ReadonlySet<string> = new Set(['true', 'false']);

/** Keys with a closed set of values on Azure, where `reserved` capacity does not exist. */
export const KNOWN_LABEL_VALUES: ReadonlyMap<string, ReadonlySet<string>> = new Map<string, ReadonlySet<string>>([
  [Labels.capacityType, new Set([CapacityTypes.onDemand, CapacityTypes.spot])],
  [Labels.skuAcceleratedNetworking, BOOLEAN_VALUES],
  [Labels.skuPremiumStorage, BOOLEAN_VALUES],
  [Labels.skuUltraSsd, BOOLEAN_VALUES],
  [Labels.skuGpuManufacturer, new Set(['nvidia', 'amd'])],
  [Labels.placementScope, new Set([PlacementScopes.zonal, PlacementScopes.regional])],
  [Labels.aksMode, new Set(['system', 'user'])],
  [Labels.aksScaleSetPriority, new Set(['regular', 'spot'])],
  [Labels.aksPriority, new Set(['regular', 'spot'])],
  [Labels.aksOsSku, new Set(['Ubuntu', 'AzureLinux'])],
  [Labels.aksFipsEnabled, new Set(['true'])],
]);

export function normalizeLabelKey(key: string): string {
  return NORMALIZED_LABELS.get(key) ?? key;
}

/** True for keys that users must not set because nodewright uses them. */
export function isRestrictedLabel(key: string): boolean {
  if (WELL_KNOWN_LABELS.has(key)) return false;
  const slash = key.indexOf('/');
  const domain = slash < 0 ? '' : key.slice(0, slash);
  return (
    RESTRICTED_LABELS.has(key) ||
    RESTRICTED_LABEL_DOMAINS.some((restricted) => domain === restricted || domain.endsWith(`.${restricted}`))
  );
}

/** The label with a node's node class; it also marks a Node as managed. */
export function nodeClassLabelKey(group: string, kind: string): string {
  return `${group}/${kind.toLowerCase()}`;
}
