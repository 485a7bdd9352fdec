/** Searches near the best one so far: waiting pods first, some classes moved, or a random order. */
import type { PodClass } from './model/podClass.ts';
import type { TieBreak } from './placement/domains.ts';
import { followersOf } from './placement/followers.ts';
import type { Growth } from './placement/openNode.ts';
import { mightBePlaced, type PodPlan } from './planOnce.ts';
import { itemAt } from './rows.ts';
import { compareBy, hasLeeway, isDoubtful, keyOf, orderOf, type Search } from './search.ts';

const GROWTHS: readonly Growth[] = ['own', 'any', 'least', 'none', 'room', 'fixed'];
const TIES: readonly TieBreak[] = ['best', 'last', 'first'];
/** Tries to find a search not seen before. */
const MAX_TRIES = 8;

/** What a search may vary for these pods. */
interface Scope {
  /** Classes that could be placed. */
  readonly classes: readonly PodClass[];
  readonly isKeptZonal: boolean;
  readonly isReserved: boolean;
  readonly hasLeeway: boolean;
  readonly hasFollowers: boolean;
  readonly isDoubtful: boolean;
  readonly hasSeveralNodes: boolean;
}

export class Reordering {
  private readonly scope: Scope;
  /** Searches to start from in place of the best one. */
  private readonly starts: readonly Search[];
  private readonly tried: Set<string>;
  private state = 1;

  private constructor(scope: Scope, starts: readonly Search[], tried: Set<string>) {
    this.scope = scope;
    this.starts = starts;
    this.tried = tried;
  }

  /** `fixed`: searches already tried or scheduled. */
  static after(plan: PodPlan, fixed: readonly Search[]): Reordering {
    const { compiled } = plan;
    const scope: Scope = {
      classes: compiled.classes.filter((podClass) => mightBePlaced(plan, podClass)),
      isKeptZonal: compiled.isKeptZonal,
      isReserved: compiled.model.pools.some(({ reservations }) => reservations.length > 0),
      hasLeeway: hasLeeway(compiled),
      hasFollowers: followersOf(compiled.classes).size > 0,
      isDoubtful: isDoubtful(compiled),
      hasSeveralNodes: compiled.model.existing.indexOf.size > 1,
    };
    const starts = fixed.filter(({ isExact }) => isExact);
    return new Reordering(scope, starts, new Set(starts.map((each) => keyOf(each, orderOf(scope.classes, each)))));
  }

  /** `isStale`: searches near the best one have brought nothing for a while. Undefined when nothing new is found. */
  next(best: PodPlan, bestSearch: Search, isStale: boolean): Search | undefined {
    const { scope } = this;
    const isFresh = isStale && this.starts.length > 0 && this.below(2) === 0;
    const from = isFresh ? itemAt(this.starts, this.below(this.starts.length)) : bestSearch;
    const order = scope.classes.toSorted((left, right) => compareBy(from.rank, left, right)).map(({ id }) => id);
    const left = new Set(best.waiting.flatMap(({ podClass, pods }) => (pods.length > 0 ? [podClass.id] : [])));
    const waiting = order.filter((id) => left.has(id));
    let { growth, staysZonal, isLenient, avoidsReserved, keepsZones, ties, settlesDoubts, leads, lastNodesFirst } =
      from;
    let growthOf = from.growthOf;
    // A few tries, because an order may have been tried already.
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      if (this.below(3) === 0) growth = itemAt(GROWTHS, this.below(GROWTHS.length));
      if (this.below(3) === 0) growthOf = this.growthElsewhere(growthOf, order, waiting);
      if (scope.isKeptZonal && this.below(3) === 0) {
        staysZonal = !staysZonal;
        keepsZones = !staysZonal && this.below(3) > 0 ? 'counted' : 'none';
      }
      if (scope.hasLeeway && this.below(2) === 0) isLenient = !isLenient;
      if (scope.hasFollowers && this.below(3) === 0) leads = !leads;
      if (this.below(4) === 0) ties = itemAt(TIES, this.below(TIES.length));
      if (scope.isDoubtful && this.below(3) === 0) settlesDoubts = !settlesDoubts;
      if (scope.isReserved && this.below(3) === 0) avoidsReserved = !avoidsReserved;
      if (scope.hasSeveralNodes && this.below(4) === 0) lastNodesFirst = !lastNodesFirst;
      if (this.below(3) === 0) this.shuffle(order);
      const moved = waiting.length > 0 && this.below(2) === 0 ? waiting : [itemAt(order, this.below(order.length))];
      const to = this.below(2) === 0 ? 0 : this.below(order.length);
      for (const id of moved) {
        order.splice(order.indexOf(id), 1);
        order.splice(to, 0, id);
      }
      const place = new Map(order.map((id, at) => [id, at]));
      const search: Search = {
        isExact: true,
        rank: ({ id }) => place.get(id) ?? 0,
        growth,
        growthOf,
        staysZonal,
        isLenient,
        avoidsReserved,
        keepsZones,
        ties,
        settlesDoubts,
        leads,
        interleaves: false,
        settlesOffers: false,
        lastNodesFirst,
        comparesOpened: from.comparesOpened,
      };
      const key = keyOf(search, order);
      if (this.tried.has(key)) continue;
      this.tried.add(key);
      return search;
    }
    return undefined;
  }

  /** Changes the growth of one class, or resets all classes to the same growth. */
  private growthElsewhere(
    known: ReadonlyMap<number, Growth>,
    order: readonly number[],
    waiting: readonly number[],
  ): ReadonlyMap<number, Growth> {
    if (known.size > 0 && this.below(3) === 0) return new Map();
    if (waiting.length > 0 && this.below(2) === 0) {
      return new Map([...known, [itemAt(waiting, this.below(waiting.length)), 'any']]);
    }
    const id = itemAt(order, this.below(order.length));
    return new Map([...known, [id, itemAt(GROWTHS, this.below(GROWTHS.length))]]);
  }

  private shuffle(order: number[]): void {
    for (let last = order.length - 1; last > 0; last--) {
      const at = this.below(last + 1);
      [order[last], order[at]] = [itemAt(order, at), itemAt(order, last)];
    }
  }

  /** A pseudo-random integer below `limit`, from a fixed sequence. */
  private below(limit: number): number {
    this.state = (Math.imul(this.state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.state / 4_294_967_296) * limit);
  }
}
