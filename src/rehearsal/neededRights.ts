/** Requests of the controller to the API server by resource, and so the rights that its account needs. */
import type { ResourceAccess } from '../kube/accessReviews.ts';

/** What fails without a right; `core`: everything. */
type Purpose = 'core' | 'placement hints' | 'node overlays' | 'capacity buffers' | 'dynamic resources' | 'LocalDNS';

export interface NeededRight extends ResourceAccess {
  readonly purpose: Purpose;
}

export type Provider = 'azure' | 'kwok';

const READ = ['get', 'list', 'watch'];

function rights(
  group: string,
  resources: readonly string[],
  verbs: readonly string[],
  purpose: Purpose = 'core',
): readonly NeededRight[] {
  return resources.flatMap((path) => {
    const [resource = '', subresource] = path.split('/');
    return verbs.map((verb) => ({ group, resource, ...(subresource && { subresource }), verb, purpose }));
  });
}

const EVERYWHERE: readonly NeededRight[] = [
  ...rights(
    '',
    [
      'pods',
      'nodes',
      'namespaces',
      'limitranges',
      'persistentvolumes',
      'persistentvolumeclaims',
      'services',
      'replicationcontrollers',
    ],
    READ,
  ),
  ...rights('apps', ['daemonsets', 'deployments', 'replicasets', 'statefulsets'], READ),
  ...rights('policy', ['poddisruptionbudgets'], READ),
  ...rights('storage.k8s.io', ['storageclasses', 'csinodes', 'volumeattachments'], READ),
  ...rights('resource.k8s.io', ['resourceslices', 'resourceclaims', 'deviceclasses'], READ, 'dynamic resources'),
  ...rights('karpenter.sh', ['nodepools', 'nodeclaims'], READ),
  ...rights('karpenter.sh', ['nodeclaims'], ['create', 'delete', 'patch']),
  ...rights('karpenter.sh', ['nodepools'], ['patch']),
  ...rights('karpenter.sh', ['nodeclaims/status', 'nodepools/status'], ['patch']),
  ...rights('karpenter.sh', ['nodeclaims/finalizers', 'nodepools/finalizers'], ['update']),
  ...rights('karpenter.sh', ['nodeoverlays'], READ, 'node overlays'),
  ...rights('karpenter.sh', ['nodeoverlays/status'], ['patch'], 'node overlays'),
  ...rights('autoscaling.x-k8s.io', ['capacitybuffers'], READ, 'capacity buffers'),
  ...rights('autoscaling.x-k8s.io', ['capacitybuffers/status'], ['patch'], 'capacity buffers'),
  ...rights('', ['podtemplates'], READ, 'capacity buffers'),
  ...rights('', ['nodes'], ['patch', 'delete']),
  ...rights('', ['pods/eviction'], ['create']),
  ...rights('', ['pods'], ['delete']),
  ...rights('', ['pods/status'], ['patch'], 'placement hints'),
  ...rights('', ['events'], ['create', 'patch']),
];

const BY_PROVIDER: Readonly<Record<Provider, readonly NeededRight[]>> = {
  azure: [
    ...rights('karpenter.azure.com', ['aksnodeclasses'], [...READ, 'patch']),
    ...rights('karpenter.azure.com', ['aksnodeclasses/status'], ['patch']),
    ...rights('karpenter.azure.com', ['aksnodeclasses/finalizers'], ['update']),
    ...rights('networking.k8s.io', ['networkpolicies'], ['list'], 'LocalDNS'),
    ...rights('cilium.io', ['ciliumnetworkpolicies', 'ciliumclusterwidenetworkpolicies'], ['list'], 'LocalDNS'),
    ...rights('crd.projectcalico.org', ['networkpolicies', 'globalnetworkpolicies'], ['list'], 'LocalDNS'),
  ],
  kwok: [...rights('karpenter.kwok.sh', ['kwoknodeclasses'], READ), ...rights('', ['nodes'], ['create'])],
};

/** Cluster-wide. */
export function neededRights(providers: readonly Provider[]): readonly NeededRight[] {
  return [...EVERYWHERE, ...providers.flatMap((provider) => BY_PROVIDER[provider])];
}

const LEASE = { group: 'coordination.k8s.io', resource: 'leases', purpose: 'core' } as const;

/** In the controller's own namespace: the lease for leader election. */
export function neededRightsIn(namespace: string): readonly NeededRight[] {
  return [
    { ...LEASE, verb: 'create', namespace },
    ...['get', 'update', 'patch'].map((verb) => ({ ...LEASE, verb, namespace, name: 'karpenter-leader-election' })),
  ];
}
