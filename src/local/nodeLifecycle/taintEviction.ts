/**
 * NoExecute taints. In: nodes with their taints and the pods on them. Out: pods deleted that do not tolerate a taint,
 * and those that tolerate it only for a while when that while is over.
 */
import { Kinds, type Node, type Pod } from '../../api/kinds.ts';
import type { Clock } from '../../clock/clock.ts';
import type { Random } from '../../clock/random.ts';
import { ignoreNotFound, isConflict } from '../../kube/errors.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Kube } from '../../kube/kube.ts';
import type { Log } from '../../kube/log.ts';
import type { Controller, ReconcileResult } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { keyOf, refOf, watch } from '../../kube/runtime/watch.ts';
import { timestamp } from '../../units/timestamp.ts';
import type { ControllerEvents } from '../controllerEvents.ts';
import { tolerates } from '../scheduler/tolerations.ts';

export interface TaintEvictionOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly nodes: Informer<Node>;
  readonly pods: Informer<Pod>;
  /** Name of the pod informer's index by node. */
  readonly byNode: string;
  readonly events: ControllerEvents;
}

type Taint = NonNullable<NonNullable<Node['spec']>['taints']>[number];

const executing = (node: Node): readonly Taint[] =>
  (node.spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute');

/** When the pod must leave, in milliseconds since the epoch; undefined when it may stay for good. */
export function leavesAt(pod: Pod, taints: readonly Taint[], taintedAt: number): number | undefined {
  if (taints.length === 0) return undefined;
  const tolerations = pod.spec?.tolerations ?? [];
  let shortest = Number.POSITIVE_INFINITY;
  for (const taint of taints) {
    const matching = tolerations.filter((toleration) => tolerates([toleration], taint));
    if (matching.length === 0) return taintedAt;
    for (const { tolerationSeconds } of matching) {
      if (tolerationSeconds !== undefined) shortest = Math.min(shortest, Math.max(0, tolerationSeconds) * 1000);
    }
  }
  return Number.isFinite(shortest) ? taintedAt + shortest : undefined;
}

export function taintEvictionController(options: TaintEvictionOptions): Controller {
  const { kube, clock, random, log, nodes, pods, byNode, events } = options;
  /** When each node got the NoExecute taints that it has, by what they are. */
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

  async function reconcile(key: string): Promise<ReconcileResult | undefined> {
    const ref = refOf(key);
    const pod = pods.store.get(ref);
    const node = pod?.spec?.nodeName ? nodes.store.get({ name: pod.spec.nodeName }) : undefined;
    if (!pod || !node || pod.metadata.deletionTimestamp) return undefined;
    const taints = executing(node);
    if (taints.length === 0) {
      since.delete(node.metadata.name);
      return undefined;
    }
    const due = leavesAt(pod, taints, taintedAt(node));
    if (due === undefined) return undefined;
    const wait = due - clock.now();
    if (wait > 0) return { requeueAfter: wait };
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByTaintManager',
      message: 'Taint manager: deleting due to NoExecute taint',
      lastTransitionTime: timestamp(clock.now()),
    };
    const { uid } = pod.metadata;
    events.say(Kinds.Pod, pod, 'TaintManagerEviction', `Marking for deletion Pod ${key}`);
    try {
      await ignoreNotFound(
        kube.patch(
          Kinds.Pod,
          ref,
          { type: 'strategic', body: { metadata: { uid }, status: { conditions: [condition] } } },
          { subresource: 'status' },
        ),
      );
      await ignoreNotFound(kube.delete(Kinds.Pod, ref, { preconditions: uid === undefined ? {} : { uid } }));
    } catch (error) {
      // Another pod has the name now.
      if (!isConflict(error)) throw error;
    }
    return undefined;
  }

  return reconciler({
    name: 'local.tainteviction',
    concurrency: 16,
    clock,
    random,
    log,
    watches: [
      watch(nodes, (event) => {
        const { object } = event;
        if (event.type === 'deleted') {
          since.delete(object.metadata.name);
          return [];
        }
        if (executing(object).length === 0) {
          since.delete(object.metadata.name);
          return [];
        }
        taintedAt(object);
        return pods.store.byIndex(byNode, object.metadata.name).map(keyOf);
      }),
      watch(pods, ({ object }) => {
        const node = object.spec?.nodeName ? nodes.store.get({ name: object.spec.nodeName }) : undefined;
        return node && executing(node).length > 0 ? [keyOf(object)] : [];
      }),
    ],
    reconcile,
  });
}
