import type { Container } from 'kubernetes-types/core/v1.js';
import type { Pod } from '../api/kinds.ts';

/**
 * Identifies interchangeable pods: `shape` is a short hash of what a scheduler reads of the pod, and `kind` combines it
 * with the workload (the owning controller). A pod that replaces an evicted one has another name and the same kind. A
 * pod without a controller is the only one of its kind.
 */
export interface PodKind {
  readonly kind: string;
  readonly shape: string;
  /** Whether the pod is replaced by another of its kind. */
  readonly replaced: boolean;
}

const kinds = new WeakMap<Pod, PodKind>();

export function podKind(pod: Pod): PodKind {
  let known = kinds.get(pod);
  if (known === undefined) kinds.set(pod, (known = read(pod)));
  return known;
}

function read(pod: Pod): PodKind {
  const shape = hash(shapeText(pod));
  const workload = controllerOf(pod);
  if (workload === undefined) return { kind: pod.metadata.uid ?? pod.metadata.name, shape, replaced: false };
  return { kind: `${workload}.${shape}`, shape, replaced: true };
}

/** The UID of the controller that owns the pod. */
export function controllerOf({ metadata }: Pod): string | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;
}

/** Written field by field, so that a restarted controller computes the same text for the same pod. */
function shapeText({ metadata, spec }: Pod): string {
  if (spec === undefined) return '';
  const { overhead, nodeSelector, affinity, tolerations, topologySpreadConstraints, priority } = spec;
  const { schedulerName, runtimeClassName, resourceClaims } = spec as typeof spec & { resourceClaims?: unknown };
  const { resources } = spec as { resources?: unknown };
  return JSON.stringify([
    metadata.namespace,
    spec.containers.map(containerShape),
    spec.initContainers?.map((container) => [containerShape(container), container.restartPolicy]),
    [overhead, resources, nodeSelector, affinity, tolerations, topologySpreadConstraints],
    [priority, schedulerName, runtimeClassName, resourceClaims],
    // Pods with their own disks depend on the location of these.
    spec.volumes?.flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []),
  ]);
}

const containerShape = ({ resources, ports }: Container): unknown => [
  resources?.requests,
  ports?.flatMap(({ hostPort, protocol, hostIP }) => (hostPort ? [[hostPort, protocol, hostIP]] : [])),
];

/** FNV-1a, 32 bits, twice with different start values: short enough for an annotation. */
function hash(text: string): string {
  let [left, right] = [0x811c9dc5, 0x01000193];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    left = Math.imul(left ^ code, 0x01000193);
    right = Math.imul(right ^ code, 0x811c9dc5);
  }
  return (left >>> 0).toString(36) + (right >>> 0).toString(36);
}
