/** Pods that do not exist yet and will need room: a StatefulSet creates the next pod when the previous one is ready. */
import { Kinds, type Pod } from '../api/kinds.ts';
import { isNotFound } from '../kube/errors.ts';
import type { Kube } from '../kube/kube.ts';
import { ownerOf } from './nodeWorkloads.ts';
import { ordinalOf } from './podSource.ts';

/** Limits on StatefulSets looked up, and on their pods in total. */
const MOST_OWNERS = 20;
const MOST_PODS = 100;

/** For all StatefulSets that are starting, except the one with this uid. */
export async function comingPods(kube: Kube, all: readonly Pod[], except: string | undefined): Promise<readonly Pod[]> {
  const starting = new Map<string, Pod>();
  for (const pod of all) {
    const owner = ownerOf(pod);
    if (owner === undefined || owner === except || isReady(pod) || starting.size >= MOST_OWNERS) continue;
    if (pod.metadata.ownerReferences?.some(({ kind }) => kind === Kinds.StatefulSet.kind)) starting.set(owner, pod);
  }
  const coming = await Promise.all(
    [...starting].map(([owner, pod]) =>
      nextPods(
        kube,
        pod,
        all.filter((each) => ownerOf(each) === owner),
      ),
    ),
  );
  return coming.flat().slice(0, MOST_PODS);
}

async function nextPods(kube: Kube, { metadata }: Pod, siblings: readonly Pod[]): Promise<readonly Pod[]> {
  const { namespace = 'default', ownerReferences = [] } = metadata;
  const name = ownerReferences.find(({ controller }) => controller === true)?.name ?? '';
  try {
    const { spec } = await kube.get(Kinds.StatefulSet, { namespace, name });
    const { replicas = 1, template, ordinals } = spec ?? {};
    if (template?.spec === undefined) return [];
    const there = new Set(siblings.map(ordinalOf));
    const { volumes: _, ...ofPod } = template.spec;
    return Array.from({ length: Math.min(replicas, MOST_PODS) }, (__, at) => at + (ordinals?.start ?? 0))
      .filter((ordinal) => !there.has(ordinal))
      .map((ordinal) => ({
        metadata: { ...template.metadata, name: `${name}-${ordinal}`, namespace, ownerReferences },
        spec: ofPod,
      }));
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}

const isReady = ({ status }: Pod): boolean =>
  (status?.conditions ?? []).some(({ type, status: state }) => type === 'Ready' && state === 'True');
