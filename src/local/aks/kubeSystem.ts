/** Workloads that AKS runs in kube-system. Cilium, where the cluster uses it, replaces kube-proxy. */
import { Kinds, type DaemonSet, type Deployment, type Service } from '../../api/kinds.ts';
import { budget, manifest, type Manifest } from '../scenarios/manifests.ts';

type PodSpec = NonNullable<NonNullable<NonNullable<Deployment['spec']>['template']>['spec']>;

const NAMESPACE = 'kube-system';
const REGISTRY = 'mcr.microsoft.com/oss/v2';
/** The address that AKS gives its DNS service by default. */
const DNS_ADDRESS = '10.0.0.10';

/** Name, image and requests as AKS ships them; the exact figures change with its releases. */
type Row = readonly [name: string, image: string, cpu: string, memory: string];

const DAEMONS: readonly Row[] = [
  ['azure-cns', 'containernetworking/azure-cns:v1.6.33', '40m', '250Mi'],
  ['azure-ip-masq-agent', 'azure-ip-masq-agent:v2.6.3', '100m', '50Mi'],
  ['cilium', 'cilium/cilium:v1.17.7', '100m', '300Mi'],
  ['cloud-node-manager', 'kubernetes/azure-cloud-node-manager:v1.33.3', '50m', '50Mi'],
  ['csi-azuredisk-node', 'kubernetes-csi/azuredisk-csi:v1.33.4', '30m', '60Mi'],
  ['csi-azurefile-node', 'kubernetes-csi/azurefile-csi:v1.34.1', '30m', '60Mi'],
];

const DEPLOYMENTS: readonly (readonly [...Row, replicas: number])[] = [
  ['cilium-operator', 'cilium/operator-generic:v1.17.7', '50m', '64Mi', 2],
  ['coredns', 'kubernetes/coredns:v1.12.1', '100m', '70Mi', 2],
  ['coredns-autoscaler', 'kubernetes/autoscaler/cluster-proportional-autoscaler:v1.9.0', '20m', '10Mi', 1],
  ['konnectivity-agent', 'kubernetes/apiserver-network-proxy/agent:v0.31.4', '20m', '20Mi', 2],
  ['konnectivity-agent-autoscaler', 'kubernetes/autoscaler/cluster-proportional-autoscaler:v1.9.0', '20m', '10Mi', 1],
  ['metrics-server', 'kubernetes/metrics-server:v0.8.0', '50m', '100Mi', 2],
];

/** Deployments that AKS protects with a PodDisruptionBudget. */
const GUARDED: readonly string[] = ['coredns', 'konnectivity-agent', 'metrics-server'];

const selected = (name: string): Record<string, string> => ({ 'k8s-app': name === 'coredns' ? 'kube-dns' : name });
const labelsOf = (name: string): Record<string, string> => ({
  ...selected(name),
  'kubernetes.azure.com/managedby': 'aks',
});

function podSpec([name, image, cpu, memory]: Row, more: Omit<PodSpec, 'containers'>): PodSpec {
  const resources = { requests: { cpu, memory }, limits: { memory } };
  return { containers: [{ name, image: `${REGISTRY}/${image}`, resources }], ...more };
}

function daemonSet(row: Row): Manifest {
  const [name] = row;
  return manifest<DaemonSet>(Kinds.DaemonSet, {
    metadata: { name, namespace: NAMESPACE, labels: labelsOf(name) },
    spec: {
      selector: { matchLabels: selected(name) },
      template: {
        metadata: { labels: labelsOf(name) },
        spec: podSpec(row, {
          hostNetwork: true,
          priorityClassName: 'system-node-critical',
          nodeSelector: { 'kubernetes.io/os': 'linux' },
          tolerations: [
            { key: 'CriticalAddonsOnly', operator: 'Exists' },
            { operator: 'Exists', effect: 'NoSchedule' },
            { operator: 'Exists', effect: 'NoExecute' },
          ],
        }),
      },
    },
  });
}

const SPREAD = { maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' } as const;

function deployment([name, image, cpu, memory, replicas]: (typeof DEPLOYMENTS)[number]): Manifest {
  const selector = { matchLabels: selected(name) };
  const onSystemNodes = { key: 'kubernetes.azure.com/mode', operator: 'In', values: ['system'] };
  return manifest<Deployment>(Kinds.Deployment, {
    metadata: { name, namespace: NAMESPACE, labels: labelsOf(name) },
    spec: {
      replicas,
      selector,
      template: {
        metadata: { labels: labelsOf(name) },
        spec: podSpec([name, image, cpu, memory], {
          priorityClassName: 'system-cluster-critical',
          nodeSelector: { 'kubernetes.io/os': 'linux' },
          tolerations: [{ key: 'CriticalAddonsOnly', operator: 'Exists' }],
          affinity: {
            nodeAffinity: {
              preferredDuringSchedulingIgnoredDuringExecution: [
                { weight: 100, preference: { matchExpressions: [onSystemNodes] } },
              ],
            },
          },
          topologySpreadConstraints: [{ ...SPREAD, labelSelector: selector }],
        }),
      },
    },
  });
}

const service = (name: string, workload: string, spec: NonNullable<Service['spec']>): Manifest =>
  manifest<Service>(Kinds.Service, {
    metadata: { name, namespace: NAMESPACE, labels: labelsOf(workload) },
    spec: { selector: selected(workload), ...spec },
  });

const services: readonly Manifest[] = [
  service('kube-dns', 'coredns', {
    clusterIP: DNS_ADDRESS,
    ports: [
      { name: 'dns', port: 53, protocol: 'UDP', targetPort: 53 },
      { name: 'dns-tcp', port: 53, protocol: 'TCP', targetPort: 53 },
    ],
  }),
  service('metrics-server', 'metrics-server', { ports: [{ port: 443, protocol: 'TCP', targetPort: 4443 }] }),
];

const KUBE_PROXY: Row = ['kube-proxy', 'kubernetes/kube-proxy:v1.36.3', '100m', '64Mi'];

/** The network setting that decides which workloads run. */
export interface ClusterDataplane {
  readonly networkDataplane: string;
}

const suits =
  ({ networkDataplane }: ClusterDataplane) =>
  ([name]: readonly [string, ...unknown[]]): boolean =>
    networkDataplane === 'cilium' || !name.startsWith('cilium');

/** Returns the objects that need no node of the system pool: DaemonSets, Services and PodDisruptionBudgets. */
export function kubeSystemBase(network: ClusterDataplane): readonly Manifest[] {
  const daemons = [...DAEMONS.filter(suits(network)), ...(network.networkDataplane === 'cilium' ? [] : [KUBE_PROXY])];
  const guarded = GUARDED.map((name) =>
    budget({ name: `${name}-pdb`, namespace: NAMESPACE }, selected(name), { minAvailable: 1 }),
  );
  return [...daemons.map(daemonSet), ...services, ...guarded];
}

/** Returns the Deployments. Created before the system pool is ready, they would make nodewright buy nodes. */
export function kubeSystemDeployments(network: ClusterDataplane): readonly Manifest[] {
  return DEPLOYMENTS.filter(suits(network)).map(deployment);
}
