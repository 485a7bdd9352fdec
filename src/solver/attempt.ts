/**
 * One try at a question: the quick path where pods can be decided class by class, the exact path for the rest. In: a
 * model, an overlay, options and a way; out: where every pod stands. When limits break what the quick path took for
 * granted, everything goes the exact way.
 */
import type { Pod } from '../api/kinds.ts';
import type { HostPort } from '../pods/hostPorts.ts';
import type { CompiledOffering, CompiledPool } from './model/compiledPool.ts';
import type { Model } from './model/model.ts';
import { CompiledDemand, type PodClass } from './model/compiledDemand.ts';
import type { Atom } from './packing/atom.ts';
import type { Bin } from './packing/bin.ts';
import { Demand, type PackingOptions } from './packing/demand.ts';
import { Improver } from './packing/improve.ts';
import { packPool } from './packing/packPool.ts';
import { fillReserved } from './packing/reservedFirst.ts';
import { Assignment, isSequential, type Waiting } from './placement/assignment.ts';
import { Domains } from './placement/domains.ts';
import { ExistingRooms } from './placement/existingRooms.ts';
import type { OpenNode } from './placement/openNode.ts';
import { giveWay } from './placement/precedence.ts';
import { PoolFit } from './placement/poolFit.ts';
import { Sequential } from './placement/sequential.ts';
import { PlannedMachine } from './plannedMachine.ts';
import { reservedUnits, takeReservations } from './reservations.ts';
import type { NewNode, Overlay, SolveOptions, UnplacedReason } from './problem.ts';

const DEFAULT_ROUNDS = 400;

export interface SearchMode {
  /** Machines in no zone are left out while pods spread over zones. */
  readonly staysZonal: boolean;
  /** Everything goes the exact way: plain first-fit-decreasing with all the rules. */
  readonly isExact: boolean;
  /** Nobody is put onto a machine that only a reservation can be unless he can have no other. */
  readonly avoidsReserved: boolean;
}

export class Attempt {
  readonly model: Model;
  compiled: CompiledDemand;
  rooms: ExistingRooms;
  fit: PoolFit;
  planned: OpenNode[] = [];
  searchRounds = 0;
  /** By pool: what planned machines leave of the limits. */
  limitLeft: (Float64Array | undefined)[];
  private readonly overlay: Overlay;
  private readonly options: SolveOptions;
  private readonly mode: SearchMode;
  /** The plan was made class by class. */
  readonly isPacked: boolean;
  private readonly packing: PackingOptions;
  private domains: Domains;
  private waiting: Waiting[];
  private readonly deferrals: ReadonlyMap<Waiting, UnplacedReason>;
  /** Who was promised a reserved machine that there is not, after others had been placed around him. */
  readonly missed: readonly { readonly pod: Pod; readonly reason: UnplacedReason }[];

  constructor(model: Model, overlay: Overlay, options: SolveOptions, mode: SearchMode) {
    this.model = model;
    this.overlay = overlay;
    this.options = options;
    this.mode = mode;
    const share = options.maxPodsSharePerNode ?? 1;
    this.packing = {
      nodeOverheadCost: options.nodeOverheadCost ?? 0,
      maxPodsPerNode: share < 1 ? Math.max(1, Math.ceil(share * overlay.pods.length)) : Number.POSITIVE_INFINITY,
      strictMinValues: options.minValuesPolicy !== 'BestEffort',
    };
    ({ compiled: this.compiled, domains: this.domains, rooms: this.rooms, fit: this.fit } = this.begin());
    this.waiting = this.queue();
    this.limitLeft = this.freshLimits();
    this.isPacked = !mode.isExact && this.quick();
    if (this.isPacked) this.exact(isSequential);
    else if (!mode.isExact) {
      ({ compiled: this.compiled, domains: this.domains, rooms: this.rooms, fit: this.fit } = this.begin());
      this.waiting = this.queue();
      this.planned = [];
      this.limitLeft = this.freshLimits();
    }
    this.exact(() => true);
    const { stranded, missed, deferred } = takeReservations(
      this.planned,
      model,
      options.reservedCapacity !== 'Fallback',
    );
    this.waiting.push(...stranded, ...deferred.map(({ waiting }) => waiting));
    this.missed = missed.flatMap(({ waiting, reason }) => waiting.pods.map((pod) => ({ pod, reason })));
    this.deferrals = new Map(deferred.map(({ waiting, reason }) => [waiting, reason]));
    giveWay(this.waiting, this.planned, this.rooms.placed, this.compiled.classes);
  }

  /** Machines' extra cost included. */
  get cost(): number {
    return this.planned.reduce((sum, { price }) => sum + price + this.packing.nodeOverheadCost, 0);
  }

  /** Positive when more of those who matter most wait here than there. */
  comparePriority(other: Attempt): number {
    const waiting = new Map<number, number>();
    for (const { podClass, pods } of this.waiting) {
      const { priority } = podClass.shape;
      waiting.set(priority, (waiting.get(priority) ?? 0) + pods.length);
    }
    for (const { podClass, pods } of other.waiting) {
      const { priority } = podClass.shape;
      waiting.set(priority, (waiting.get(priority) ?? 0) - pods.length);
    }
    const tiers = [...waiting].sort(([left], [right]) => right - left);
    return tiers.find(([, difference]) => difference !== 0)?.[1] ?? 0;
  }

  /** With the reason where the plan itself is the reason. */
  unplacedPods(): { pod: Pod; podClass: PodClass; reason: UnplacedReason | undefined }[] {
    return this.waiting.flatMap((entry) => {
      const reason = this.deferrals.get(entry);
      return entry.pods.map((pod) => ({ pod, podClass: entry.podClass, reason }));
    });
  }

  holder(pool: number): Demand {
    const { pools, states, table } = this.model;
    return new Demand(pools[pool]!, states, [], table.size, this.packing);
  }

  /** The planned nodes as the caller sees them; the slack of limits goes to alternatives, first come, first served. */
  machines(): NewNode[] {
    const holders = this.model.pools.map(({ index }) => this.holder(index));
    const slack = this.limitLeft.map((left) => left && left.slice());
    const machinesInZone = new Map<string, number>();
    const zonesOf = new Map<number, readonly string[]>();
    return this.planned.map((node) => {
      const demand = holders[node.pool.index]!;
      const budget = limitBudget(node, slack[node.pool.index], demand);
      const key = node.state * node.pool.types.length + node.type;
      let zones = zonesOf.get(key);
      if (zones === undefined) {
        zones = this.cheapestZones(node);
        zonesOf.set(key, zones);
      }
      let [zone = ''] = zones;
      for (const other of zones) if ((machinesInZone.get(other) ?? 0) < (machinesInZone.get(zone) ?? 0)) zone = other;
      machinesInZone.set(zone, (machinesInZone.get(zone) ?? 0) + 1);
      return new PlannedMachine(node, this.compiled, demand, budget, zone);
    });
  }

  /** A machine in a zone is preferred to one in none at the same price. */
  private cheapestZones({ state, type, price, pool }: OpenNode): string[] {
    const { offerings } = this.model.states.at(state);
    const zones: string[] = [];
    for (let at = firstAtPrice(offerings, price); offerings[at]?.offering.price === price; at++) {
      if (offerings[at]!.type === type) zones.push(offerings[at]!.offering.zone);
    }
    const zonal = zones.filter((zone) => !pool.regionalZones.has(zone));
    return (zonal.length > 0 ? zonal : zones).sort();
  }

  private begin(): { compiled: CompiledDemand; domains: Domains; rooms: ExistingRooms; fit: PoolFit } {
    const policy = this.options.preferencePolicy ?? 'Respect';
    const compiled = new CompiledDemand(this.model, this.overlay, policy, this.mode.staysZonal);
    const domains = new Domains(compiled, this.mode.avoidsReserved);
    return { compiled, domains, rooms: new ExistingRooms(compiled, domains), fit: new PoolFit(compiled) };
  }

  /** Who matters more comes first; among equals the larger. */
  private queue(): Waiting[] {
    return [...this.compiled.classes]
      .sort((left, right) => right.shape.priority - left.shape.priority || left.id - right.id)
      .map((podClass) => ({ podClass, pods: Array.from(podClass.pods) }));
  }

  private freshLimits(): (Float64Array | undefined)[] {
    return this.model.pools.map(({ limitLeft }) => (limitLeft.length === 0 ? undefined : limitLeft.slice()));
  }

  /** Out: whether the plan stands. */
  private quick(): boolean {
    const { compiled, domains, rooms, fit } = this;
    const able = this.waiting.filter(({ podClass }) => podClass.shape.unsupported === undefined);
    const assignment = new Assignment(compiled, domains, rooms, fit);
    assignment.run(able, 0);
    const { timeBudgetMs, now, searchRounds = DEFAULT_ROUNDS } = this.options;
    const improver = new Improver({
      rounds: searchRounds,
      now,
      deadline: now === undefined || timeBudgetMs === undefined ? Number.POSITIVE_INFINITY : now() + timeBudgetMs,
    });
    // Who must stand beside others may come later and want to join; a reserved machine does not grow.
    const reserved = compiled.classes.some(isSequential) ? undefined : reservedUnits(this.model);
    for (const pool of this.model.pools) {
      const atoms = assignment.atoms[pool.index]!;
      if (atoms.length === 0) continue;
      atoms.sort((left, right) => left.podClass.id - right.podClass.id || left.state - right.state);
      const lists = atoms.map((atom) => assignment.podsOf.get(atom)!);
      const { rest, pods } =
        reserved === undefined ? { rest: atoms, pods: lists } : this.openReserved(pool, atoms, lists, reserved);
      const demand = new Demand(pool, this.model.states, rest, this.model.table.size, this.packing);
      const { bins, left } = packPool(demand, this.limitLeft[pool.index], improver);
      const next = new Int32Array(rest.length);
      for (let at = 0; at < bins.length; at++) this.planned.push(this.planBin(bins[at]!, demand, pods, next));
      if (left.every((count) => count === 0)) continue;
      // Domains were counted for pods that found no machine there: what was built on those counts may be wrong.
      if (rest.some(({ variant }, atom) => left[atom]! > 0 && variant.domainAdds.length > 0)) return false;
      for (const entry of able) {
        rest.forEach((atom, index) => {
          if (atom.podClass === entry.podClass && left[index]! > 0) entry.pods.push(...pods[index]!.slice(next[index]));
        });
      }
      assignment.run(able, pool.index + 1);
    }
    this.searchRounds = improver.rounds;
    return true;
  }

  /** Plans reserved machines. Out: what they leave, with the pods of each. */
  private openReserved(
    pool: CompiledPool,
    atoms: readonly Atom[],
    lists: readonly (readonly Pod[])[],
    units: Map<string, number>,
  ): { rest: readonly Atom[]; pods: readonly (readonly Pod[])[] } {
    if (pool.reservations.length === 0) return { rest: atoms, pods: lists };
    const demand = new Demand(pool, this.model.states, atoms, this.model.table.size, this.packing);
    const next = new Int32Array(atoms.length);
    const left = Int32Array.from(atoms, ({ count }) => count);
    const bins = fillReserved(demand, units, left, this.limitLeft[pool.index]?.slice());
    for (const bin of bins) this.planned.push(this.planBin(bin, demand, lists, next));
    const open = [...atoms.keys()].filter((atom) => left[atom]! > 0);
    return {
      rest: open.map((atom) => ({ ...atoms[atom]!, count: left[atom]! })),
      pods: open.map((atom) => lists[atom]!.slice(next[atom])),
    };
  }

  /** Takes the bin's pods from the lists, each from its `next` on. */
  private planBin(bin: Bin, demand: Demand, pods: readonly (readonly Pod[])[], next: Int32Array): OpenNode {
    const entries: OpenNode['entries'] = [];
    const ports: HostPort[] = [];
    for (let at = 0; at < bin.atoms.length; at++) {
      const index = bin.atoms[at]!;
      const { podClass, variant } = demand.atoms[index]!;
      const from = next[index]!;
      const to = from + bin.counts[at]!;
      next[index] = to;
      entries.push({ podClass, variant, pods: pods[index]!.slice(from, to) });
      for (const port of podClass.shape.hostPorts) ports.push(port);
    }
    const left = this.limitLeft[demand.pool.index];
    if (left) for (let at = 0; at < left.length; at++) left[at]! -= bin.limitNeed[at]!;
    return {
      pool: demand.pool,
      state: bin.state,
      type: bin.type,
      price: bin.price,
      reservation: bin.reservation,
      limitNeed: bin.limitNeed,
      used: bin.used.slice(),
      entries,
      ports,
      host: undefined,
    };
  }

  private exact(includes: (podClass: PodClass) => boolean): void {
    const open = this.waiting.filter(
      ({ podClass, pods }) => pods.length > 0 && podClass.shape.unsupported === undefined && includes(podClass),
    );
    if (open.length === 0) return;
    const sequential = new Sequential(
      this.compiled,
      this.domains,
      this.rooms,
      this.fit,
      this.planned,
      this.limitLeft,
      this.packing,
    );
    let hopeful = open;
    for (let progress = true; progress; hopeful = hopeful.filter(({ podClass }) => mayFindCompany(podClass))) {
      progress = false;
      for (const { podClass, pods } of hopeful) {
        let done = 0;
        while (done < pods.length && sequential.place(podClass, pods[done]!)) done += 1;
        pods.splice(0, done);
        progress ||= done > 0;
      }
    }
  }
}

/** Room only shrinks; but pods that come later may be company that affinity waits for, or even out a spread. */
function mayFindCompany({ variants }: PodClass): boolean {
  return variants.some(({ domain, hostAffinity }) => domain.length > 0 || hostAffinity.length > 0);
}

/** Offerings are sorted by price. */
function firstAtPrice(offerings: readonly CompiledOffering[], price: number): number {
  let low = 0;
  let high = offerings.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (offerings[middle]!.offering.price < price) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What the node's alternatives may use of the limits: what the choice uses, and the slack. Takes from the slack. */
function limitBudget(node: OpenNode, slack: Float64Array | undefined, demand: Demand): Float64Array | undefined {
  if (slack === undefined) return undefined;
  const { pool, limitNeed: own } = node;
  const width = slack.length;
  const budget = slack.map((amount, at) => Math.max(0, amount) + own[at]!);
  const most = own.slice();
  pool.types.forEach((_, other) => {
    if (!demand.fits(other, node.used) || !demand.withinLimits(other, budget)) return;
    for (let at = 0; at < width; at++) most[at] = Math.max(most[at]!, pool.limitUse[other * width + at]!);
  });
  for (let at = 0; at < width; at++) slack[at]! -= most[at]! - own[at]!;
  return budget;
}
