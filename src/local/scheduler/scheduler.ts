/**
 * Binds pending pods to nodes like kube-scheduler's default profile. The cost of a pass depends on what has changed, not
 * on the size of the cluster.
 */
import type { Pod } from '../../api/kinds.ts';
import type { EventRecorder } from '../../kube/eventRecorder.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { keyOf, type Watch } from '../../kube/runtime/watch.ts';
import { isTerminal } from '../../pods/podPredicates.ts';
import { BY_NODE } from '../clusterInformers.ts';
import type { ControlPlaneContext } from '../controlLoop.ts';
import { ClusterView } from './clusterView.ts';
import {
  cycleState,
  filterNode,
  TAINT_REASONS,
  unschedulableMessage,
  type FilterResult,
  type CycleState,
} from './filters.ts';
import { namedNodes } from './nodeAffinity.ts';
import type { NodeInfo } from './nodeInfo.ts';
import { nodeChange, type FailureCause } from './nodeChange.ts';
import { Nominations } from './nominations.ts';
import { isPending, PendingPods } from './pendingPods.ts';
import { podInfo, type PodInfo } from './podInfo.ts';
import { findPreemption } from './preemption.ts';
import { SchedulerWrites } from './schedulerWrites.ts';
import { bestNode } from './scores.ts';

/** Milliseconds to wait for further changes before a pass. */
const GATHER = 1;
const NOT_HELPFUL = 'Preemption is not helpful for scheduling';
/** Number of nodes up to which all are scored. */
const WEIGH_ALL = 100;
/** The smallest percentage of nodes that is scored. */
const SMALLEST_SHARE = 5;

/** Returns how many feasible nodes to find and score: like in kube-scheduler, a smaller share of larger clusters. */
function enoughNodes(total: number): number {
  if (total < WEIGH_ALL) return total;
  const share = Math.max(SMALLEST_SHARE, 50 - Math.floor(total / 125));
  return Math.max(WEIGH_ALL, Math.floor((total * share) / 100));
}

/** Runs a pass after every change that adds a pod or could make one schedulable. */
export function schedulerController(context: ControlPlaneContext, events: EventRecorder): Controller {
  const scheduler = new Scheduler(context, events);
  const { clock, random, log } = context;
  return reconciler({
    name: 'local.scheduler',
    clock,
    random,
    log,
    watches: [scheduler.watch()],
    reconcile: async (_key, { signal }) => {
      // A pass costs little more for a thousand pods than for one.
      await clock.sleep(GATHER, signal);
      await scheduler.pass(signal);
    },
  });
}

interface Search {
  readonly feasible: NodeInfo[];
  readonly reasons: ReadonlyMap<string, number>;
  /** Nodes on which fewer pods could help. */
  readonly improvable: NodeInfo[];
}

/** Why pods of a shape are unschedulable. */
interface Failure {
  readonly text: string;
  readonly cause: FailureCause;
}

class Scheduler {
  private readonly context: ControlPlaneContext;
  private readonly view = new ClusterView();
  private readonly pending = new PendingPods();
  private readonly nominations = new Nominations();
  private readonly writes: SchedulerWrites;
  /** Index of the first node of the next search, which rotates over all nodes of a large cluster. */
  private start = 0;
  private enqueue: () => void = () => undefined;

  constructor(context: ControlPlaneContext, events: EventRecorder) {
    this.context = context;
    this.writes = new SchedulerWrites({ kube: context.kube, clock: context.clock, events });
  }

  watch(): Watch {
    return { start: (enqueue) => this.subscribe(() => enqueue('pass')) };
  }

  /** Binds every pod that can be bound now; returns their number. */
  async pass(signal: AbortSignal): Promise<number> {
    const work: Promise<boolean>[] = [];
    const states = new Map<string, CycleState>();
    const failed = new Map<string, Failure>();
    for (const info of this.pending.take()) {
      // The result for equal pods does not apply to a nominated pod, for which room is reserved.
      const known = this.nominations.nodeOf(info.key) === undefined ? failed.get(info.shape) : undefined;
      if (known !== undefined) {
        this.report(info, known, work, 'repeated');
        continue;
      }
      const state = states.get(info.shape) ?? this.stateFor(info);
      states.set(info.shape, state);
      const obstacle = state.volumes?.obstacle;
      const search = obstacle === undefined ? this.search(info, state) : undefined;
      const best = search && bestNode(state, search.feasible);
      if (best) {
        this.assume(info, best, states, failed);
        const binding = this.bind(info, best, state, signal);
        // The pass does not wait for volumes to be provisioned.
        if ((state.volumes?.unbound.length ?? 0) > 0) this.watchBinding(info, binding);
        else work.push(binding);
        continue;
      }
      const total = this.view.nodes.length;
      const message =
        obstacle === undefined
          ? unschedulableMessage(total, search?.reasons ?? new Map())
          : `0/${total} nodes are available: ${obstacle}.`;
      // Like kube-scheduler, does not try preemption for a missing claim.
      const noPreemption =
        obstacle?.endsWith(' not found') === true ? 'not found' : this.preempt(info, search?.improvable ?? [], work);
      const text = noPreemption === undefined || total === 0 ? message : `${message} ${noPreemption}`;
      const cause = search === undefined ? 'other' : causeOf(search);
      if (noPreemption === undefined) {
        // Victims are being deleted, which invalidates the results for other pods.
        states.clear();
        failed.clear();
      } else failed.set(info.shape, { text, cause });
      this.report(info, { text, cause }, work);
    }
    const results = await Promise.allSettled(work);
    const failure = results.find((result) => result.status === 'rejected');
    if (failure) throw failure.reason as Error;
    return results.filter((result) => result.status === 'fulfilled' && result.value).length;
  }

  private stateFor(info: PodInfo): CycleState {
    const { informers } = this.context;
    const labelsOf = (name: string): Readonly<Record<string, string>> =>
      informers.namespaces.store.get({ name })?.metadata.labels ?? {};
    return cycleState(info, this.view, labelsOf, informers);
  }

  /** Filters the node for a pod, both with and without the pods nominated to it that precede the pod. */
  private filter(info: PodInfo, state: CycleState, node: NodeInfo): FilterResult {
    const before = this.nominations.before(info, node.name);
    if (before.length === 0) return filterNode(state, node);
    for (const other of before) this.view.place(other, node.name);
    const crowded = filterNode(this.stateFor(info), node);
    for (const other of before) this.view.remove(other.key);
    // The pod must not depend on a nominated pod, which may never be bound.
    return crowded.reasons.length > 0 ? crowded : filterNode(state, node);
  }

  private search(info: PodInfo, state: CycleState): Search {
    const nominated = this.view.node(this.nominations.nodeOf(info.key) ?? '');
    if (nominated && this.filter(info, state, nominated).reasons.length === 0) {
      return { feasible: [nominated], reasons: new Map(), improvable: [] };
    }
    const named = namedNodes(info.pod);
    const all = this.view.nodes;
    const nodes = named?.flatMap((name) => this.view.node(name) ?? []) ?? all;
    const enough = enoughNodes(nodes.length);
    const feasible: NodeInfo[] = [];
    const improvable: NodeInfo[] = [];
    const reasons = new Map<string, number>();
    let looked = 0;
    for (; looked < nodes.length && feasible.length < enough; looked++) {
      const node = nodes[(this.start + looked) % nodes.length];
      if (!node) continue;
      const found = this.filter(info, state, node);
      if (found.reasons.length === 0) feasible.push(node);
      else {
        if (found.canPass) improvable.push(node);
        for (const reason of found.reasons) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
      }
    }
    if (nodes.length > WEIGH_ALL) this.start = (this.start + looked) % nodes.length;
    if (nodes !== all && nodes.length < all.length) {
      reasons.set("node(s) didn't satisfy plugin(s) [NodeAffinity]", all.length - nodes.length);
    }
    return { feasible, reasons, improvable };
  }

  /** Counts the pod on its node before its binding is written. */
  private assume(info: PodInfo, node: NodeInfo, states: Map<string, CycleState>, failed: Map<string, Failure>): void {
    this.pending.delete(info.key);
    this.nominations.delete(info.key);
    this.view.place(info, node.name);
    for (const [shape, other] of states) {
      other.affinity.add(info.pod, node);
      other.spread.add(info.pod, node);
      // A pod with affinity or topology spread may be schedulable now.
      if (this.pending.dependsOnPods(other.info)) failed.delete(shape);
    }
    this.pending.wakeDependents();
  }

  private async bind(info: PodInfo, node: NodeInfo, state: CycleState, signal: AbortSignal): Promise<boolean> {
    let bound = false;
    try {
      bound = await this.writes.bind(info.pod, node.name, state.volumes?.unbound ?? [], signal);
    } finally {
      if (!bound) this.requeue(info);
    }
    return bound;
  }

  /** Requeues a pod whose binding failed, if it still exists. */
  private requeue(info: PodInfo): void {
    this.view.remove(info.key);
    const pod = this.context.informers.pods.store.get(info.pod.metadata);
    if (!pod || !isPending(pod)) return;
    this.follow(pod);
    this.pending.wake(info.key);
  }

  private watchBinding(info: PodInfo, binding: Promise<boolean>): void {
    const { log } = this.context;
    binding
      .catch((error: unknown) => log.error('a pod with volumes could not be bound', { object: info.key, error }))
      .finally(() => {
        if (this.pending.hasWork) this.enqueue();
      });
  }

  private report(info: PodInfo, { text, cause }: Failure, work: Promise<boolean>[], how?: 'repeated'): void {
    const report = this.writes.reportUnschedulable(info.pod, text, how);
    this.pending.failed(info.key, cause, report !== undefined);
    if (report) work.push(this.wakeOnFailure(info, report));
  }

  /** Retries the pod if the report could not be written. */
  private async wakeOnFailure(info: PodInfo, report: Promise<boolean>): Promise<boolean> {
    try {
      return await report;
    } catch (error) {
      this.pending.wake(info.key);
      throw error;
    }
  }

  /** Deletes pods of lower priority; if that is not possible or would not help, returns kube-scheduler's reason. */
  private preempt(info: PodInfo, candidates: readonly NodeInfo[], work: Promise<boolean>[]): string | undefined {
    const explain = (why: string): string => `no new claims to deallocate, preemption: ${why}`;
    if (info.pod.spec?.preemptionPolicy === 'Never') return explain('not eligible due to preemptionPolicy=Never.');
    const nominated = this.nominations.nodeOf(info.key);
    // Victims of an earlier preemption are still terminating.
    if (nominated !== undefined && this.isClearing(nominated, info.priority)) {
      return explain('not eligible due to a terminating pod on the nominated node.');
    }
    const { found, reasons } = findPreemption({
      info,
      view: this.view,
      candidates,
      budgets: this.context.informers.budgets.store.list(),
      filter: (node) => this.filter(info, this.stateFor(info), node),
    });
    if (!found || found.victims.length === 0) {
      // Like kube-scheduler, removes the nomination when preemption does not help.
      if (this.nominations.delete(info.key)) this.pending.wakeForRoom();
      work.push(this.writes.nominate(info.pod, undefined));
      const total = this.view.nodes.length;
      const helpless = total - candidates.length;
      const all = new Map([...reasons, ...(helpless > 0 ? [[NOT_HELPFUL, helpless] as const] : [])]);
      return explain(unschedulableMessage(total, all));
    }
    const { name } = found.node;
    this.nominations.set(info, name);
    // Pods of lower priority lose their nomination to the node.
    for (const other of this.nominations.after(info, name)) {
      this.nominations.delete(other.key);
      work.push(this.writes.nominate(other.pod, undefined));
    }
    const victims = found.victims.map(({ pod }) => pod);
    work.push(this.writes.preempt(info.pod, name, victims));
    return undefined;
  }

  private isClearing(name: string, priority: number): boolean {
    for (const pod of this.context.informers.pods.store.byIndex(BY_NODE, name)) {
      if (pod.metadata.deletionTimestamp && (pod.spec?.priority ?? 0) < priority) return true;
    }
    return false;
  }

  private subscribe(enqueue: () => void): () => void {
    const { pods, nodes, namespaces, claims, volumes, storageClasses, csiNodes } = this.context.informers;
    this.enqueue = enqueue;
    const enqueueWork = (): void => {
      if (this.pending.hasWork) enqueue();
    };
    const onVolumes = (): void => {
      this.pending.wakeWithClaims();
      enqueueWork();
    };
    const ends = [
      pods.subscribe(({ type, object }) => {
        this.onPod(object, type === 'deleted');
        enqueueWork();
      }),
      nodes.subscribe((event) => {
        if (event.type === 'deleted') this.view.removeNode(event.object.metadata.name);
        else {
          const info = this.view.setNode(event.object);
          const change = nodeChange(info, event.object, event.type === 'updated' ? event.old : undefined);
          if (change) this.pending.wakeFor(change);
        }
        enqueueWork();
      }),
      namespaces.subscribe(() => {
        this.pending.wakeDependents();
        enqueueWork();
      }),
      claims.subscribe(({ object }) => {
        this.writes.onClaim(object);
        onVolumes();
      }),
      volumes.subscribe(onVolumes),
      storageClasses.subscribe(onVolumes),
      csiNodes.subscribe(onVolumes),
    ];
    return () => {
      for (const end of ends) end();
    };
  }

  private onPod(pod: Pod, gone: boolean): void {
    const key = keyOf(pod);
    const node = pod.spec?.nodeName;
    if (gone || isTerminal(pod)) {
      this.drop(key);
      this.writes.forget(pod);
      if (this.view.remove(key)) this.pending.wakeAll();
    } else if (node) {
      this.drop(key);
      const before = this.view.placeOf(key) === node ? this.view.infoOf(key) : undefined;
      const info = podInfo(pod);
      this.view.place(info, node);
      if (!before) this.pending.wakeDependents();
      else if (info.requested.some(([name, amount]) => amount < (before.requests[name] ?? 0))) this.pending.wakeAll();
    } else if (isPending(pod)) {
      // If the pod is counted on a node, this event is older than its binding.
      if (this.view.placeOf(key) === undefined) this.follow(pod);
    } else this.drop(key);
  }

  private follow(pod: Pod): void {
    const info = podInfo(pod);
    if (this.nominations.follow(info)) this.pending.wakeForRoom();
    this.pending.set(info);
  }

  /** Removes a pod from the queue, and releases its reservation. */
  private drop(key: string): void {
    this.pending.delete(key);
    if (this.nominations.delete(key)) this.pending.wakeForRoom();
  }
}

function causeOf({ reasons, improvable }: Search): FailureCause {
  if (improvable.length > 0) return 'room';
  return reasons.size > 0 && [...reasons.keys()].every((reason) => TAINT_REASONS.has(reason)) ? 'taints' : 'other';
}
