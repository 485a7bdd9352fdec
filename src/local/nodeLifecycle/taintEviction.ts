/** Deletes pods that do not tolerate a NoExecute taint of their node, or whose time of toleration has passed. */
import { Kinds, type Node, type Pod } from '../../api/kinds.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { keyOf, watch } from '../../kube/runtime/watch.ts';
import { tolerates } from '../../pods/taints.ts';
import { BY_NODE } from '../clusterInformers.ts';
import { controlLoop, type ControlPlaneContext, type NextLook } from '../controlLoop.ts';
import { deletePod, disruptionTarget, patchPodStatus, unlessReplaced } from '../writes.ts';

type Taint = NonNullable<NonNullable<Node['spec']>['taints']>[number];

const executing = (node: Node): readonly Taint[] =>
  (node.spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute');

/** Returns when to delete the pod, in milliseconds since the epoch; undefined if it tolerates the taints forever. */
export function evictAt(pod: Pod, taints: readonly Taint[], taintedAt: number): number | undefined {
  if (taints.length === 0) return undefined;
  const tolerations = pod.spec?.tolerations ?? [];
  let shortest = Number.POSITIVE_INFINITY;
  for (const taint of taints) {
    const matching = tolerations.filter((toleration) => tolerates(toleration, taint));
    if (matching.length === 0) return taintedAt;
    for (const { tolerationSeconds } of matching) {
      if (tolerationSeconds !== undefined) shortest = Math.min(shortest, Math.max(0, tolerationSeconds) * 1000);
    }
  }
  return Number.isFinite(shortest) ? taintedAt + shortest : undefined;
}

export function taintEvictionController(context: ControlPlaneContext): Controller {
  const { kube, clock, informers, eventsOf } = context;
  const { nodes, pods } = informers;
  const events = eventsOf('taint-eviction-controller');
  /** The NoExecute taints of each node, and the time since which it has had these. */
  const since = new Map<string, { readonly taints: string; readonly at: number }>();

  function taintedAt(node: Node): number {
    const taints = executing(node)
      .map(({ key, value }) => `${key}=${value ?? ''}`)
      .sort()
      .join();
    const known = since.get(node.metadata.name);
    if (known?.taints === taints) return known.at;
    since.set(node.metadata.name, { taints, at: clock.now() });
    return clock.now();
  }

  async function reconcile(pod: Pod, key: string): Promise<NextLook> {
    const node = nodes.store.get({ name: pod.spec?.nodeName ?? '' });
    const taints = node ? executing(node) : [];
    const due = node && evictAt(pod, taints, taintedAt(node));
    if (due === undefined) return undefined;
    const wait = due - clock.now();
    if (wait > 0) return wait;
    events.say(Kinds.Pod, pod, 'TaintManagerEviction', `Marking for deletion Pod ${key}`);
    const message = 'Taint manager: deleting due to NoExecute taint';
    const conditions = [disruptionTarget('DeletionByTaintManager', message, clock.now())];
    await unlessReplaced(patchPodStatus(kube, pod, { conditions }));
    await deletePod(kube, pod);
    return undefined;
  }

  const isTainted = (pod: Pod): boolean => {
    const node = nodes.store.get({ name: pod.spec?.nodeName ?? '' });
    return node !== undefined && executing(node).length > 0;
  };
  const onNodes = watch(nodes, ({ type, object }) => {
    if (type === 'deleted' || executing(object).length === 0) {
      since.delete(object.metadata.name);
      return [];
    }
    taintedAt(object);
    return pods.store.byIndex(BY_NODE, object.metadata.name).map(keyOf);
  });
  return controlLoop(context, {
    name: 'tainteviction',
    of: pods,
    when: ({ object }) => isTainted(object),
    also: [onNodes],
    concurrency: 16,
    reconcile,
  });
}
