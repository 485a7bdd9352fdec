import type { Pod } from '../api/kinds.ts';
import { hostPortsOf, type HostPort } from '../constraints/hostPorts.ts';
import { podRequests } from '../constraints/podRequests.ts';
import { strictPodRequirements } from '../constraints/podRequirements.ts';
import type { Requirements } from '../constraints/requirements.ts';
import { formatResources, quantityOf, type Resources } from '../units/resources.ts';

type Toleration = NonNullable<NonNullable<Pod['spec']>['tolerations']>[number];

/** Pods that schedule alike. Everything is asked once per class, not once per pod. */
export interface PodClass {
  readonly key: string;
  readonly requests: Resources;
  readonly requirements: Requirements;
  readonly tolerations: readonly Toleration[];
  readonly hostPorts: readonly HostPort[];
  readonly pods: readonly Pod[];
}

const podName = ({ metadata }: Pod): string => `${metadata.namespace ?? ''}/${metadata.name}`;

/** Largest first: what is hard to place is placed while there is choice. Pods in a class are in order of name. */
export function podClasses(pods: readonly Pod[]): PodClass[] {
  const classes = new Map<string, Omit<PodClass, 'pods'> & { pods: Pod[] }>();
  for (const pod of pods) {
    const requests = podRequests(pod);
    const requirements = strictPodRequirements(pod);
    const tolerations = pod.spec?.tolerations ?? [];
    const hostPorts = hostPortsOf(pod);
    const sortedRequests = Object.entries(formatResources(requests)).sort(([left], [right]) => (left < right ? -1 : 1));
    const key = JSON.stringify([sortedRequests, requirements.toString(), tolerations, hostPorts]);
    const known = classes.get(key);
    if (known) known.pods.push(pod);
    else classes.set(key, { key, requests, requirements, tolerations, hostPorts, pods: [pod] });
  }
  for (const { pods: members } of classes.values()) {
    members.sort((left, right) => (podName(left) < podName(right) ? -1 : 1));
  }
  return [...classes.values()].sort(
    (left, right) =>
      quantityOf(right.requests, 'cpu').compare(quantityOf(left.requests, 'cpu')) ||
      quantityOf(right.requests, 'memory').compare(quantityOf(left.requests, 'memory')) ||
      (left.key < right.key ? -1 : 1),
  );
}

/** What the pod needs that this solver cannot promise yet; placing it anyway could be refused by the scheduler. */
export function unsupportedFeature(pod: Pod): string | undefined {
  const { affinity, topologySpreadConstraints = [], volumes = [], resourceClaims = [] } = pod.spec ?? {};
  if (topologySpreadConstraints.some(({ whenUnsatisfiable }) => whenUnsatisfiable === 'DoNotSchedule')) {
    return 'spec.topologySpreadConstraints with whenUnsatisfiable DoNotSchedule';
  }
  if (affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.length) return 'required pod affinity';
  if (affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.length)
    return 'required pod anti-affinity';
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  if (terms.length > 1) return 'alternative terms of required node affinity';
  if (volumes.some((volume) => volume.persistentVolumeClaim || volume.ephemeral)) return 'persistent volumes';
  return resourceClaims.length > 0 ? 'dynamic resource claims' : undefined;
}
