/**
 * Deletes pods that no kubelet removes: those whose node has been missing for some time, those deleted before they were
 * scheduled, and the oldest finished ones beyond a limit.
 */
import type { Pod } from '../../api/kinds.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { singleton } from '../../kube/runtime/singleton.ts';
import { keyOf, refOf } from '../../kube/runtime/watch.ts';
import { isTerminal } from '../../pods/podPredicates.ts';
import { BY_NODE } from '../clusterInformers.ts';
import type { ControlPlaneContext } from '../controlLoop.ts';
import { deletePod, disruptionTarget, patchPodStatus, unlessReplaced } from '../writes.ts';

const PERIOD = 20_000;
/** Milliseconds for which a node must be missing before its pods are deleted, because it may return. */
const QUARANTINE = 40_000;
const MOST_FINISHED = 12_500;

export function podGarbageController(context: ControlPlaneContext): Controller {
  const { kube, clock, informers } = context;
  const { nodes, pods } = informers;
  const missingSince = new Map<string, number>();

  async function remove(pod: Pod, why?: string): Promise<void> {
    if (why !== undefined && !isTerminal(pod)) {
      const status = { phase: 'Failed', conditions: [disruptionTarget('DeletionByPodGC', why, clock.now())] };
      await unlessReplaced(patchPodStatus(kube, pod, status));
    }
    await deletePod(kube, pod, 0);
  }

  /** Keys of pods that may have to be deleted, from events; each round checks only these. */
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
    for (const pod of pods.store.byIndex(BY_NODE, object.metadata.name)) suspects.add(keyOf(pod));
  });

  async function round(): Promise<void> {
    const now = clock.now();
    const orphaned = new Set<string>();
    for (const key of [...suspects].sort()) {
      const pod = pods.store.get(refOf(key));
      if (pod === undefined || !isLeftOver(pod)) suspects.delete(key);
      else if (pod.spec?.nodeName === undefined) await remove(pod);
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
    for (const pod of oldest.slice(0, oldest.length - MOST_FINISHED)) await remove(pod);
  }

  const { random, log } = context;
  return singleton({ name: 'local.podgc', clock, random, log, interval: PERIOD, reconcile: round });
}

const createdAt = ({ metadata }: Pod): string => metadata.creationTimestamp ?? '';
