/**
 * Binds pending pods to nodes as kube-scheduler's default profile does. A pass costs what has changed, not what there is.
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
import { complaints, KEPT_OUT, seeker, unschedulableMessage, type Complaints, type Seeker } from './filters.ts';
import { namedNodes } from './nodeAffinity.ts';
import type { NodeInfo } from './nodeInfo.ts';
import { nodeNews, type Setback } from './nodeNews.ts';
import { Nominations } from './nominations.ts';
import { isPending, PendingPods } from './pendingPods.ts';
import { podInfo, type PodInfo } from './podInfo.ts';
import { findPreemption } from './preemption.ts';
import { SchedulerWrites } from './schedulerWrites.ts';
import { bestNode } from './scores.ts';

/** Milliseconds in which changes gather before a pass. */
const GATHER = 1;
const NOT_HELPFUL = 'Preemption is not helpful for scheduling';
/** Clusters of up to this many nodes are weighed whole. */
const WEIGH_ALL = 100;
/** The smallest share of a large cluster that is weighed, in percent. */
const SMALLEST_SHARE = 5;

/** How many feasible nodes a search must find: of large clusters a share that shrinks, as in kube-scheduler. */
function enoughNodes(total: number): number {
  if (total < WEIGH_ALL) return total;
  const share = Math.max(SMALLEST_SHARE, 50 - Math.floor(total / 125));
  return Math.max(WEIGH_ALL, Math.floor((total * share) / 100));
}

/** A pass after every change that could make room for a pod or bring a new one. */
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
  /** Nodes where fewer pods could help. */
  readonly improvable: NodeInfo[];
}

/** Why pods of a shape found no node. */
interface Failure {
  readonly text: string;
  readonly setback: Setback;
}

class Scheduler {
  private readonly context: ControlPlaneContext;
  private readonly view = new ClusterView();
  private readonly pending = new PendingPods();
  private readonly nominations = new Nominations();
  private readonly writes: SchedulerWrites;
  /** Where the next search begins, so that all nodes of a large cluster get their turn. */
  private start = 0;
  private enqueue: () => void = () => undefined;

  constructor(context: ControlPlaneContext, events: EventRecorder) {
    this.context = context;
    this.writes = new SchedulerWrites({ kube: context.kube, clock: context.clock, events });
  }

  watch(): Watch {
    return { start: (enqueue) => this.subscribe(() => enqueue('pass')) };
  }

  /** Places every pod that can be placed now; returns how many. */
  async pass(signal: AbortSignal): Promise<number> {
    const work: Promise<boolean>[] = [];
    const seekers = new Map<string, Seeker>();
    const failed = new Map<string, Failure>();
    for (const info of this.pending.take()) {
      // Room is kept for a nominated pod: what holds for pods alike need not hold for it.
      const known = this.nominations.nodeOf(info.key) === undefined ? failed.get(info.shape) : undefined;
      if (known !== undefined) {
        this.report(info, known, work, 'repeated');
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
      const total = this.view.nodes.length;
      const message =
        obstacle === undefined
          ? unschedulableMessage(total, search?.reasons ?? new Map())
          : `0/${total} nodes are available: ${obstacle}.`;
      // Without the claim kube-scheduler does not try preemption either.
      const hindrance =
        obstacle?.endsWith(' not found') === true ? 'not found' : this.preempt(info, search?.improvable ?? [], work);
      const text = hindrance === undefined || total === 0 ? message : `${message} ${hindrance}`;
      const setback = search === undefined ? 'other' : setbackOf(search);
      if (hindrance === undefined) {
        // Victims have begun to leave: what was found for others no longer holds.
        seekers.clear();
        failed.clear();
      } else failed.set(info.shape, { text, setback });
      this.report(info, { text, setback }, work);
    }
    const results = await Promise.allSettled(work);
    const failure = results.find((result) => result.status === 'rejected');
    if (failure) throw failure.reason as Error;
    return results.filter((result) => result.status === 'fulfilled' && result.value).length;
  }

  private seek(info: PodInfo): Seeker {
    const { informers } = this.context;
    const labelsOf = (name: string): Readonly<Record<string, string>> =>
      informers.namespaces.store.get({ name })?.metadata.labels ?? {};
    return seeker(info, this.view, labelsOf, informers);
  }

  /** Why the pod cannot run on the node, with the nominated pods that come before it there, or as the node is. */
  private judge(info: PodInfo, seeking: Seeker, node: NodeInfo): Complaints {
    const before = this.nominations.before(info, node.name);
    if (before.length === 0) return complaints(seeking, node);
    for (const other of before) this.view.place(other, node.name);
    const crowded = complaints(this.seek(info), node);
    for (const other of before) this.view.remove(other.key);
    // A nominated pod that never comes must not be what the pod relies on.
    return crowded.reasons.length > 0 ? crowded : complaints(seeking, node);
  }

  private search(info: PodInfo, seeking: Seeker): Search {
    const nominated = this.view.node(this.nominations.nodeOf(info.key) ?? '');
    if (nominated && this.judge(info, seeking, nominated).reasons.length === 0) {
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
      const found = this.judge(info, seeking, node);
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
  private take(info: PodInfo, node: NodeInfo, seekers: Map<string, Seeker>, failed: Map<string, Failure>): void {
    this.pending.delete(info.key);
    this.nominations.delete(info.key);
    this.view.place(info, node.name);
    for (const [shape, other] of seekers) {
      other.affinity.add(info.pod, node);
      other.spread.add(info.pod, node);
      // A pod that must be near another, or evenly spread, may fit now.
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
    const pod = this.context.informers.pods.store.get(info.pod.metadata);
    if (!pod || !isPending(pod)) return;
    this.follow(pod);
    this.pending.wake(info.key);
  }

  private letGo(info: PodInfo, binding: Promise<boolean>): void {
    const { log } = this.context;
    binding
      .catch((error: unknown) => log.error('a pod with volumes could not be bound', { object: info.key, error }))
      .finally(() => {
        if (this.pending.hasWork) this.enqueue();
      });
  }

  private report(info: PodInfo, { text, setback }: Failure, work: Promise<boolean>[], how?: 'repeated'): void {
    const report = this.writes.reportUnschedulable(info.pod, text, how);
    this.pending.failed(info.key, setback, report !== undefined);
    if (report) work.push(this.orWake(info, report));
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

  /** Removes pods of lower priority; or, when that cannot be or would not help, returns why, as kube-scheduler does. */
  private preempt(info: PodInfo, candidates: readonly NodeInfo[], work: Promise<boolean>[]): string | undefined {
    const hindered = (why: string): string => `no new claims to deallocate, preemption: ${why}`;
    if (info.pod.spec?.preemptionPolicy === 'Never') return hindered('not eligible due to preemptionPolicy=Never.');
    const nominated = this.nominations.nodeOf(info.key);
    // Room is being made already; the victims take their time.
    if (nominated !== undefined && this.isClearing(nominated, info.priority)) {
      return hindered('not eligible due to a terminating pod on the nominated node.');
    }
    const { found, reasons } = findPreemption({
      info,
      view: this.view,
      candidates,
      budgets: this.context.informers.budgets.store.list(),
      judge: (node) => this.judge(info, this.seek(info), node),
    });
    if (!found || found.victims.length === 0) {
      // As in kube-scheduler, a nomination ends when not even preemption helps.
      if (this.nominations.delete(info.key)) this.pending.wakeCrowdedOut();
      work.push(this.writes.nominate(info.pod, undefined));
      const total = this.view.nodes.length;
      const helpless = total - candidates.length;
      const all = new Map([...reasons, ...(helpless > 0 ? [[NOT_HELPFUL, helpless] as const] : [])]);
      return hindered(unschedulableMessage(total, all));
    }
    const { name } = found.node;
    this.nominations.set(info, name);
    // Pods of lower priority that were to have the node must look for another.
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
          const news = nodeNews(info, event.object, event.type === 'updated' ? event.old : undefined);
          if (news) this.pending.wakeFor(news);
        }
        enqueueWork();
      }),
      namespaces.subscribe(() => {
        this.pending.wakeSociable();
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
      if (!before) this.pending.wakeSociable();
      else if (info.requested.some(([name, amount]) => amount < (before.requests[name] ?? 0))) this.pending.wakeAll();
    } else if (isPending(pod)) {
      // Bound by us, and the news is older than that.
      if (this.view.placeOf(key) === undefined) this.follow(pod);
    } else this.drop(key);
  }

  private follow(pod: Pod): void {
    const info = podInfo(pod);
    if (this.nominations.follow(info)) this.pending.wakeCrowdedOut();
    this.pending.set(info);
  }

  /** The pod waits no longer; others may have the room that was kept for it. */
  private drop(key: string): void {
    this.pending.delete(key);
    if (this.nominations.delete(key)) this.pending.wakeCrowdedOut();
  }
}

function setbackOf({ reasons, improvable }: Search): Setback {
  if (improvable.length > 0) return 'crowded out';
  return reasons.size > 0 && [...reasons.keys()].every((reason) => KEPT_OUT.has(reason)) ? 'kept out' : 'other';
}
