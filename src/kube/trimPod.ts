/**
 * What an informer keeps of a pod: its identity and what scheduling and draining read. A cluster has a hundred thousand
 * pods from a few thousand templates, so each pod shares as much as possible with a sibling seen before. Contract:
 * every reader gets the same result for the trimmed pod as for the whole one (test/contracts).
 */
import type { Container, ContainerStatus, PodCondition, PodSpec, PodStatus, Volume } from 'kubernetes-types/core/v1.js';
import type { Pod } from '../api/kinds.ts';
import type { ObjectMeta } from '../api/object.ts';
import { HINT_ENTRIES, hintedNode } from '../api/placementHint.ts';
import { sameJson, shareWith, StringPool } from './sharing.ts';

const METADATA = [
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'labels',
  'annotations',
  'ownerReferences',
  'generation',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'finalizers',
] as const satisfies readonly (keyof ObjectMeta)[];

/** Plain strings, because some are newer than the published types. */
const SPEC: readonly string[] = [
  'containers',
  'nodeName',
  'schedulerName',
  'tolerations',
  'priority',
  'terminationGracePeriodSeconds',
  'restartPolicy',
  'preemptionPolicy',
  'initContainers',
  'volumes',
  'nodeSelector',
  'affinity',
  'topologySpreadConstraints',
  'priorityClassName',
  'hostNetwork',
  'overhead',
  'runtimeClassName',
  'schedulingGates',
  'resourceClaims',
  'resources',
  'activeDeadlineSeconds',
  'os',
];

const CONTAINER: readonly string[] = ['name', 'resources', 'ports', 'restartPolicy'];

/** Volumes that tie a pod to storage; other volumes (config maps, tokens, scratch space) do not affect placement. */
const VOLUME: readonly string[] = [
  'persistentVolumeClaim',
  'ephemeral',
  'csi',
  'azureDisk',
  'awsElasticBlockStore',
  'gcePersistentDisk',
  'cinder',
  'vsphereVolume',
];

const STATUS: readonly string[] = [
  'phase',
  'conditions',
  'startTime',
  'nominatedNodeName',
  'reason',
  'resize',
  'resources',
  'allocatedResources',
  'resourceClaimStatuses',
];

const RESTARTED_STATUS: readonly string[] = ['name', 'restartCount'];
const RESIZED_STATUS: readonly string[] = [...RESTARTED_STATUS, 'resources', 'allocatedResources'];

const CONDITION: readonly string[] = [
  'type',
  'status',
  'lastTransitionTime',
  'reason',
  'message',
  'observedGeneration',
];

/** Annotations of the CNI and kubectl, different on every pod and never read here. */
const UNREAD_ANNOTATIONS = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  'cni.projectcalico.org/containerID',
  'cni.projectcalico.org/podIP',
  'cni.projectcalico.org/podIPs',
  'k8s.v1.cni.cncf.io/network-status',
  'k8s.v1.cni.cncf.io/networks-status',
]);

const MAX_SIBLINGS = 16_384;

export class PodTrim {
  private readonly strings = new StringPool();
  /** The last pod seen per owner, and per namespace for similar pods without one; oldest first. */
  private readonly siblings = new Map<string, Pod>();

  apply(pod: Pod, previous: Pod | undefined): Pod {
    const { metadata, spec, status } = pod;
    const owner = metadata.ownerReferences?.[0]?.uid;
    const lookalike = `${metadata.namespace ?? ''}/${spec?.containers[0]?.name ?? ''}`;
    const model = previous ?? this.known(owner) ?? this.known(lookalike);
    const trimmed: Pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: this.metadata(pod, model?.metadata),
      ...(spec === undefined ? {} : { spec: this.spec(spec, model?.spec) }),
      ...(status === undefined ? {} : { status: this.status(status, spec, model?.status) }),
    };
    if (previous === undefined) {
      if (owner !== undefined) this.remember(owner, trimmed);
      this.remember(lookalike, trimmed);
    }
    return trimmed;
  }

  private known(key: string | undefined): Pod | undefined {
    return key === undefined ? undefined : this.siblings.get(key);
  }

  private remember(key: string, pod: Pod): void {
    this.siblings.set(key, pod);
    if (this.siblings.size <= MAX_SIBLINGS) return;
    for (const oldest of this.siblings.keys()) {
      this.siblings.delete(oldest);
      return;
    }
  }

  private metadata(pod: Pod, model: ObjectMeta | undefined): ObjectMeta {
    const { metadata: raw } = pod;
    const kept = pick(raw, METADATA);
    // Only the manager of this one field is read.
    if (hintedNode(pod) !== undefined) kept.managedFields = [...HINT_ENTRIES];
    if (raw.annotations !== undefined) kept.annotations = trimAnnotations(raw.annotations);
    if (model !== undefined) borrow(kept, model);
    if (kept.creationTimestamp !== undefined) kept.creationTimestamp = this.strings.intern(kept.creationTimestamp);
    return kept;
  }

  private spec(raw: PodSpec, model: PodSpec | undefined): PodSpec {
    const kept = pick(raw, SPEC);
    kept.containers = raw.containers.map(trimContainer);
    if (raw.initContainers !== undefined) kept.initContainers = raw.initContainers.map(trimContainer);
    if (raw.volumes !== undefined) kept.volumes = trimVolumes(raw.volumes);
    if (model !== undefined) borrow(kept, model);
    if (kept.nodeName !== undefined) kept.nodeName = this.strings.intern(kept.nodeName);
    return kept;
  }

  private status(raw: PodStatus, spec: PodSpec | undefined, model: PodStatus | undefined): PodStatus {
    const kept = pick(raw, STATUS);
    const containers = toldStatuses(raw.containerStatuses, spec?.containers);
    if (containers !== undefined) kept.containerStatuses = containers;
    const initContainers = toldStatuses(raw.initContainerStatuses, spec?.initContainers);
    if (initContainers !== undefined) kept.initContainerStatuses = initContainers;
    if (raw.conditions !== undefined) kept.conditions = raw.conditions.map(trimCondition);
    if (model !== undefined) borrow(kept, model);
    if (kept.startTime !== undefined) kept.startTime = this.strings.intern(kept.startTime);
    for (const condition of kept.conditions ?? []) this.internTime(condition);
    return kept;
  }

  private internTime(condition: PodCondition): void {
    if (condition.lastTransitionTime === undefined) return;
    // Safe even for a condition shared with a sibling: the new string is equal.
    condition.lastTransitionTime = this.strings.intern(condition.lastTransitionTime);
  }
}

/** Copies from `model` every value that equals our own. `kept` may be modified. */
function borrow<V extends object>(kept: V, model: V): void {
  for (const key in kept) kept[key] = shareWith(model[key], kept[key]);
}

/** Always in the order of `fields`, so that all pods have the same few hidden classes. */
function pick<V extends object>(raw: V, fields: readonly string[]): V {
  const source = raw as Readonly<Record<string, unknown>>;
  const kept: Record<string, unknown> = {};
  for (const field of fields) {
    const value = source[field];
    if (value !== undefined && value !== null) kept[field] = value;
  }
  return kept as V;
}

const trimContainer = (raw: Container): Container => pick(raw, CONTAINER);

/**
 * Statuses of containers that have restarted, or whose actual resources differ from the spec because of a pending or
 * infeasible resize. The others only repeat the spec.
 */
function toldStatuses(
  statuses: readonly ContainerStatus[] | undefined,
  containers: readonly Container[] | undefined,
): ContainerStatus[] | undefined {
  const told = (statuses ?? []).flatMap((status) => {
    const kept = isResized(status, containers) ? RESIZED_STATUS : RESTARTED_STATUS;
    return kept === RESIZED_STATUS || status.restartCount > 0 ? [pick(status, kept)] : [];
  });
  return told.length === 0 ? undefined : told;
}

function isResized(
  { name, resources, allocatedResources }: ContainerStatus,
  containers: readonly Container[] | undefined,
): boolean {
  if (resources === undefined) return false;
  const asked = containers?.find((container) => container.name === name)?.resources?.requests;
  return (
    !sameJson(resources.requests, asked) || !(allocatedResources === undefined || sameJson(allocatedResources, asked))
  );
}

const trimCondition = (raw: PodCondition): PodCondition => pick(raw, CONDITION);

function trimVolumes(raw: readonly Volume[]): Volume[] {
  const kept: Volume[] = [];
  for (const volume of raw) {
    const source = volume as unknown as Readonly<Record<string, unknown>>;
    for (const type of VOLUME) {
      if (source[type] !== undefined) kept.push({ name: volume.name, [type]: source[type] });
    }
  }
  return kept;
}

function trimAnnotations(raw: Record<string, string>): Record<string, string> {
  for (const key in raw) {
    if (UNREAD_ANNOTATIONS.has(key)) {
      return Object.fromEntries(Object.entries(raw).filter(([name]) => !UNREAD_ANNOTATIONS.has(name)));
    }
  }
  return raw;
}
