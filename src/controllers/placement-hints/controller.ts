import { Kinds, type Pod } from '../../api/kinds.ts';
import { hintedNode } from '../../api/placementHint.ts';
import { ignoreNotFound, isConflict, isNotFound } from '../../kube/errors.ts';
import type { Counter } from '../../kube/metrics.ts';
import type { Controller, ReconcileResult } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { podKind } from '../../pods/podKind.ts';
import type { NodeView } from '../../cluster/nodeView.ts';
import { canBeToldTogether, onlySkew, spreadKey, toldAtOnce } from '../../cluster/spreadOrder.ts';
import type { Place } from '../../cluster/placements.ts';
import { stillPromised } from '../../cluster/stillPromised.ts';
import { keyOf, refOf, watch, type Watch } from '../../kube/runtime/watch.ts';
import type { RegistrationHook } from '../nodeclaim-lifecycle/registrationHook.ts';
import type { World } from '../world/world.ts';
import { hintDecision } from './hintDecision.ts';
import { HintOutcomes } from './hintOutcomes.ts';
import { HintWriter, type HintOptions } from './hintWriter.ts';
import { hintsCounter } from './metrics.ts';
import { NodeOpening, type Telling } from './nodeOpening.ts';
import { reseat } from './reseating.ts';
import type { Resources } from '../../units/resources.ts';

export interface PlacementHintsOptions {
  /** Names of schedulers that respect `nominatedNodeName`. */
  readonly schedulers: readonly string[];
}

interface PlacementHintsPorts {
  /** Free resources after running pods and expected daemons. */
  readonly freeOn: (view: NodeView) => Resources;
}

/** Milliseconds without a written hint after which waiting for hints ends. */
const IDLE = 1_000;
const ATTEMPTS = 3;
/**
 * A hint cleared by the scheduler is rewritten soon, because its node may be ready any moment. After `prompt`
 * consecutive repetitions with less than `calm` between them, the wait grows.
 */
const REPEAT = { wait: 20, prompt: 10, longest: 5_000, calm: 1_000 };
/**
 * Milliseconds between a failed attempt for a pod and rewriting its hint: when a hint is cleared, the scheduler tries
 * all pods again and would clear an earlier write at once.
 */
const PAUSE = 2;
/** How often a pod whose room others have taken looks for another place, in milliseconds. */
const LOOK_AGAIN = 250;
/** A hint without a plan is kept this long: after a restart, the next plan may repeat it. */
const ORPHAN_WAIT = 5_000;

/**
 * Tells the scheduler where the plan expects each pod: it tries `status.nominatedNodeName` first, and reserves room
 * there against pods of the same or lower priority. Without hints it spreads pods by its own rules, and the last ones
 * of a tight plan find no room. Hints for a new node are written after its Node has joined and before it accepts pods:
 * earlier ones are lost. The scheduler clears a hint after a failed attempt, so it is rewritten as long as pod and plan
 * exist.
 */
export class PlacementHints {
  private readonly world: World;
  private readonly freeOn: PlacementHintsPorts['freeOn'];
  private readonly schedulers: ReadonlySet<string>;
  private readonly writer: HintWriter;
  private readonly counter: Counter;
  private readonly outcomes: HintOutcomes;
  private readonly opening: NodeOpening;
  /** By the UID of a waiting pod: when the scheduler was last seen to try it. */
  private readonly tried = new Map<string, number>();
  /** By the UID of a waiting pod: the last hint. */
  private readonly said = new Map<string, Said>();
  private enqueue: (key: string) => void = () => undefined;
  private readonly lastTried = ({ metadata }: Pod): number => this.tried.get(metadata.uid ?? '') ?? 0;

  constructor(world: World, options: PlacementHintsOptions & PlacementHintsPorts) {
    this.world = world;
    this.freeOn = options.freeOn;
    this.schedulers = new Set(options.schedulers);
    this.writer = new HintWriter(world.kube);
    this.counter = hintsCounter(world.metrics);
    this.outcomes = new HintOutcomes(world.ledger, this.counter);
    this.opening = new NodeOpening({
      clock: world.clock,
      areMoreComing: () => world.cluster.places.areAwaitingNodes,
      arrange: (claims, settled) => world.cluster.places.turns.arrange(claims, settled, this.lastTried),
      inOrder: (claims) => world.cluster.places.turns.inOrder(claims, this.lastTried),
      tell: (claims, end, options) => this.tell(claims, end, options),
    });
  }

  controller(): Controller {
    const { informers, cluster } = this.world;
    const places: Watch = {
      start: (enqueue) => {
        this.enqueue = enqueue;
        return cluster.places.subscribe((pod) => enqueue(keyOf(pod)));
      },
    };
    return reconciler({
      ...this.world,
      name: 'placement.hints',
      concurrency: 100,
      watches: [
        places,
        watch(informers.pods, (event) => {
          const { type, object } = event;
          const { uid = '' } = object.metadata;
          const told = this.outcomes.nodeOf(object);
          if (type === 'deleted') this.outcomes.forget(uid);
          else this.outcomes.observe(object);
          if (type !== 'deleted' && !object.spec?.nodeName) {
            // We only write hints to waiting pods: any other change comes from the scheduler.
            const isOurs = type === 'added' || hintedNode(object) !== hintedNode(event.old);
            if (!isOurs || hintedNode(object) === undefined) this.tried.set(uid, this.world.clock.now());
            return this.concerns(object) ? [keyOf(object)] : [];
          }
          this.said.delete(uid);
          this.tried.delete(uid);
          const isStray = type === 'updated' && !event.old.spec?.nodeName && told !== object.spec?.nodeName;
          const crowded = isStray ? this.expectedOn(object.spec?.nodeName ?? '') : [];
          return [...(isStray ? [keyOf(object)] : []), ...crowded, ...this.siblingsOf(object)];
        }),
      ],
      reconcile: async (key, { signal }) => {
        const pod = cluster.pod(refOf(key));
        if (pod?.spec?.nodeName) return this.makeRoom(pod.spec.nodeName);
        if (pod === undefined || this.isEarly(pod)) return undefined;
        const crowded = this.outrunOn(pod);
        if (crowded !== undefined) this.makeRoom(crowded);
        const result = await this.hint(pod, { signal });
        return this.outrunOn(pod) === undefined ? result : { requeueAfter: LOOK_AGAIN };
      },
    });
  }

  /** Delays the registration of a Node until its pods have hints, but only for a limited time. */
  hook(): RegistrationHook {
    return {
      name: 'placement.hints',
      isDone: async ({ metadata: { name } }, signal) => {
        this.world.cluster.restorePlaces();
        await this.opening.join(name, signal);
        return true;
      },
      opened: ({ metadata: { name } }, signal) => this.opening.opened(name, signal),
    };
  }

  /** Writes hints for the pods with a place on the nodes of these claims. */
  private async tell(claims: readonly string[], end: () => number, options: HintOptions): Promise<Telling> {
    const { cluster } = this.world;
    const unsaid = cluster.places.turns.inTurn(claims, this.lastTried).flatMap(({ place }) => {
      const pod = cluster.pod(place.pod.metadata);
      return pod && this.decide(pod) ? [pod] : [];
    });
    if (unsaid.length === 0) return 'said';
    return (await this.written(unsaid, end, options)) ? 'told' : 'late';
  }

  /** Writes the hints of these pods; false when the time to wait is over, in which case the writes continue. */
  private async written(pods: readonly Pod[], end: () => number, options: HintOptions): Promise<boolean> {
    const { clock, log } = this.world;
    let isDone = false;
    const over = new AbortController();
    const work = Promise.allSettled(pods.map(({ metadata }) => this.hintNow(metadata, options))).then((results) => {
      isDone = true;
      over.abort();
      // The loop will retry; the node must not wait for it.
      const error: unknown = results.find((result) => result.status === 'rejected')?.reason;
      if (error !== undefined) log.debug('hints could not be written', { error });
    });
    for (let before = -1; !isDone && before < this.writer.finished && clock.now() < end();) {
      before = this.writer.finished;
      await Promise.race([work, clock.sleep(IDLE, over.signal).catch(() => undefined)]);
    }
    return isDone;
  }

  /** The scheduler writes to the pods that it tries, as it does when a Node joins: wait for its writes. */
  private async hintNow(ref: Pod['metadata'], { signal, isUrgent = false }: HintOptions): Promise<void> {
    const { cluster, kube } = this.world;
    for (let attempt = 1; ; attempt++) {
      const pod = cluster.pod(ref);
      try {
        if (pod) await this.hint(pod, { signal, isUrgent: isUrgent || attempt > 1 }, 'now');
        return;
      } catch (error) {
        if (!isConflict(error) || attempt >= ATTEMPTS) throw error;
        const { name, namespace } = ref;
        await ignoreNotFound(kube.get(Kinds.Pod, { name, namespace }, { signal, isUrgent: true }));
      }
    }
  }

  /**
   * Whether the pod's node has joined and its group has not been told yet: the scheduler would clear an earlier hint.
   */
  private isEarly(pod: Pod): boolean {
    const { places } = this.world.cluster;
    const place = places.of(pod, this.world.clock.now());
    const view = place && places.viewOf(place);
    return view !== undefined && !view.registered && !this.opening.hasBegun(view.name);
  }

  /** An unexpected pod was bound to this node: expected ones may no longer fit. */
  private makeRoom(node: string): undefined {
    const { cluster, clock, log } = this.world;
    if (!cluster.places.areMixed) return;
    const moved = reseat({ cluster, freeOn: this.freeOn }, node, clock.now());
    if (moved === 0) return;
    log.debug('changed the planned nodes of pods', { Node: node, pods: moved });
    for (const key of this.expectedOn(node)) this.enqueue(key);
  }

  /** Pods that are expected on the node and do not run yet. */
  private expectedOn(node: string): readonly string[] {
    const { turns } = this.world.cluster.places;
    return this.world.cluster.places.on(node).flatMap((place) => (turns.waits(place) ? [keyOf(place.pod)] : []));
  }

  /**
   * The node that the pod is expected on, if others have taken its room there. Nominated all the same, it would keep out
   * those that have room: the scheduler counts it against each of them.
   */
  private outrunOn(pod: Pod): string | undefined {
    const { places } = this.world.cluster;
    const place = places.of(pod, this.world.clock.now());
    const view = place && places.viewOf(place);
    if (view?.registered !== true || pod.spec?.nodeName) return undefined;
    const waiting = places.on(view.name).flatMap((each) => (places.turns.waits(each) ? [each.pod] : []));
    const { outrun } = stillPromised(waiting, this.freeOn(view));
    return outrun.some(({ metadata }) => metadata.uid === pod.metadata.uid) ? view.name : undefined;
  }

  private concerns(pod: Pod): boolean {
    return this.world.cluster.places.has(pod) || hintedNode(pod) !== undefined;
  }

  /** Pods of the same kind with a spread constraint, expected on the node to which this one was bound. */
  private siblingsOf(pod: Pod): readonly string[] {
    const { places } = this.world.cluster;
    if (spreadKey(pod) === undefined) return [];
    const { kind } = podKind(pod);
    return places
      .on(pod.spec?.nodeName ?? '')
      .flatMap((place) => (podKind(place.pod).kind === kind ? [keyOf(place.pod)] : []));
  }

  /**
   * The scheduler counts pods nominated to a node as running there, so several nominated spread pods may block one
   * another. So only the pods that it tries first get a hint, and others only if all can be bound in turn anyway.
   */
  private isBlocked(pod: Pod, place: Place): boolean {
    const key = spreadKey(pod);
    if (key === undefined) return false;
    const { cluster } = this.world;
    // A pod without siblings on its node needs no look at the turns of all.
    if (this.siblingsOn(cluster.places.viewOf(place)?.name ?? '', pod) <= toldAtOnce(pod)) return false;
    const { places, before } = cluster.places.turns.spread(place, key, this.lastTried);
    const turn = places.findIndex((each) => each.pod.metadata.uid === pod.metadata.uid);
    const node = places[turn]?.node;
    const isTold = (ref: Pod['metadata']): boolean => {
      const sibling = cluster.pod(ref);
      return sibling !== undefined && hintedNode(sibling) !== undefined;
    };
    const told = places.filter((each, at) => at <= turn || isTold(each.pod.metadata));
    if (told.filter((each) => each.node === node).length <= toldAtOnce(pod)) return false;
    const skew = onlySkew(pod);
    return skew === undefined || !canBeToldTogether(told, before, skew);
  }

  /** How many pods of this kind wait for the node, this one included. */
  private siblingsOn(node: string, pod: Pod): number {
    const { kind } = podKind(pod);
    const { places } = this.world.cluster;
    return places.on(node).filter((each) => podKind(each.pod).kind === kind && places.turns.waits(each)).length;
  }

  private decide(pod: Pod): string | null | undefined {
    const { places } = this.world.cluster;
    const place = places.of(pod, this.world.clock.now());
    // Other nodes with room for a moved pod may be about to be removed as well.
    const matters = places.areMixed || place?.moved === true;
    const expectation = {
      view: place && places.viewOf(place),
      isPlanned: place !== undefined,
      matters: matters && !(place && this.isBlocked(pod, place)),
      isOutrun: matters && this.outrunOn(pod) !== undefined,
    };
    return hintDecision(pod, expectation, this.schedulers);
  }

  private async hint(pod: Pod, options: HintOptions, when?: 'now'): Promise<ReconcileResult | undefined> {
    const now = this.world.clock.now();
    const node = this.decide(pod);
    if (node === undefined) return undefined;
    const { uid = '' } = pod.metadata;
    const known = this.said.get(uid);
    const last = known?.node === node ? known : { node, times: 0, at: now };
    const isOrphan = node === null && this.world.cluster.places.of(pod, now) === undefined;
    const repeated = Math.max(last.at + waitAfter(last), this.lastTried(pod) + PAUSE) - now;
    const wait = isOrphan ? last.at + ORPHAN_WAIT - now : when === 'now' || last.times === 0 ? 0 : repeated;
    const times = now - last.at > REPEAT.calm ? 1 : last.times + 1;
    this.said.set(uid, wait > 0 ? last : { node, times, at: now });
    if (wait > 0) return { requeueAfter: wait };
    try {
      await this.writer.write(pod, node, options);
    } catch (error) {
      this.said.set(uid, last);
      // Its successor, if any, is another pod.
      if (isNotFound(error)) return undefined;
      throw error;
    }
    if (node === null) return undefined;
    this.counter.inc({ outcome: 'written' });
    this.outcomes.expect(pod, node);
    return undefined;
  }
}

/** The last hint written for a pod, how often in a row, and when. */
interface Said {
  readonly node: string | null;
  readonly times: number;
  readonly at: number;
}

/** Milliseconds between the last write and the next. */
function waitAfter({ times }: Said): number {
  return Math.min(REPEAT.longest, REPEAT.wait * 2 ** Math.max(0, times - REPEAT.prompt));
}
