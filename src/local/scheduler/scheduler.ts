/**
 * Binds pending pods to nodes as kube-scheduler's default profile does. In: pods, nodes, claims. Out: bindings, promises
 * of room after preemption, and for the others why they wait. A pass costs what has changed, not what there is.
 */
import type { Namespace, Node, Pod, PodDisruptionBudget } from '../../api/kinds.ts';
import type { Clock } from '../../clock/clock.ts';
import type { Random } from '../../clock/random.ts';
import type { EventRecorder } from '../../kube/eventRecorder.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Kube } from '../../kube/kube.ts';
import type { Log } from '../../kube/log.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { keyOf, type Watch } from '../../kube/runtime/watch.ts';
import { ClusterView } from './clusterView.ts';
import { complaints, seeker, unschedulableMessage, type Seeker } from './filters.ts';
import { namedNodes } from './nodeAffinity.ts';
import type { NodeInfo } from './nodeInfo.ts';
import { isPending, PendingPods } from './pendingPods.ts';
import { isTerminal, podInfo, type PodInfo } from './podInfo.ts';
import { findPreemption } from './preemption.ts';
import { SchedulerWrites } from './schedulerWrites.ts';
import { bestNode } from './scores.ts';
import type { VolumeSources } from './volumes.ts';

export interface SchedulerOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly events: EventRecorder;
  readonly pods: Informer<Pod>;
  readonly nodes: Informer<Node>;
  readonly namespaces: Informer<Namespace>;
  /** Preemption spares what they protect. */
  readonly budgets?: Informer<PodDisruptionBudget>;
  /** Without it no pod is kept from a node by its volumes. */
  readonly storage?: VolumeSources;
}

/** Name of the pod informer's index by `spec.nodeName`. */
export const BY_NODE = 'spec.nodeName';

/** Milliseconds in which changes gather before a pass. */
const GATHER = 1;
/** In small clusters every node is weighed; in large ones a share of them that shrinks, as in kube-scheduler. */
const NOT_HELPFUL = 'Preemption is not helpful for scheduling';
const WEIGH_ALL = 100;
const SMALLEST_SHARE = 5;

function enoughNodes(total: number): number {
  if (total < WEIGH_ALL) return total;
  const share = Math.max(SMALLEST_SHARE, 50 - Math.floor(total / 125));
  return Math.max(WEIGH_ALL, Math.floor((total * share) / 100));
}

/** A pass after every change that could make room for a pod or bring a new one. */
export function schedulerController(options: SchedulerOptions): Controller {
  const scheduler = new Scheduler(options);
  return reconciler({
    name: 'local.scheduler',
    clock: options.clock,
    random: options.random,
    log: options.log,
    watches: [scheduler.watch()],
    reconcile: async (_key, { signal }) => {
      // What happens together is weighed together: a pass costs little more for a thousand pods than for one.
      await options.clock.sleep(GATHER, signal);
      await scheduler.pass(signal);
    },
  });
}

interface Search {
  readonly feasible: NodeInfo[];
  readonly reasons: ReadonlyMap<string, number>;
  /** Nodes where fewer pods could help. */
  readonly improvable: NodeInfo[];
}

class Scheduler {
  private readonly options: SchedulerOptions;
  private readonly view = new ClusterView();
  private readonly pending = new PendingPods();
  private readonly writes: SchedulerWrites;
  /** Room that was made for a pod, until it takes it. */
  private readonly promises = new Map<string, { readonly info: PodInfo; readonly node: string }>();
  /** Where the next search begins, so that all nodes of a large cluster get their turn. */
  private start = 0;
  private enqueue: () => void = () => undefined;

  constructor(options: SchedulerOptions) {
    this.options = options;
    this.writes = new SchedulerWrites(options);
  }

  watch(): Watch {
    return { start: (enqueue) => this.subscribe(() => enqueue('pass')) };
  }

  /** Places every pod that can be placed now; returns how many. */
  async pass(signal: AbortSignal): Promise<number> {
    const work: Promise<boolean>[] = [];
    const seekers = new Map<string, Seeker>();
    const failed = new Map<string, string>();
    for (const info of this.pending.take()) {
      const known = failed.get(info.shape);
      if (known !== undefined) {
        work.push(this.orWake(info, this.writes.reportUnschedulable(info.pod, known, 'repeated')));
        continue;
      }
      const seeking = seekers.get(info.shape) ?? this.seek(info);
      seekers.set(info.shape, seeking);
      const obstacle = seeking.volumes?.obstacle;
      const search = obstacle === undefined ? this.search(info, seeking) : undefined;
      const best = search && bestNode(seeking, search.feasible);
      if (best) {
        this.take(info, best, seekers, failed);
        const binding = this.bind(info, best, seeking, signal);
        // Volumes take their time; the pass does not wait for them.
        if ((seeking.volumes?.unbound.length ?? 0) > 0) this.letGo(info, binding);
        else work.push(binding);
        continue;
      }
      const message =
        obstacle === undefined
          ? unschedulableMessage(this.view.nodes.length, search?.reasons ?? new Map())
          : `0/${this.view.nodes.length} nodes are available: ${obstacle}.`;
      // A claim that is not there ends kube-scheduler's thoughts about preemption, too.
      const hindrance =
        obstacle?.endsWith(' not found') === true ? 'not found' : this.preempt(info, search?.improvable ?? [], work);
      const text = hindrance === undefined || this.view.nodes.length === 0 ? message : `${message} ${hindrance}`;
      failed.set(info.shape, text);
      if (hindrance === undefined) {
        // Victims have begun to leave: what was found for others no longer holds.
        seekers.clear();
        failed.clear();
      }
      work.push(this.orWake(info, this.writes.reportUnschedulable(info.pod, text)));
    }
    const results = await Promise.allSettled(work);
    const failure = results.find((result) => result.status === 'rejected');
    if (failure) throw failure.reason as Error;
    return results.filter((result) => result.status === 'fulfilled' && result.value).length;
  }

  private seek(info: PodInfo): Seeker {
    const { namespaces } = this.options;
    const base = seeker(
      info,
      this.view,
      (name) => namespaces.store.get({ name })?.metadata.labels ?? {},
      this.options.storage,
    );
    return this.promises.size === 0
      ? base
      : { ...base, promised: (node, resource) => this.promised(info, node, resource) };
  }

  /** What more urgent pods, or equally urgent ones, were promised on the node. */
  private promised(info: PodInfo, node: NodeInfo, resource: string): number {
    let sum = 0;
    for (const promise of this.promises.values()) {
      if (promise.node !== node.name || promise.info.key === info.key || promise.info.priority < info.priority)
        continue;
      sum += promise.info.requests[resource] ?? 0;
    }
    return sum;
  }

  private search(info: PodInfo, seeking: Seeker): Search {
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
      const found = complaints(seeking, node);
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

  /** The pod counts on its node from now on, whatever the API server has seen of it. */
  private take(info: PodInfo, node: NodeInfo, seekers: Map<string, Seeker>, failed: Map<string, string>): void {
    this.pending.delete(info.key);
    this.promises.delete(info.key);
    this.view.place(info, node.name);
    for (const [shape, other] of seekers) {
      other.affinity.add(info.pod, node);
      other.spread.add(info.pod, node);
      // A pod that wants company, or to be spread, may fit now.
      if (this.pending.isSociable(other.info)) failed.delete(shape);
    }
    this.pending.wakeSociable();
  }

  private async bind(info: PodInfo, node: NodeInfo, seeking: Seeker, signal: AbortSignal): Promise<boolean> {
    let bound = false;
    try {
      bound = await this.writes.bind(info.pod, node.name, seeking.volumes?.unbound ?? [], signal);
    } finally {
      if (!bound) this.putBack(info);
    }
    return bound;
  }

  /** The pod did not get its node: it waits again, if it is still there. */
  private putBack(info: PodInfo): void {
    this.view.remove(info.key);
    const pod = this.options.pods.store.get({ name: info.pod.metadata.name, namespace: info.pod.metadata.namespace });
    if (!pod || !isPending(pod)) return;
    this.pending.set(podInfo(pod));
    this.pending.wake(info.key);
  }

  private letGo(info: PodInfo, binding: Promise<boolean>): void {
    const { log } = this.options;
    binding
      .catch((error: unknown) => log.error('a pod with volumes could not be bound', { object: info.key, error }))
      .finally(() => {
        if (this.pending.hasWork) this.enqueue();
      });
  }

  /** A report that did not get through is made again. */
  private async orWake(info: PodInfo, report: Promise<boolean>): Promise<boolean> {
    try {
      return await report;
    } catch (error) {
      this.pending.wake(info.key);
      throw error;
    }
  }

  /** Tells less urgent pods to leave; or, when that cannot be or would not help, returns why, as kube-scheduler does. */
  private preempt(info: PodInfo, candidates: readonly NodeInfo[], work: Promise<boolean>[]): string | undefined {
    const hindered = (why: string): string => `no new claims to deallocate, preemption: ${why}`;
    if (info.pod.spec?.preemptionPolicy === 'Never') return hindered('not eligible due to preemptionPolicy=Never.');
    const promise = this.promises.get(info.key);
    // Room is being made already; the victims take their time.
    if (promise && this.isClearing(promise.node, info.priority)) {
      return hindered('not eligible due to a terminating pod on the nominated node.');
    }
    const { found, reasons } = findPreemption({
      info,
      view: this.view,
      candidates,
      budgets: this.options.budgets?.store.list() ?? [],
      seek: () => this.seek(info),
    });
    if (!found || found.victims.length === 0) {
      const total = this.view.nodes.length;
      const helpless = total - candidates.length;
      const all = new Map([...reasons, ...(helpless > 0 ? [[NOT_HELPFUL, helpless] as const] : [])]);
      return hindered(unschedulableMessage(total, all));
    }
    this.promises.set(info.key, { info, node: found.node.name });
    work.push(
      this.writes.preempt(
        info.pod,
        found.node.name,
        found.victims.map(({ pod }) => pod),
      ),
    );
    return undefined;
  }

  private isClearing(name: string, priority: number): boolean {
    for (const pod of this.options.pods.store.byIndex(BY_NODE, name)) {
      if (pod.metadata.deletionTimestamp && (pod.spec?.priority ?? 0) < priority) return true;
    }
    return false;
  }

  private subscribe(enqueue: () => void): () => void {
    const { pods, nodes, namespaces, storage } = this.options;
    this.enqueue = enqueue;
    const tell = (): void => {
      if (this.pending.hasWork) enqueue();
    };
    const onVolumes = (): void => {
      this.pending.wakeWithClaims();
      tell();
    };
    const ends = [
      pods.subscribe(({ type, object }) => {
        this.onPod(object, type === 'deleted');
        tell();
      }),
      nodes.subscribe((event) => {
        if (event.type === 'deleted') this.view.removeNode(event.object.metadata.name);
        else {
          this.view.setNode(event.object);
          if (event.type === 'added' || placement(event.old) !== placement(event.object)) this.pending.wakeAll();
        }
        tell();
      }),
      namespaces.subscribe(() => {
        this.pending.wakeSociable();
        tell();
      }),
      storage?.claims.subscribe(({ object }) => {
        this.writes.onClaim(object);
        onVolumes();
      }),
      storage?.volumes.subscribe(onVolumes),
      storage?.storageClasses.subscribe(onVolumes),
      storage?.csiNodes.subscribe(onVolumes),
    ];
    return () => {
      for (const end of ends) end?.();
    };
  }

  private onPod(pod: Pod, gone: boolean): void {
    const key = keyOf(pod);
    const node = pod.spec?.nodeName;
    if (gone || isTerminal(pod)) {
      this.pending.delete(key);
      this.promises.delete(key);
      this.writes.forget(pod);
      if (this.view.remove(key)) this.pending.wakeAll();
    } else if (node) {
      this.pending.delete(key);
      this.promises.delete(key);
      const wasHere = this.view.placeOf(key) === node;
      this.view.place(podInfo(pod), node);
      if (!wasHere) this.pending.wakeSociable();
    } else if (isPending(pod)) {
      // Bound by us, and the news is older than that.
      if (this.view.placeOf(key) === undefined) this.pending.set(podInfo(pod));
    } else this.pending.delete(key);
  }
}

/** What of a node decides which pods fit. */
const placement = ({ metadata, spec, status }: Node): string =>
  JSON.stringify([metadata.labels, spec?.taints, spec?.unschedulable, status?.allocatable]);
