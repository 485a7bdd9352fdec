/** Pods of a cluster after workloads were applied: new pods wait; existing ones are kept up to the wanted number. */
import { Kinds, type Pod } from '../api/kinds.ts';
import { mergePatch } from '../kube/mergePatch.ts';
import type { PlanInput } from '../plan/readManifests.ts';
import { inDeletionOrder } from '../pods/deletionOrder.ts';
import { podKey } from '../pods/podKey.ts';
import { podRequests } from '../pods/podRequests.ts';
import { formatResources } from '../units/resources.ts';
import { unscheduled } from './carryOut.ts';
import type { Rollout } from './rollout.ts';
import { objectsOf, type ClusterObjects } from './clusterObjects.ts';

interface PodsAfter {
  /** After all rollouts. */
  readonly pods: readonly Pod[];
  readonly rollouts: readonly Rollout[];
}

export function podsAfter(objects: ClusterObjects, pods: readonly Pod[], workloads: PlanInput['workloads']): PodsAfter {
  const before = objectsOf(objects, Kinds.Pod);
  const wanted = new Map(pods.map((pod) => [podKey(pod), pod]));
  const gone = new Set<Pod>();
  const rollouts: Rollout[] = [];
  for (const { kind, namespace, name, pods: names, rollout: bounds } of workloads) {
    const own = before.filter((pod) => pod.metadata.namespace === namespace && isOf(pod, kind, name));
    const keys = names.map((each) => `${namespace}/${each}`);
    const [sample] = keys.flatMap((key) => wanted.get(key) ?? []);
    const same = own.filter((pod) => sample === undefined || isAlike(pod, sample));
    const stay = kept(kind, same, own, keys.length, objects.time);
    for (const pod of own) if (!stay.has(pod)) gone.add(pod);
    // Running pods stand for the same number of pods of the manifest.
    for (const key of keys.slice(0, stay.size)) wanted.delete(key);
    const outdated = own.filter((pod) => !same.includes(pod));
    if (outdated.length === 0 || bounds === undefined) continue;
    const old = inOrderOfEnd(kind, outdated, own, objects.time);
    const fresh = keys.flatMap((key) => wanted.get(key) ?? []).map(waiting);
    rollouts.push({ replicas: keys.length, bounds, old, ready: stay.size, made: [], fresh });
  }
  return { pods: [...before.filter((pod) => !gone.has(pod)), ...[...wanted.values()].map(waiting)], rollouts };
}

function isOf({ metadata }: Pod, kind: string, name: string): boolean {
  const owner = (metadata.ownerReferences ?? []).find(({ controller }) => controller === true);
  if (kind !== 'Deployment') return owner?.kind === kind && owner.name === name;
  return owner?.kind === 'ReplicaSet' && owner.name === `${name}-${metadata.labels?.['pod-template-hash']}`;
}

/** Whether the pods are equal to the scheduler: then the pod need not be recreated. */
function isAlike(pod: Pod, sample: Pod): boolean {
  const shape = ({ spec }: Pod, requests: object): object => ({
    requests,
    nodeSelector: spec?.nodeSelector ?? {},
    affinity: spec?.affinity ?? {},
    spread: spec?.topologySpreadConstraints ?? [],
  });
  const of = (each: Pod): object => shape(each, formatResources(podRequests(each)));
  return mergePatch(of(pod), of(sample)) === undefined;
}

function kept(kind: string, same: readonly Pod[], own: readonly Pod[], count: number, now: number): ReadonlySet<Pod> {
  const order = inOrderOfEnd(kind, same, own, now);
  return new Set(order.slice(Math.max(0, order.length - count)));
}

/** In deletion order. */
function inOrderOfEnd(kind: string, pods: readonly Pod[], own: readonly Pod[], now: number): readonly Pod[] {
  const ordinal = ({ metadata }: Pod): number => Number(/-(\d+)$/.exec(metadata.name)?.[1] ?? 0);
  return kind === 'StatefulSet'
    ? [...pods].sort((one, other) => ordinal(other) - ordinal(one))
    : inDeletionOrder(pods, own, now);
}

function waiting(pod: Pod): Pod {
  const { namespace = 'default', name } = pod.metadata;
  return unscheduled({
    ...pod,
    metadata: { ...pod.metadata, namespace, uid: pod.metadata.uid ?? `${namespace}/${name}` },
  });
}
