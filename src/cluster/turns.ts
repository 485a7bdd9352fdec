import type { Pod } from '../api/kinds.ts';
import { controllerOf, podKind } from '../pods/podKind.ts';
import { arrangement, type ClaimPlace } from './arrangement.ts';
import type { NodeView } from './nodeView.ts';
import type { Place, Placements } from './placements.ts';
import { spreadKey, spreadOrder, type SpreadPlace } from './spreadOrder.ts';

/** What places are measured against. */
export interface Surroundings {
  /** The key of the node or claim of that name. */
  readonly targetOf: (name: string) => string;
  readonly viewOf: (target: string) => NodeView | undefined;
  /** The pod as it is now. */
  readonly podNow: (pod: Pod) => Pod | undefined;
  /** These pods in the order in which they came. */
  readonly byArrival: (pods: readonly Pod[]) => readonly Pod[];
  /** Whether there is a node that takes pods. */
  readonly takesPods: () => boolean;
  /** The pods of these controllers that have a node. */
  readonly boundOf: (controllers: ReadonlySet<string>) => readonly Pod[];
}

/** Places of pods that must spread over domains. */
interface Spread {
  readonly places: readonly (SpreadPlace & { readonly pod: Pod })[];
  readonly before: ReadonlyMap<string, number>;
}

/** When the scheduler was last seen to try a pod, in milliseconds; 0 when it was not. */
type LastTried = (pod: Pod) => number;

/** The order in which the scheduler will come to pods that have places, and what follows from it for the places. */
export class Turns {
  private readonly surroundings: Surroundings;
  private readonly placements: Placements;

  constructor(surroundings: Surroundings, placements: Placements) {
    this.surroundings = surroundings;
    this.placements = placements;
  }

  /** Whether the place has a pod that is yet to be bound. */
  waits({ open, pod }: Place): boolean {
    return !open && !this.surroundings.podNow(pod)?.spec?.nodeName;
  }

  /**
   * Exchanges places on these claims' nodes between pods of one kind, so that the scheduler may put each pod on its node
   * when its turn comes: pods that must spread over domains go to them by turns, and of the others, those that it tries
   * first share few nodes. Pods on nodes of `settled` claims keep their places unless they must spread. Returns the claims
   * by the highest priority of their pods, and of one priority in the order in which pods will ask for their nodes.
   * `lastTried` is when the scheduler was seen to try a pod.
   */
  arrange(
    claims: readonly string[],
    settled: ReadonlySet<string>,
    lastTried: LastTried,
  ): readonly (readonly string[])[] {
    const places = this.inTurn(claims, lastTried).map(({ claim, place }): ClaimPlace => {
      const { kind } = podKind(place.pod);
      const isKept = settled.has(claim) && spreadKey(place.pod) === undefined;
      return { claim, place, group: isKept ? `${kind} on ${claim}` : kind };
    });
    const { order, assigned } = arrangement(places, this.spreadPlaces(places));
    for (const each of assigned) this.placements.exchangeAll(each.places, each.pods);
    return this.byPriority([...new Set([...order, ...claims])]);
  }

  /** Claims with pods of a higher priority first, otherwise in the same order; last those that no pod waits for. */
  private byPriority(claims: readonly string[]): readonly (readonly string[])[] {
    const waves = new Map<number, string[]>();
    for (const claim of claims) {
      const waiting = this.on(claim).filter((place) => this.waits(place));
      const highest = Math.max(...waiting.map(({ pod }) => pod.spec?.priority ?? 0));
      const wave = waves.get(highest);
      if (wave === undefined) waves.set(highest, [claim]);
      else wave.push(claim);
    }
    return [...waves].sort(([one], [other]) => other - one).map(([, wave]) => wave);
  }

  /**
   * The places of pods that wait for these claims' nodes, as the scheduler will try the pods: by priority, and of one
   * priority the longest untried first. In a cluster without any node that takes pods it waits before it tries one again,
   * except for those that it has tried since these nodes joined.
   */
  inTurn(
    claims: readonly string[],
    lastTried: LastTried,
    concerns: (place: Place) => boolean = () => true,
  ): readonly Omit<ClaimPlace, 'group'>[] {
    const { viewOf, targetOf, takesPods, byArrival } = this.surroundings;
    const found = claims.flatMap((claim) =>
      this.on(claim).flatMap((place) => (concerns(place) && this.waits(place) ? [{ claim, place }] : [])),
    );
    const arrived = new Map(byArrival(found.map(({ place }) => place.pod)).map((pod, at) => [pod.metadata.uid, at]));
    const joined = Math.min(
      ...claims.map((claim) => Date.parse(viewOf(targetOf(claim))?.node?.metadata.creationTimestamp ?? '') || Infinity),
    );
    const since = takesPods() ? Infinity : joined;
    const keys = found.map((each) => {
      const { pod } = each.place;
      const tried = lastTried(pod);
      const priority = pod.spec?.priority ?? 0;
      return { each, priority, delay: tried >= since ? 0 : 1, tried, at: arrived.get(pod.metadata.uid) ?? 0 };
    });
    return keys
      .sort(
        (one, other) =>
          other.priority - one.priority || one.delay - other.delay || one.tried - other.tried || one.at - other.at,
      )
      .map(({ each }) => each);
  }

  /**
   * Of this place's kind and plan, the places on nodes that have joined whose pods are yet to be bound, as the scheduler will
   * try them, and how many of its controller's pods run in each domain of the key.
   */
  spread(place: Place, key: string, lastTried: LastTried): Spread {
    const { kind } = podKind(place.pod);
    const views = this.placements.alike(place).flatMap((each) => {
      const view = this.viewOf(each);
      return view?.node === undefined ? [] : [view];
    });
    const names = [...new Set(views.map(({ name }) => name))];
    const concerns = (each: Place): boolean => podKind(each.pod).kind === kind;
    return {
      places: this.inTurn(names, lastTried, concerns).map((each) => ({
        pod: each.place.pod,
        node: each.claim,
        domain: this.viewOf(each.place)?.labels[key] ?? '',
      })),
      before: this.runningIn(place.pod, key, this.running([place])),
    };
  }

  /** Of kinds that must spread, the places in the order in which they can be filled. */
  private spreadPlaces(places: readonly ClaimPlace[]): ReadonlyMap<string, readonly ClaimPlace[]> {
    const byKind = new Map<string, [ClaimPlace, ...ClaimPlace[]]>();
    for (const each of places) {
      if (spreadKey(each.place.pod) === undefined) continue;
      const known = byKind.get(each.group);
      if (known === undefined) byKind.set(each.group, [each]);
      else known.push(each);
    }
    const firsts = [...byKind.values()].map(([{ place }]) => place);
    const running = firsts.length > 0 ? this.running(firsts) : new Map<string, readonly NodeView[]>();
    return new Map(
      [...byKind].map(([kind, own]) => {
        const [{ place }] = own;
        const key = spreadKey(place.pod) ?? '';
        const before = this.runningIn(place.pod, key, running);
        const domains = own.map((each) => ({ ...each, domain: this.viewOf(each.place)?.labels[key] ?? '' }));
        return [kind, spreadOrder(domains, before)];
      }),
    );
  }

  /** How many pods of the pod's controller run in each domain of the key. */
  private runningIn(
    pod: Pod,
    key: string,
    running: ReadonlyMap<string, readonly NodeView[]>,
  ): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { labels } of running.get(controllerOf(pod) ?? '') ?? []) {
      counts.set(labels[key] ?? '', (counts.get(labels[key] ?? '') ?? 0) + 1);
    }
    return counts;
  }

  /** The nodes that pods of these places' controllers run on, once for each pod. */
  private running(places: readonly Place[]): ReadonlyMap<string, readonly NodeView[]> {
    const { boundOf, targetOf, viewOf } = this.surroundings;
    const running = new Map<string, NodeView[]>();
    for (const { pod } of places) running.set(controllerOf(pod) ?? '', []);
    for (const pod of boundOf(new Set(running.keys()))) {
      const view = viewOf(targetOf(pod.spec?.nodeName ?? ''));
      if (view) running.get(controllerOf(pod) ?? '')?.push(view);
    }
    return running;
  }

  private on(name: string): readonly Place[] {
    return this.placements.at(this.surroundings.targetOf(name));
  }

  private viewOf({ target }: Place): NodeView | undefined {
    return this.surroundings.viewOf(target);
  }
}
