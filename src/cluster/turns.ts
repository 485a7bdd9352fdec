import type { Pod } from '../api/kinds.ts';
import { controllerOf, podKind } from '../pods/podKind.ts';
import { arrangement, openingOrder, type ClaimPlace } from './arrangement.ts';
import type { NodeView } from './nodeView.ts';
import type { Place, Placements } from './placements.ts';
import { spreadKey, spreadOrder, type SpreadPlace } from './spreadOrder.ts';

/** Access to the surrounding cluster state. */
export interface Surroundings {
  /** Key of the node or claim of that name. */
  readonly targetOf: (name: string) => string;
  readonly viewOf: (target: string) => NodeView | undefined;
  /** The pod's current version. */
  readonly podNow: (pod: Pod) => Pod | undefined;
  /** These pods in order of arrival. */
  readonly byArrival: (pods: readonly Pod[]) => readonly Pod[];
  /** Whether any node accepts pods. */
  readonly takesPods: () => boolean;
  /** Bound pods of these controllers. */
  readonly boundOf: (controllers: ReadonlySet<string>) => readonly Pod[];
}

/** Places of pods with a spread constraint. */
interface Spread {
  readonly places: readonly (SpreadPlace & { readonly pod: Pod })[];
  readonly before: ReadonlyMap<string, number>;
}

/** When the scheduler was last seen to try a pod, in milliseconds; 0: never. */
type LastTried = (pod: Pod) => number;

/** Predicts the order in which the scheduler will try pods with places, and assigns places accordingly. */
export class Turns {
  private readonly surroundings: Surroundings;
  private readonly placements: Placements;

  constructor(surroundings: Surroundings, placements: Placements) {
    this.surroundings = surroundings;
    this.placements = placements;
  }

  /** Whether the place has a pod that is not bound yet. */
  waits({ open, pod }: Place): boolean {
    return !open && !this.surroundings.podNow(pod)?.spec?.nodeName;
  }

  /**
   * Exchanges places on these claims' nodes between pods of one kind, so that each pod fits on its node when the
   * scheduler tries it: spread pods go round-robin over domains; of the others, the first ones tried share few nodes.
   * Pods on nodes of `settled` claims keep their places unless they must spread. `lastTried`: when the scheduler was seen
   * to try a pod.
   */
  arrange(claims: readonly string[], settled: ReadonlySet<string>, lastTried: LastTried): void {
    const places = this.inTurn(claims, lastTried).map(({ claim, place }): ClaimPlace => {
      const { kind } = podKind(place.pod);
      const isKept = settled.has(claim) && spreadKey(place.pod) === undefined;
      return { claim, place, group: isKept ? `${kind} on ${claim}` : kind };
    });
    const assigned = arrangement(places, this.spreadPlaces(places));
    for (const each of assigned) this.placements.exchangeAll(each.places, each.pods);
  }

  /**
   * The claims by the highest priority of their pods and, within a priority, in the order in which pods will need their
   * nodes from now on.
   */
  inOrder(claims: readonly string[], lastTried: LastTried): readonly (readonly string[])[] {
    const asked = this.inTurn(claims, lastTried).map(({ claim }) => claim);
    return this.byPriority([...new Set([...openingOrder(asked), ...claims])]);
  }

  /**
   * Groups claims by the highest priority of their waiting pods, keeping their order; claims without waiting pods come
   * last.
   */
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
   * Places of pods waiting for these claims' nodes, in the order in which the scheduler will try the pods: by priority,
   * then the longest untried first. In a cluster without any node that accepts pods, the scheduler waits before it
   * retries a pod, except for pods that it has tried since these nodes joined.
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
   * Places of this place's kind and plan on joined nodes whose pods are not bound yet, in the order in which the
   * scheduler will try the pods, and the number of its controller's running pods in each domain of the key.
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

  /** Places of kinds that must spread, in the order in which they can be filled. */
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

  /** Number of running pods of the pod's controller in each domain of the key. */
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

  /** The nodes on which pods of these places' controllers run, once per pod. */
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
