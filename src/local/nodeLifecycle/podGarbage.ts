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
import { timestamp } from '../../units/timestamp.ts';
import { isTerminal } from '../scheduler/podInfo.ts';

export interface PodGarbageOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly nodes: Informer<Node>;
  readonly pods: Informer<Pod>;
}

const PERIOD = 20_000;
/** A node that has just gone may be on its way back. */
const QUARANTINE = 40_000;
const MOST_FINISHED = 12_500;

export function podGarbageController(options: PodGarbageOptions): Controller {
  const { kube, clock, random, log, nodes, pods } = options;
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

  async function round(): Promise<void> {
    const now = clock.now();
    const orphaned = new Set<string>();
    const finished: Pod[] = [];
    for (const pod of pods.store.list()) {
      const node = pod.spec?.nodeName;
      if (node !== undefined && nodes.store.get({ name: node }) === undefined) {
        orphaned.add(node);
        const since = missingSince.get(node) ?? now;
        missingSince.set(node, since);
        if (now - since >= QUARANTINE) await remove(pod, 'PodGC: node no longer exists');
      } else if (node === undefined && pod.metadata.deletionTimestamp) await remove(pod, undefined);
      else if (isTerminal(pod)) finished.push(pod);
    }
    for (const node of missingSince.keys()) if (!orphaned.has(node)) missingSince.delete(node);
    if (finished.length <= MOST_FINISHED) return;
    finished.sort((left, right) =>
      (left.metadata.creationTimestamp ?? '').localeCompare(right.metadata.creationTimestamp ?? ''),
    );
    for (const pod of finished.slice(0, finished.length - MOST_FINISHED)) await remove(pod, undefined);
  }

  return singleton({ name: 'local.podgc', clock, random, log, interval: PERIOD, reconcile: round });
}
