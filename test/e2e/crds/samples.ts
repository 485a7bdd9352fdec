/** Valid objects of every kind, rich enough that their mutations reach all fields. */

export interface Sample {
  readonly kind: string;
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly objects: readonly Readonly<Record<string, unknown>>[];
}

const nodeClassRef = { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' };
const ready = {
  type: 'Ready',
  status: 'True',
  reason: 'Ready',
  message: '',
  lastTransitionTime: '2026-01-02T03:04:05Z',
  observedGeneration: 1,
};

const nodePool = {
  spec: {
    template: {
      metadata: { labels: { team: 'web', 'example.com/tier': 'a' }, annotations: { note: 'x' } },
      spec: {
        nodeClassRef,
        expireAfter: '336h',
        terminationGracePeriod: '48h',
        taints: [{ key: 'example.com/special', value: 'yes', effect: 'NoSchedule' }],
        startupTaints: [{ key: 'example.com/starting', effect: 'NoExecute', timeAdded: '2026-01-02T03:04:05Z' }],
        requirements: [
          { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot', 'on-demand'], minValues: 2 },
          { key: 'karpenter.azure.com/sku-cpu', operator: 'Gt', values: ['3'] },
          { key: 'kubernetes.azure.com/mode', operator: 'NotIn', values: ['system'] },
          { key: 'kubernetes.io/arch', operator: 'Exists' },
        ],
      },
    },
    disruption: {
      consolidateAfter: '30s',
      consolidationPolicy: 'Balanced',
      budgets: [
        { nodes: '20%' },
        { nodes: '0', schedule: '0 9 * * 1-5', duration: '8h', reasons: ['Underutilized', 'Drifted'] },
      ],
    },
    limits: { cpu: '100', memory: '400Gi', nodes: 10 },
    weight: 10,
  },
  status: { nodes: 1, nodeClassObservedGeneration: 2, resources: { cpu: '4' }, conditions: [ready] },
};

const staticPool = {
  spec: {
    template: { spec: { nodeClassRef, requirements: [] } },
    replicas: 3,
    limits: { nodes: 5 },
  },
  status: { nodes: 0 },
};

const nodeClaim = {
  spec: {
    nodeClassRef,
    requirements: [
      { key: 'karpenter.sh/nodepool', operator: 'In', values: ['default'] },
      {
        key: 'node.kubernetes.io/instance-type',
        operator: 'In',
        values: ['Standard_D2s_v5', 'Standard_D4s_v5'],
        minValues: 1,
      },
      { key: 'karpenter.azure.com/sku-memory', operator: 'Lte', values: ['65536'] },
    ],
    resources: { requests: { cpu: '1500m', memory: '2Gi', pods: 5 } },
    taints: [{ key: 'a', value: 'b', effect: 'PreferNoSchedule' }],
    terminationGracePeriod: '1h30m',
  },
  status: {
    nodeName: 'aks-1',
    providerID: 'azure:///x',
    imageID: 'image',
    capacity: { cpu: '2' },
    allocatable: { cpu: '1900m' },
    lastPodEventTime: '2026-01-02T03:04:05Z',
    conditions: [ready, { ...ready, type: 'Launched', reason: '' }],
  },
};

const nodeOverlay = {
  spec: {
    requirements: [
      { key: 'karpenter.azure.com/sku-family', operator: 'In', values: ['D', 'E'] },
      { key: 'karpenter.sh/capacity-type', operator: 'NotIn', values: ['spot'] },
      { key: 'karpenter.azure.com/sku-cpu', operator: 'Gte', values: ['4'] },
    ],
    priceAdjustment: '-12.5%',
    capacity: { 'smarter-devices/fuse': 1, 'example.com/gpu': '2' },
    weight: 100,
  },
  status: { conditions: [ready] },
};

const zone = (name: string, forwardDestination: string) => ({
  zone: name,
  queryLogging: 'Error',
  protocol: 'PreferUDP',
  forwardDestination,
  forwardPolicy: 'Sequential',
  maxConcurrent: 1000,
  cacheDuration: '1h',
  serveStaleDuration: '1h30m',
  serveStale: 'Immediate',
});

const aksNodeClass = {
  spec: {
    vnetSubnetID:
      '/subscriptions/0000/resourceGroups/rg-1/providers/Microsoft.Network/virtualNetworks/vnet/subnets/nodes',
    osDiskSizeGB: 64,
    imageFamily: 'Ubuntu2204',
    fipsMode: 'FIPS',
    tags: { team: 'web', 'a/b': 'c' },
    kubelet: {
      cpuManagerPolicy: 'static',
      cpuCFSQuota: true,
      cpuCFSQuotaPeriod: '50ms',
      imageGCHighThresholdPercent: 85,
      imageGCLowThresholdPercent: 80,
      topologyManagerPolicy: 'best-effort',
      allowedUnsafeSysctls: ['kernel.msg*'],
      containerLogMaxSize: '20Mi',
      containerLogMaxFiles: 3,
      podPidsLimit: 100,
      failSwapOn: false,
    },
    maxPods: 110,
    security: { encryptionAtHost: true, trustedLaunch: { vtpm: true, secureBoot: false } },
    localDNS: {
      mode: 'Preferred',
      vnetDNSOverrides: [zone('.', 'VnetDNS'), zone('cluster.local', 'ClusterCoreDNS')],
      kubeDNSOverrides: [zone('.', 'ClusterCoreDNS'), zone('cluster.local', 'ClusterCoreDNS')],
    },
    gpu: { mode: 'None' },
    artifactStreaming: { enabled: true },
    linuxOSConfig: {
      swapFileSize: '1500Mi',
      transparentHugePageDefrag: 'madvise',
      transparentHugePageEnabled: 'always',
      sysctls: {
        netCoreRmemDefault: 212992,
        netCoreRmemMax: 300000,
        netCoreWmemDefault: 212992,
        netCoreWmemMax: 212992,
        netIPv4NeighDefaultGcThresh1: 128,
        netIPv4NeighDefaultGcThresh2: 512,
        netIPv4NeighDefaultGcThresh3: 1024,
        netIPv4IPLocalPortRange: '32768 60999',
        netIPv4TCPTwReuse: true,
        vmSwappiness: 10,
      },
    },
  },
  status: {
    images: [{ id: '/image', requirements: [{ key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] }] }],
    kubernetesVersion: '1.33.0',
    localDNSState: 'Enabled',
    conditions: [ready],
  },
};

const plainNodeClass = { spec: { imageFamily: 'AzureLinux', kubelet: {}, gpu: {} } };

const capacityBuffer = {
  spec: { podTemplateRef: { name: 'template' }, replicas: 3, limits: { cpu: '10' } },
  status: {
    replicas: 3,
    podTemplateRef: { name: 'template' },
    podTemplateGeneration: 1,
    provisioningStrategy: 'buffer.x-k8s.io/active-capacity',
    conditions: [ready],
  },
};

const scaledBuffer = { spec: { scalableRef: { apiGroup: 'apps', kind: 'Deployment', name: 'web' }, percentage: 20 } };

export const SAMPLES: readonly Sample[] = [
  {
    kind: 'NodePool',
    group: 'karpenter.sh',
    version: 'v1',
    plural: 'nodepools',
    namespaced: false,
    objects: [nodePool, staticPool],
  },
  {
    kind: 'NodeClaim',
    group: 'karpenter.sh',
    version: 'v1',
    plural: 'nodeclaims',
    namespaced: false,
    objects: [nodeClaim],
  },
  {
    kind: 'NodeOverlay',
    group: 'karpenter.sh',
    version: 'v1alpha1',
    plural: 'nodeoverlays',
    namespaced: false,
    objects: [nodeOverlay],
  },
  {
    kind: 'AKSNodeClass',
    group: 'karpenter.azure.com',
    version: 'v1beta1',
    plural: 'aksnodeclasses',
    namespaced: false,
    objects: [aksNodeClass, plainNodeClass],
  },
  {
    kind: 'CapacityBuffer',
    group: 'autoscaling.x-k8s.io',
    version: 'v1beta1',
    plural: 'capacitybuffers',
    namespaced: true,
    objects: [capacityBuffer, scaledBuffer],
  },
  {
    kind: 'KWOKNodeClass',
    group: 'karpenter.kwok.sh',
    version: 'v1alpha1',
    plural: 'kwoknodeclasses',
    namespaced: false,
    objects: [{ spec: { nodeRegistrationDelay: '30s' } }],
  },
];
