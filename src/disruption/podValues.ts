/**
 * Value of pods at the prices of the pools: a price per core and per byte such that no instance type is worth more than
 * it costs. The sum over pods is then a lower bound on the cost of new nodes for them. Money can be saved on nodes that
 * cost far more than the value of their pods.
 */
import type { Pod } from '../api/kinds.ts';
import { Requirements } from '../constraints/requirements.ts';
import { podRequests } from '../pods/podRequests.ts';
import { quantityOf, type Resources } from '../units/resources.ts';
import type { Candidate, PoolCatalogue } from './candidate.ts';

/** Millicores and bytes. */
export type Load = readonly [cpu: number, memory: number];

interface Machine {
  readonly room: Load;
  /** Dollars per hour of its cheapest offering. */
  readonly price: number;
}

/** Price directions tried: enough to be within one percent of the best. */
const DIRECTIONS = 48;

export class PodValues {
  /** Dollars per hour for a millicore and for a byte. */
  private readonly rates: Load;

  /** The rates maximize the value of `demand`. */
  constructor(catalogues: Iterable<PoolCatalogue>, demand: Load) {
    const machines = [...catalogues].flatMap(machinesOf);
    this.rates = bestRates(machines, demand);
  }

  of(load: Load): number {
    return this.rates[0] * load[0] + this.rates[1] * load[1];
  }

  ofCandidate({ movable }: Candidate): number {
    return movable.reduce((sum, pod) => sum + this.of(loadOf(pod)), 0);
  }
}

const loads = new WeakMap<Pod, Load>();

export function loadOf(pod: Pod): Load {
  let load = loads.get(pod);
  if (load === undefined) loads.set(pod, (load = toLoad(podRequests(pod))));
  return load;
}

export const toLoad = (resources: Resources): Load => [
  quantityOf(resources, 'cpu').milliValue(),
  quantityOf(resources, 'memory').value(),
];

export function sumOf(all: Iterable<Load>): Load {
  let [cpu, memory] = [0, 0];
  for (const load of all) {
    cpu += load[0];
    memory += load[1];
  }
  return [cpu, memory];
}

const known = new WeakMap<PoolCatalogue['instanceTypes'], Map<PoolCatalogue['pool'], readonly Machine[]>>();

/** What the pool may buy, each at its lowest price. */
function machinesOf({ pool, instanceTypes }: PoolCatalogue): readonly Machine[] {
  if (pool.spec.replicas !== undefined) return [];
  let byPool = known.get(instanceTypes);
  if (byPool === undefined) known.set(instanceTypes, (byPool = new Map()));
  let machines = byPool.get(pool);
  if (machines === undefined) {
    // A pool's status changes often: cache only its latest object.
    byPool.clear();
    byPool.set(pool, (machines = buyable({ pool, instanceTypes })));
  }
  return machines;
}

function buyable({ pool, instanceTypes }: PoolCatalogue): readonly Machine[] {
  const { metadata, spec } = pool.spec.template;
  const asked = Requirements.fromItems(spec.requirements).merge(Requirements.fromLabels(metadata?.labels));
  return instanceTypes.flatMap((type): Machine[] => {
    if (!asked.intersects(type.requirements)) return [];
    const prices = type.offerings
      .filter(({ available, requirements }) => available && asked.intersects(requirements))
      .map(({ price }) => price);
    return prices.length === 0 ? [] : [{ room: toLoad(type.allocatable), price: Math.min(...prices) }];
  });
}

/** Of the rates at which no machine is worth more than its price, those with the highest value of the demand. */
function bestRates(machines: readonly Machine[], demand: Load): Load {
  let best: Load = [0, 0];
  let most = -1;
  for (let at = 0; at <= DIRECTIONS; at++) {
    const share = at / DIRECTIONS;
    // Scaled so that both resources have equal weight in the demand.
    const [cpu, memory] = [share / (demand[0] || 1), (1 - share) / (demand[1] || 1)];
    let scale = Number.POSITIVE_INFINITY;
    for (const { room, price } of machines) {
      const worth = cpu * room[0] + memory * room[1];
      if (worth > 0) scale = Math.min(scale, price / worth);
    }
    if (scale === Number.POSITIVE_INFINITY) continue;
    const value = scale * (cpu * demand[0] + memory * demand[1]);
    if (value > most) [most, best] = [value, [scale * cpu, scale * memory]];
  }
  return best;
}

/** Free room on nodes by size: whether any node except one could hold a load. */
export class FreeRooms {
  private readonly names: readonly string[];
  /** Descending. */
  private readonly cpu: Float64Array;
  /** By index: the largest and second largest memory up to there, and the node with the largest. */
  private readonly memory: Float64Array;
  private readonly second: Float64Array;
  private readonly holder: Int32Array;

  constructor(rooms: readonly { readonly name: string; readonly free: Load }[]) {
    const sorted = rooms
      .filter(({ free }) => free[0] > 0 && free[1] > 0)
      .sort((left, right) => right.free[0] - left.free[0]);
    this.names = sorted.map(({ name }) => name);
    this.cpu = Float64Array.from(sorted, ({ free }) => free[0]);
    this.memory = new Float64Array(sorted.length);
    this.second = new Float64Array(sorted.length);
    this.holder = new Int32Array(sorted.length);
    let [largest, next, at] = [0, 0, -1];
    sorted.forEach(({ free }, place) => {
      if (free[1] > largest) [largest, next, at] = [free[1], largest, place];
      else if (free[1] > next) next = free[1];
      this.memory[place] = largest;
      this.second[place] = next;
      this.holder[place] = at;
    });
  }

  /** Whether another node has room for the load, by size alone. */
  mayHold(load: Load, exceptNode: string): boolean {
    let low = 0;
    let high = this.cpu.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.cpu[middle] ?? 0) >= load[0]) low = middle + 1;
      else high = middle;
    }
    const last = low - 1;
    if (last < 0) return false;
    const own = this.names[this.holder[last] ?? -1] === exceptNode;
    const most = own ? this.second[last] : this.memory[last];
    return (most ?? 0) >= load[1];
  }
}
