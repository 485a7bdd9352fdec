/** Kubernetes' own kinds that folders contain besides workloads, by `group/Kind`. */
const SUFFIX = '.k8s.io';
/** Kubernetes groups without this suffix, and our own groups that a plan does not need. */
const GROUPS: ReadonlySet<string> = new Set(['apps', 'batch', 'autoscaling', 'policy', 'extensions']);
const CORE_KINDS: ReadonlySet<string> = new Set([
  'ConfigMap',
  'Endpoints',
  'Event',
  'LimitRange',
  'Node',
  'PersistentVolume',
  'PersistentVolumeClaim',
  'PodTemplate',
  'ResourceQuota',
  'Secret',
  'Service',
  'ServiceAccount',
]);

export function isBuiltIn(groupKind: string): boolean {
  const slash = groupKind.indexOf('/');
  const group = groupKind.slice(0, slash);
  if (group === '') return CORE_KINDS.has(groupKind.slice(slash + 1));
  return GROUPS.has(group) || group.endsWith(SUFFIX);
}
