/**
 * The fast path: places pods class by class, on existing nodes or in items of a pool and its domains. Packing later
 * decides how planned nodes are filled. Pods that cannot be decided per class are left to the exact path.
 */
import type { Pod } from '../../api/kinds.ts';
import type { CompiledDemand } from '../model/compiledDemand.ts';
import type { PodClass, Variant } from '../model/podClass.ts';
import type { CompiledPool } from '../model/compiledPool.ts';
import type { Item } from '../packing/item.ts';
import { itemAt } from '../rows.ts';
import type { Domains } from './domains.ts';
import type { ExistingPlacement } from './existingPlacement.ts';
import type { PoolFit } from './poolFit.ts';

/** Unplaced pods of a class, in order. */
export interface PendingPods {
  readonly podClass: PodClass;
  readonly pods: Pod[];
}

export class Assignment {
  /** By pool. */
  readonly items: Item[][];
  /** The pods of each item, in order. */
  readonly podsOf = new Map<Item, Pod[]>();
  private readonly compiled: CompiledDemand;
  private readonly domains: Domains;
  private readonly onExisting: ExistingPlacement;
  private readonly fit: PoolFit;
  private readonly known = new Map<Variant, Item[]>();

  constructor(compiled: CompiledDemand, domains: Domains, onExisting: ExistingPlacement, fit: PoolFit) {
    this.compiled = compiled;
    this.domains = domains;
    this.onExisting = onExisting;
    this.fit = fit;
    this.items = compiled.model.pools.map(() => []);
  }

  /** Repeats until nothing more can be placed: affinity may need pods that are placed later. */
  run(waiting: PendingPods[], fromPool: number): void {
    let open = waiting.filter(({ podClass, pods }) => pods.length > 0 && !isSequential(podClass));
    for (;;) {
      let progress = false;
      for (const entry of open) {
        const before = entry.pods.length;
        if (isPlain(entry.podClass)) this.placeAll(entry, fromPool);
        else this.placeEach(entry, fromPool);
        progress ||= entry.pods.length < before;
      }
      open = open.filter(({ pods }) => pods.length > 0);
      if (!progress || open.length === 0) return;
    }
  }

  private placeAll(entry: PendingPods, fromPool: number): void {
    const { podClass, pods } = entry;
    for (const variants of this.fit.variantsOf(podClass)) {
      for (const variant of variants) pods.splice(0, this.onExisting.place(podClass, variant, pods));
      for (const variant of variants) {
        if (pods.length === 0) return;
        const state = this.newState(podClass, variant, fromPool);
        if (state < 0) continue;
        const members = this.podsOf.get(this.promise(podClass, variant, state, pods.length)) ?? [];
        for (const pod of pods) members.push(pod);
        pods.length = 0;
      }
    }
  }

  private placeEach({ podClass, pods }: PendingPods, fromPool: number): void {
    let done = 0;
    while (done < pods.length && this.placeOne(podClass, itemAt(pods, done), fromPool)) done += 1;
    pods.splice(0, done);
  }

  private placeOne(podClass: PodClass, pod: Pod, fromPool: number): boolean {
    for (const variants of this.fit.variantsOf(podClass)) {
      for (const variant of variants) if (this.onExisting.placeOne(podClass, variant, pod)) return true;
      const [only] = variants;
      const best = variants.length === 1 ? only : this.cheapestVariant(podClass, variants, fromPool);
      const state = best === undefined ? -1 : this.newState(podClass, best, fromPool);
      if (best === undefined || state < 0) continue;
      this.podsOf.get(this.promise(podClass, best, state, 1))?.push(pod);
      return true;
    }
    return false;
  }

  /** By the domains that the current counts allow for a pod. */
  private cheapestVariant(podClass: PodClass, variants: readonly Variant[], fromPool: number): Variant | undefined {
    const { states } = this.compiled.model;
    const cost = this.fit.costOf(podClass);
    let best: { variant: Variant; weight: number; price: number } | undefined;
    for (const variant of variants) {
      const state = this.newState(podClass, variant, fromPool);
      if (state < 0) continue;
      const { weight } = states.at(state).pool;
      const price = cost.price(state);
      if (best !== undefined && (weight < best.weight || (weight === best.weight && price >= best.price))) continue;
      best = { variant, weight, price };
    }
    return best?.variant;
  }

  /** The cheapest in the first tier of pools that has one. */
  private newState(podClass: PodClass, variant: Variant, fromPool: number): number {
    const { tiers } = this.fit;
    for (let tier = 0; tier < tiers.length; tier++) {
      const state = this.stateIn(podClass, variant, itemAt(tiers, tier), fromPool);
      if (state >= 0) return state;
    }
    return -1;
  }

  private stateIn(podClass: PodClass, variant: Variant, pools: readonly CompiledPool[], fromPool: number): number {
    const cost = this.fit.costOf(podClass);
    let best = -1;
    for (let pool = 0; pool < pools.length; pool++) {
      const { index } = itemAt(pools, pool);
      const starts = index < fromPool ? [] : this.fit.startsOf(podClass, variant, index);
      for (let at = 0; at < starts.length; at++) {
        const state = this.domains.pin(variant, itemAt(starts, at), cost);
        if (state >= 0 && (best < 0 || cost.price(state) < cost.price(best))) best = state;
      }
    }
    return best;
  }

  /** Counts pods into the item of that state and returns it; the caller records which pods they are. */
  private promise(podClass: PodClass, variant: Variant, state: number, pods: number): Item {
    this.domains.recordInState(podClass, variant, state, pods);
    let siblings = this.known.get(variant);
    if (siblings === undefined) {
      siblings = [];
      this.known.set(variant, siblings);
    }
    for (let at = 0; at < siblings.length; at++) {
      const sibling = itemAt(siblings, at);
      if (sibling.state !== state) continue;
      sibling.count += pods;
      return sibling;
    }
    const item: Item = { podClass, variant, state, count: pods };
    siblings.push(item);
    this.podsOf.set(item, []);
    itemAt(this.items, this.compiled.model.states.at(state).pool.index).push(item);
    return item;
  }
}

/** Requires the same node as other pods, which can only be decided node by node. */
export function isSequential({ variants }: PodClass): boolean {
  return variants.some(({ hostAffinity }) => hostAffinity.length > 0);
}

function isPlain({ variants }: PodClass): boolean {
  return variants.every(({ domain, pinKeys }) => domain.length === 0 && pinKeys.length === 0);
}
