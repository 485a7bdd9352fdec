import { Kinds, type Namespace, type Node, type Pod } from '../../api/kinds.ts';
import { quantityOf, parseResources, subtractResources } from '../../units/resources.ts';
import { timestamp } from '../../units/timestamp.ts';
import type { Clock } from '../../clock/clock.ts';
import type { Random } from '../../clock/random.ts';
import type { EventRecorder } from '../../kube/eventRecorder.ts';
import { isConflict, isNotFound } from '../../kube/errors.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Kube } from '../../kube/kube.ts';
import type { Log } from '../../kube/log.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { keyOf, watch } from '../../kube/runtime/watch.ts';
import { complaints, unschedulableMessage, type SchedulingContext } from './filters.ts';
import { isTerminal, nodeState, type NodeState } from './nodeState.ts';
import { podRequests } from './podRequests.ts';

interface SchedulerOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly events: EventRecorder;
  readonly pods: Informer<Pod>;
  readonly nodes: Informer<Node>;
  readonly namespaces: Informer<Namespace>;
}

/** Name of the pod informer's index by `spec.nodeName`. */
export const BY_NODE = 'spec.nodeName';

const isPending = (pod: Pod): boolean =>
  !pod.spec?.nodeName &&
  !pod.metadata.deletionTimestamp &&
  !isTerminal(pod) &&
  (pod.spec?.schedulingGates ?? []).length === 0 &&
  (pod.spec?.schedulerName ?? 'default-scheduler') === 'default-scheduler';

/** Higher priority first, then the pod that waits longest. */
function byUrgency(left: Pod, right: Pod): number {
  const priority = (right.spec?.priority ?? 0) - (left.spec?.priority ?? 0);
  if (priority !== 0) return priority;
  const age = (left.metadata.creationTimestamp ?? '').localeCompare(right.metadata.creationTimestamp ?? '');
  return age || keyOf(left).localeCompare(keyOf(right));
}

/** A pass after every change that could make room for a pod or bring a new one. */
export function schedulerController(options: SchedulerOptions): Controller {
  const scheduler = new Scheduler(options);
  const onePass = (): string[] => ['pass'];
  return reconciler({
    ...options,
    name: 'local.scheduler',
    watches: [watch(options.pods, onePass), watch(options.nodes, onePass), watch(options.namespaces, onePass)],
    reconcile: async (_key, { signal }) => {
      await scheduler.pass(signal);
    },
  });
}

/**
 * Binds pending pods to nodes with the filters of kube-scheduler's default plugins, and tells the others why they
 * wait. `pass` places every pod that can be placed now and returns how many it bound.
 */
class Scheduler {
  readonly #options: SchedulerOptions;
  /** Bound by us but not yet seen by the informer; counted so that a node is not filled twice. */
  readonly #assumed = new Map<string, Pod>();

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  async pass(signal: AbortSignal): Promise<number> {
    const { pods, namespaces } = this.#options;
    this.#forgetSettled();
    const pending = [...pods.store.list()]
      .filter((pod) => isPending(pod) && !this.#assumed.has(keyOf(pod)))
      .sort(byUrgency);
    if (pending.length === 0) return 0;

    const states = this.#nodeStates();
    const namespaceLabels = (name: string): Readonly<Record<string, string>> =>
      namespaces.store.get({ name })?.metadata.labels ?? {};
    const writes: Promise<boolean>[] = [];
    for (const pod of pending) {
      const context: SchedulingContext = { nodes: states, namespaceLabels };
      const perNode = states.map((state) => complaints(pod, state, context));
      const best = chooseNode(states.filter((_, index) => perNode[index]?.length === 0));
      if (best === undefined) {
        writes.push(this.#reportUnschedulable(pod, unschedulableMessage(perNode)).then(() => false));
        continue;
      }
      const bound = { ...pod, spec: { ...pod.spec, nodeName: best.node.metadata.name } } as Pod;
      this.#assumed.set(keyOf(pod), bound);
      states[states.indexOf(best)] = withPod(best, bound);
      writes.push(this.#bind(pod, best.node.metadata.name, signal));
    }
    const results = await Promise.all(writes);
    return results.filter(Boolean).length;
  }

  #nodeStates(): NodeState[] {
    const { nodes, pods } = this.#options;
    const assumed = [...this.#assumed.values()];
    return [...nodes.store.list()]
      .sort((left, right) => left.metadata.name.localeCompare(right.metadata.name))
      .map((node) => {
        const { name } = node.metadata;
        return nodeState(node, [
          ...pods.store.byIndex(BY_NODE, name),
          ...assumed.filter(({ spec }) => spec?.nodeName === name),
        ]);
      });
  }

  #forgetSettled(): void {
    for (const [key, assumed] of this.#assumed) {
      const seen = this.#options.pods.store.get({ name: assumed.metadata.name, namespace: assumed.metadata.namespace });
      if (!seen || seen.spec?.nodeName || seen.metadata.uid !== assumed.metadata.uid) this.#assumed.delete(key);
    }
  }

  async #bind(pod: Pod, node: string, signal: AbortSignal): Promise<boolean> {
    const { kube, events } = this.#options;
    try {
      await kube.bind({ name: pod.metadata.name, namespace: pod.metadata.namespace }, node, { signal });
    } catch (error) {
      this.#assumed.delete(keyOf(pod));
      if (isNotFound(error) || isConflict(error)) return false;
      throw error;
    }
    events.publish({
      object: pod,
      kind: Kinds.Pod,
      type: 'Normal',
      reason: 'Scheduled',
      message: `Successfully assigned ${keyOf(pod)} to ${node}`,
      dedupeValues: [pod.metadata.uid ?? keyOf(pod)],
    });
    return true;
  }

  async #reportUnschedulable(pod: Pod, message: string): Promise<void> {
    const { kube, clock, events } = this.#options;
    const previous = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
    if (previous?.reason === 'Unschedulable' && previous.message === message) return;
    const now = timestamp(clock.now());
    const condition = {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message,
      lastTransitionTime: previous?.status === 'False' ? previous.lastTransitionTime : now,
    };
    try {
      await kube.patch(
        Kinds.Pod,
        { name: pod.metadata.name, namespace: pod.metadata.namespace },
        { type: 'strategic', body: { status: { conditions: [condition] } } },
        { subresource: 'status' },
      );
    } catch (error) {
      if (isNotFound(error)) return;
      throw error;
    }
    events.publish({
      object: pod,
      kind: Kinds.Pod,
      type: 'Warning',
      reason: 'FailedScheduling',
      message,
      dedupeValues: [pod.metadata.uid ?? keyOf(pod), message],
    });
  }
}

function withPod(state: NodeState, pod: Pod): NodeState {
  return { ...state, pods: [...state.pods, pod], free: subtractResources(state.free, podRequests(pod)) };
}

/** The emptiest node, as kube-scheduler's LeastAllocated; the first by name among equals. */
function chooseNode(candidates: readonly NodeState[]): NodeState | undefined {
  let best: NodeState | undefined;
  let bestShare = -1;
  for (const state of candidates) {
    const allocatable = parseResources(state.node.status?.allocatable);
    const share = (name: string): number =>
      quantityOf(state.free, name).milliValue() / Math.max(1, quantityOf(allocatable, name).milliValue());
    const total = share('cpu') + share('memory');
    if (total > bestShare) [best, bestShare] = [state, total];
  }
  return best;
}
