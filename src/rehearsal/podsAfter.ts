/** The pods of a cluster after workloads were applied: new ones wait, of known ones as many stay as are wanted. */
import { Kinds, type Pod } from '../api/kinds.ts';
import { mergePatch } from '../kube/mergePatch.ts';
import type { PlanInput } from '../plan/readManifests.ts';
import { inDeletionOrder } from '../pods/deletionOrder.ts';
import { podKey } from '../pods/podKey.ts';
import { podRequests } from '../pods/podRequests.ts';
import { formatResources } from '../units/resources.ts';
import { unscheduled } from './carryOut.ts';
import { objectsOf, type ClusterObjects } from './clusterObjects.ts';

export function podsAfter(
  objects: ClusterObjects,
  pods: readonly Pod[],
  workloads: PlanInput['workloads'],
): readonly Pod[] {
  const before = objectsOf(objects, Kinds.Pod);
  const wanted = new Map(pods.map((pod) => [podKey(pod), pod]));
  const gone = new Set<Pod>();
  for (const { kind, namespace, name, pods: names } of workloads) {
    const own = before.filter((pod) => pod.metadata.namespace === namespace && isOf(pod, kind, name));
    const keys = names.map((each) => `${namespace}/${each}`);
    const [sample] = keys.flatMap((key) => wanted.get(key) ?? []);
    const same = own.filter((pod) => sample === undefined || isAlike(pod, sample));
    const stay = kept(kind, same, own, keys.length, objects.time);
    for (const pod of own) if (!stay.has(pod)) gone.add(pod);
    // Those that run stand for as many of the manifest.
    for (const key of keys.slice(0, stay.size)) wanted.delete(key);
  }
  return [...before.filter((pod) => !gone.has(pod)), ...[...wanted.values()].map(waiting)];
}

function isOf({ metadata }: Pod, kind: string, name: string): boolean {
  const owner = (metadata.ownerReferences ?? []).find(({ controller }) => controller === true);
  if (kind !== 'Deployment') return owner?.kind === kind && owner.name === name;
  return owner?.kind === 'ReplicaSet' && owner.name === `${name}-${metadata.labels?.['pod-template-hash']}`;
}

/** Whether the scheduler sees no difference: such a pod need not be made again. */
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
  const ordinal = ({ metadata }: Pod): number => Number(/-(\d+)$/.exec(metadata.name)?.[1] ?? 0);
  const order =
    kind === 'StatefulSet'
      ? [...same].sort((one, other) => ordinal(other) - ordinal(one))
      : inDeletionOrder(same, own, now);
  return new Set(order.slice(Math.max(0, order.length - count)));
}

function waiting(pod: Pod): Pod {
  const { namespace = 'default', name } = pod.metadata;
  return unscheduled({
    ...pod,
    metadata: { ...pod.metadata, namespace, uid: pod.metadata.uid ?? `${namespace}/${name}` },
  });
}
