/**
 * A pod as the scheduler weighs it, worked out once. In: a pod. Out: what it takes from a node, and two words: `group`
 * is the same for pods that others' selectors cannot tell apart, `shape` for pods that fit the same nodes.
 */
import type { Pod } from '../../api/kinds.ts';
import type { Resources } from '../../units/resources.ts';
import { keyOf } from '../../kube/store.ts';
import { podRequests } from './podRequests.ts';

/** Thousandths of each resource. Plain numbers: exact enough, and a hundred times faster than quantities. */
export type Amounts = Readonly<Record<string, number>>;

interface HostPort {
  readonly port: number;
  readonly protocol: string;
  readonly ip: string;
}

export interface PodInfo {
  readonly key: string;
  readonly pod: Pod;
  readonly requests: Amounts;
  readonly requested: readonly (readonly [string, number])[];
  readonly ports: readonly HostPort[];
  readonly priority: number;
  /** `namespace/name` of its persistent volume claims. */
  readonly claims: readonly string[];
  readonly group: string;
  readonly shape: string;
}

export const isTerminal = (pod: Pod): boolean => pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';

export function toAmounts(resources: Resources): Record<string, number> {
  const amounts: Record<string, number> = {};
  for (const [name, quantity] of Object.entries(resources)) amounts[name] = quantity.milliValue();
  return amounts;
}

function hostPorts(pod: Pod): HostPort[] {
  const containers = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])];
  return containers
    .flatMap(({ ports = [] }) => ports)
    .flatMap(({ hostPort, protocol = 'TCP', hostIP }) =>
      hostPort ? [{ port: hostPort, protocol, ip: hostIP || '0.0.0.0' }] : [],
    );
}

/** Claims by name, and those that are made for the pod from an ephemeral volume. */
function claimsOf(pod: Pod): string[] {
  const { namespace = '', name } = pod.metadata;
  return (pod.spec?.volumes ?? []).flatMap((volume) => {
    if (volume.persistentVolumeClaim) return [`${namespace}/${volume.persistentVolumeClaim.claimName}`];
    return volume.ephemeral ? [`${namespace}/${name}-${volume.name}`] : [];
  });
}

export function podInfo(pod: Pod): PodInfo {
  const { spec, metadata } = pod;
  const requests = toAmounts(podRequests(pod));
  const ports = hostPorts(pod);
  const claims = claimsOf(pod);
  const group = JSON.stringify([
    metadata.namespace,
    metadata.labels,
    // Spread does not count pods that are on their way out.
    metadata.deletionTimestamp !== undefined,
    spec?.affinity?.podAntiAffinity,
    spec?.affinity?.podAffinity,
  ]);
  const shape = JSON.stringify([
    group,
    requests,
    spec?.nodeSelector,
    spec?.affinity?.nodeAffinity,
    spec?.tolerations,
    spec?.topologySpreadConstraints,
    spec?.priority,
    spec?.preemptionPolicy,
    ports,
    claims,
  ]);
  return {
    key: keyOf(pod),
    pod,
    requests,
    requested: Object.entries(requests).filter(([, amount]) => amount > 0),
    ports,
    priority: spec?.priority ?? 0,
    claims,
    group,
    shape,
  };
}
