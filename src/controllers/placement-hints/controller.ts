import { Kinds, type Pod } from '../../api/kinds.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import { hintedNode } from '../../api/placementHint.ts';
import { ignoreNotFound, isConflict, isNotFound } from '../../kube/errors.ts';
import type { Counter } from '../../kube/metrics.ts';
import type { Controller, ReconcileResult } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { keyOf, refOf, watch, type Watch } from '../../kube/runtime/watch.ts';
import type { RegistrationHook } from '../nodeclaim-lifecycle/registrationHook.ts';
import type { World } from '../world/world.ts';
import { hintDecision } from './hintDecision.ts';
import { HintOutcomes } from './hintOutcomes.ts';
import { HintWriter } from './hintWriter.ts';
import { hintsCounter } from './metrics.ts';

export interface PlacementHintsOptions {
  /** Names of the schedulers that heed `nominatedNodeName`. */
  readonly schedulers: readonly string[];
}

/** Longest time that a Node waits with its `unregistered` taint for the hints of its pods, in milliseconds. */
const LONGEST_WAIT = 1_000;
const ATTEMPTS = 3;
/**
 * A hint that the scheduler has cleared is written again soon, for its node may be ready any moment; the scheduler's own
 * backoff keeps the times it clears one few. Only past `prompt` repetitions does the wait grow.
 */
const REPEAT = { wait: 100, prompt: 10, longest: 5_000 };
/** A hint without a plan is left for this long: after a restart, the next plan may say the same. */
const ORPHAN_WAIT = 5_000;

/**
 * Tells the scheduler where the plan expects each pod: it tries `status.nominatedNodeName` first, and keeps room there
 * from pods of the same or a lower priority. Without that it spreads pods by its own rules, and the last ones of a tight
 * plan find no room. Hints for a new node are written when its Node has joined, before it takes pods: earlier ones are
 * lost. The scheduler clears a hint after a failed attempt, so it is written again while pod and plan stand.
 */
export class PlacementHints {
  private readonly world: World;
  private readonly schedulers: ReadonlySet<string>;
  private readonly writer: HintWriter;
  private readonly counter: Counter;
  private readonly outcomes: HintOutcomes;
  /** By the UID of a pod that waits. */
  private readonly written = new Map<string, Written>();

  constructor(world: World, options: PlacementHintsOptions) {
    this.world = world;
    this.schedulers = new Set(options.schedulers);
    this.writer = new HintWriter(world.kube);
    this.counter = hintsCounter(world.metrics);
    this.outcomes = new HintOutcomes(world.ledger, this.counter);
  }

  controller(): Controller {
    const { informers, cluster } = this.world;
    const places: Watch = { start: (enqueue) => cluster.places.subscribe((pod) => enqueue(keyOf(pod))) };
    return reconciler({
      ...this.world,
      name: 'placement.hints',
      concurrency: 100,
      watches: [
        places,
        watch(informers.pods, ({ type, object }) => {
          const { uid = '' } = object.metadata;
          if (type === 'deleted') this.outcomes.forget(uid);
          else this.outcomes.observe(object);
          if (type !== 'deleted' && !object.spec?.nodeName) return this.concerns(object) ? [keyOf(object)] : [];
          this.written.delete(uid);
          return [];
        }),
      ],
      reconcile: async (key, { signal }) => {
        const pod = cluster.pod(refOf(key));
        return pod && this.hint(pod, signal);
      },
    });
  }

  /** Holds a Node back until its pods know of it, or for a second. */
  hook(): RegistrationHook {
    const { clock, cluster } = this.world;
    return {
      name: 'placement.hints',
      isDone: async (claim, signal) => {
        cluster.restorePlaces();
        const over = new AbortController();
        const work = this.hintPodsOf(claim, signal).finally(() => over.abort());
        const wait = clock.sleep(LONGEST_WAIT, over.signal).catch(() => undefined);
        await Promise.race([work, wait]);
        return true;
      },
    };
  }

  private async hintPodsOf(claim: NodeClaim, signal: AbortSignal): Promise<void> {
    const { cluster, log } = this.world;
    const pods = cluster.places.on(claim.metadata.name).map(({ pod }) => pod.metadata);
    const results = await Promise.allSettled(pods.map((ref) => this.hintNow(ref, signal)));
    const failed = results.filter((result) => result.status === 'rejected');
    // The loop tries again; the node must not wait for it.
    if (failed.length > 0) {
      const error: unknown = failed[0]?.reason;
      log.debug('hints were not written in time', { NodeClaim: claim.metadata.name, pods: failed.length, error });
    }
  }

  /** The scheduler writes to the pods that it looks at, which it does when a Node joins: its writes are waited for. */
  private async hintNow(ref: Pod['metadata'], signal: AbortSignal): Promise<void> {
    const { cluster, kube } = this.world;
    for (let attempt = 1; ; attempt++) {
      const pod = cluster.pod(ref);
      try {
        if (pod) await this.hint(pod, signal);
        return;
      } catch (error) {
        if (!isConflict(error) || attempt >= ATTEMPTS) throw error;
        await ignoreNotFound(kube.get(Kinds.Pod, { name: ref.name, namespace: ref.namespace }, { signal }));
      }
    }
  }

  private concerns(pod: Pod): boolean {
    return this.world.cluster.places.has(pod) || hintedNode(pod) !== undefined;
  }

  private async hint(pod: Pod, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const { clock, cluster } = this.world;
    const now = clock.now();
    const place = cluster.places.of(pod, now);
    const expectation = {
      view: place && cluster.places.viewOf(place),
      isPlanned: place !== undefined,
      matters: cluster.places.areMixed,
    };
    const node = hintDecision(pod, expectation, this.schedulers);
    if (node === undefined) return undefined;
    const { uid = '' } = pod.metadata;
    const known = this.written.get(uid);
    const last = known?.node === node ? known : { node, times: 0, at: now };
    const wait = last.at + waitAfter(last) - now;
    this.written.set(uid, wait > 0 ? last : { node, times: last.times + 1, at: now });
    if (wait > 0) return { requeueAfter: wait };
    try {
      await this.writer.write(pod, node, signal);
    } catch (error) {
      this.written.set(uid, last);
      // Its successor, if it has one, is another pod.
      if (isNotFound(error)) return undefined;
      throw error;
    }
    if (node === null) return undefined;
    this.counter.inc({ outcome: 'written' });
    this.outcomes.expect(pod, node);
    return undefined;
  }
}

/** What was last written for a pod, how often in a row, and when. */
interface Written {
  readonly node: string | null;
  readonly times: number;
  readonly at: number;
}

/** How long after the last write the next may follow. */
function waitAfter({ node, times }: Written): number {
  if (node === null) return ORPHAN_WAIT;
  return times === 0 ? 0 : Math.min(REPEAT.longest, REPEAT.wait * 2 ** Math.max(0, times - REPEAT.prompt));
}
