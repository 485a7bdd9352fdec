/** The scheduler's data of a pod, computed once per change. */
import type { Pod } from '../../api/kinds.ts';
import { keyOf } from '../../kube/store.ts';
import { hostPortsOf, type HostPort } from '../../pods/hostPorts.ts';
import { podRequests } from '../../pods/podRequests.ts';
import type { Resources } from '../../units/resources.ts';
import { claimsOf } from '../clusterInformers.ts';

/** Thousandths of each resource, as numbers: exact enough, and a hundred times faster than quantities. */
export type Amounts = Readonly<Record<string, number>>;

export interface PodInfo {
  readonly key: string;
  readonly pod: Pod;
  readonly requests: Amounts;
  readonly requested: readonly (readonly [string, number])[];
  readonly ports: readonly HostPort[];
  readonly priority: number;
  /** `namespace/name` of its PersistentVolumeClaims. */
  readonly claims: readonly string[];
  /** Equal for pods that selectors of other pods do not distinguish. */
  readonly group: string;
  /** Equal for pods that fit the same nodes. */
  readonly shape: string;
}

export function toAmounts(resources: Resources): Record<string, number> {
  const amounts: Record<string, number> = {};
  for (const [name, quantity] of Object.entries(resources)) amounts[name] = quantity.milliValue();
  return amounts;
}

export function podInfo(pod: Pod): PodInfo {
  const { spec, metadata } = pod;
  const requests = toAmounts(podRequests(pod));
  const ports = hostPortsOf(pod);
  const claims = claimsOf(pod);
  const group = JSON.stringify([
    metadata.namespace,
    metadata.labels,
    // Topology spread does not count terminating pods.
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
