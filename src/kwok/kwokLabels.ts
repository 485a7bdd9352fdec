/** Labels of the kwok provider, the same as in Karpenter's. */
export const KwokLabels = {
  instanceSize: 'karpenter.kwok.sh/instance-size',
  instanceFamily: 'karpenter.kwok.sh/instance-family',
  instanceCpu: 'karpenter.kwok.sh/instance-cpu',
  instanceMemory: 'karpenter.kwok.sh/instance-memory',
  /** Label and annotation by which kubelet simulators find the Node. */
  node: 'kwok.x-k8s.io/node',
  partition: 'kwok-partition',
  price: 'eks-node-viewer/instance-price',
} as const;

export const FAKE = 'fake';
export const PROVIDER_PREFIX = 'kwok://';
