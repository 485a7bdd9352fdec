import { NodeClaimConditions } from '../../api/conditionTypes.ts';
import { Kinds, type Pod } from '../../api/kinds.ts';
import { isActive, isTerminating } from '../../cluster/podPredicates.ts';
import { isConflict, isNotFound, isTooManyRequests, KubeError } from '../../kube/errors.ts';
import type { Controller, ReconcileResult } from '../../kube/runtime/controller.ts';
import { reconciler, type ReconcileContext } from '../../kube/runtime/reconciler.ts';
import { keyOf, refOf } from '../../kube/runtime/watch.ts';
import type { World } from '../world.ts';
import * as publish from './events.ts';
import { evictionMetrics, type EvictionMetrics } from './metrics.ts';
import { isDoNotDisrupt } from './doNotDisrupt.ts';

interface Entry {
  readonly uid: string;
  /** When the node must be empty, in milliseconds; absent when it may take for ever. */
  deadline: number | undefined;
}

const FORCEFUL = 'Forceful Termination';

/**
 * Evicts pods, each at its own pace: a PodDisruptionBudget that says no is asked again with growing waits. In: `add`.
 * Out: evictions, or deletions once a node's deadline leaves no time for asking.
 */
export class EvictionQueue {
  readonly #world: World;
  readonly #metrics: EvictionMetrics;
  readonly #entries = new Map<string, Entry>();
  #enqueue: ((key: string) => void) | undefined;

  constructor(world: World) {
    this.#world = world;
    this.#metrics = evictionMetrics(world.metrics);
  }

  /** A pod that is in the queue already keeps the earlier deadline. */
  add(pod: Pod, deadline?: number): void {
    const key = keyOf(pod);
    const uid = pod.metadata.uid ?? '';
    const known = this.#entries.get(key);
    if (known?.uid === uid) {
      if (deadline !== undefined) known.deadline = Math.min(deadline, known.deadline ?? deadline);
      return;
    }
    this.#entries.set(key, { uid, deadline });
    this.#enqueue?.(key);
  }

  controller(): Controller {
    return reconciler({
      ...this.#world,
      name: 'eviction-queue',
      concurrency: 100,
      backoff: { base: 100, max: 10_000 },
      watches: [
        {
          start: (enqueue) => {
            this.#enqueue = enqueue;
            for (const key of this.#entries.keys()) enqueue(key);
            return () => (this.#enqueue = undefined);
          },
        },
      ],
      reconcile: (key, context) => this.#reconcile(key, context),
    });
  }

  async #reconcile(key: string, { signal, failures }: ReconcileContext): Promise<ReconcileResult | undefined> {
    const { informers, clock } = this.#world;
    const entry = this.#entries.get(key);
    const pod = informers.pods.store.get(refOf(key));
    if (!entry || pod?.metadata.uid !== entry.uid) {
      this.#entries.delete(key);
      return undefined;
    }
    if (mustForce(pod, entry.deadline, clock.now())) {
      await this.#forceDelete(pod, entry.deadline ?? clock.now(), signal);
      this.#entries.delete(key);
      return undefined;
    }
    if (!isActive(pod)) {
      this.#entries.delete(key);
      return undefined;
    }
    const done = !isDoNotDisrupt(pod, clock.now()) && (await this.#evict(pod, signal));
    if (done) {
      this.#entries.delete(key);
      return undefined;
    }
    return { requeueAfter: Math.min(10_000, 100 * 2 ** Math.min(failures + this.#tries(entry), 7)) };
  }

  readonly #attempts = new WeakMap<Entry, number>();

  #tries(entry: Entry): number {
    const tries = this.#attempts.get(entry) ?? 0;
    this.#attempts.set(entry, tries + 1);
    return tries;
  }

  /** True when there is nothing more to ask for. */
  async #evict(pod: Pod, signal: AbortSignal): Promise<boolean> {
    const { kube, events } = this.#world;
    const ref = { name: pod.metadata.name, namespace: pod.metadata.namespace };
    const preconditions = pod.metadata.uid === undefined ? {} : { uid: pod.metadata.uid };
    try {
      await kube.evict(ref, { preconditions, signal });
    } catch (error) {
      if (error instanceof KubeError) this.#metrics.requests.inc({ code: String(error.code) });
      if (isNotFound(error) || isConflict(error)) return true;
      const severalBudgets = error instanceof KubeError && error.message.includes('more than one PodDisruptionBudget');
      if (!isTooManyRequests(error) && !severalBudgets) throw error;
      publish.failedDraining(events, pod, error instanceof Error ? error.message : String(error));
      return false;
    }
    this.#metrics.requests.inc({ code: '200' });
    const reason = this.#reasonFor(pod);
    this.#metrics.drained.inc({ reason });
    publish.evicted(events, pod, reason);
    return true;
  }

  async #forceDelete(pod: Pod, deadline: number, signal: AbortSignal): Promise<void> {
    const { kube, clock, events } = this.#world;
    const gracePeriodSeconds = Math.max(1, Math.floor((deadline - clock.now()) / 1000));
    const preconditions = pod.metadata.uid === undefined ? {} : { uid: pod.metadata.uid };
    const ref = { name: pod.metadata.name, namespace: pod.metadata.namespace };
    try {
      await kube.delete(Kinds.Pod, ref, { gracePeriodSeconds, preconditions, signal });
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
      return;
    }
    this.#metrics.drained.inc({ reason: this.#reasonFor(pod) });
    publish.disrupted(events, pod, gracePeriodSeconds);
  }

  #reasonFor(pod: Pod): string {
    const { cluster, informers } = this.#world;
    const node = informers.nodes.store.get({ name: pod.spec?.nodeName ?? '' });
    const claim = node && cluster.claimByProviderID(node.spec?.providerID ?? '');
    if (!claim) return '';
    const chosen = claim.status?.conditions?.find(({ type }) => type === NodeClaimConditions.disruptionReason);
    return chosen?.status === 'True' ? (chosen.reason ?? FORCEFUL) : FORCEFUL;
  }
}

/** Whether waiting any longer would let the pod's own grace period run past the node's deadline. */
export function mustForce(pod: Pod, deadline: number | undefined, now: number): boolean {
  if (deadline === undefined) return false;
  if (isTerminating(pod)) return Date.parse(pod.metadata.deletionTimestamp ?? '') > deadline;
  const grace = pod.spec?.terminationGracePeriodSeconds;
  return grace !== undefined && now > deadline - grace * 1000;
}
