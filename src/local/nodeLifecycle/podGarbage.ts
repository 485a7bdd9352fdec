/**
 * Pods that nobody will ever end. In: pods and nodes. Out: pods deleted whose node has been gone for a while, that were
 * being deleted before they had a node, and the oldest finished ones when there are far too many.
 */
import { Kinds, type Node, type Pod } from '../../api/kinds.ts';
import type { Clock } from '../../clock/clock.ts';
import type { Random } from '../../clock/random.ts';
import { ignoreNotFound, isConflict } from '../../kube/errors.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Kube } from '../../kube/kube.ts';
import type { Log } from '../../kube/log.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { singleton } from '../../kube/runtime/singleton.ts';
import { keyOf, refOf } from '../../kube/runtime/watch.ts';
import { timestamp } from '../../units/timestamp.ts';
import { isTerminal } from '../scheduler/podInfo.ts';

export interface PodGarbageOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly nodes: Informer<Node>;
  readonly pods: Informer<Pod>;
  /** Name of the pod informer's index by node. */
  readonly byNode: string;
}

const PERIOD = 20_000;
/** A node that has just gone may be on its way back. */
const QUARANTINE = 40_000;
const MOST_FINISHED = 12_500;

export function podGarbageController(options: PodGarbageOptions): Controller {
  const { kube, clock, random, log, nodes, pods, byNode } = options;
  const missingSince = new Map<string, number>();

  async function remove(pod: Pod, why: string | undefined): Promise<void> {
    const { name, namespace, uid } = pod.metadata;
    const ref = { name, namespace };
    try {
      if (why !== undefined && !isTerminal(pod)) {
        const condition = {
          type: 'DisruptionTarget',
          status: 'True',
          reason: 'DeletionByPodGC',
          message: why,
          lastTransitionTime: timestamp(clock.now()),
        };
        const status = { phase: 'Failed', conditions: [condition] };
        await kube.patch(Kinds.Pod, ref, { type: 'strategic', body: { status } }, { subresource: 'status' });
      }
      const preconditions = uid === undefined ? {} : { uid };
      await kube.delete(Kinds.Pod, ref, { gracePeriodSeconds: 0, preconditions });
    } catch (error) {
      if (!isConflict(error)) await ignoreNotFound(Promise.reject(error as Error));
    }
  }

  /** Pods that may have to go, as their events tell; each round looks only at them. */
  const suspects = new Set<string>();
  const finished = new Set<string>();
  const hasNode = ({ spec }: Pod): boolean => nodes.store.get({ name: spec?.nodeName ?? '' }) !== undefined;
  const isLeftOver = (pod: Pod): boolean =>
    pod.spec?.nodeName === undefined ? pod.metadata.deletionTimestamp !== undefined : !hasNode(pod);
  pods.subscribe(({ type, object }) => {
    const key = keyOf(object);
    if (type !== 'deleted' && isTerminal(object)) finished.add(key);
    else finished.delete(key);
    if (type !== 'deleted' && isLeftOver(object)) suspects.add(key);
    else suspects.delete(key);
  });
  nodes.subscribe(({ type, object }) => {
    if (type !== 'deleted') return;
    for (const pod of pods.store.byIndex(byNode, object.metadata.name)) suspects.add(keyOf(pod));
  });

  async function round(): Promise<void> {
    const now = clock.now();
    const orphaned = new Set<string>();
    for (const key of [...suspects].sort()) {
      const pod = pods.store.get(refOf(key));
      if (pod === undefined || !isLeftOver(pod)) suspects.delete(key);
      else if (pod.spec?.nodeName === undefined) await remove(pod, undefined);
      else {
        const node = pod.spec.nodeName;
        orphaned.add(node);
        const since = missingSince.get(node) ?? now;
        missingSince.set(node, since);
        if (now - since >= QUARANTINE) await remove(pod, 'PodGC: node no longer exists');
      }
    }
    for (const node of missingSince.keys()) if (!orphaned.has(node)) missingSince.delete(node);
    if (finished.size <= MOST_FINISHED) return;
    const oldest = [...finished]
      .map((key) => pods.store.get(refOf(key)))
      .filter((pod) => pod !== undefined)
      .sort((left, right) => createdAt(left).localeCompare(createdAt(right)));
    for (const pod of oldest.slice(0, oldest.length - MOST_FINISHED)) await remove(pod, undefined);
  }

  return singleton({ name: 'local.podgc', clock, random, log, interval: PERIOD, reconcile: round });
}

const createdAt = ({ metadata }: Pod): string => metadata.creationTimestamp ?? '';
