import { Labels, WELL_KNOWN_LABELS } from '../api/labels.ts';
import type { Pod } from '../api/kinds.ts';
import { HostPortUsage } from '../constraints/hostPorts.ts';
import { Requirement } from '../constraints/requirement.ts';
import { Requirements, describeIncompatibility } from '../constraints/requirements.ts';
import { formatTaint, untoleratedTaints } from '../constraints/taints.ts';
import { Quantity } from '../units/quantity.ts';
import {
  addResources,
  exceededResources,
  fits,
  maxResources,
  multiplyResources,
  noResources,
  parseResources,
  quantityOf,
  subtractResources,
  type Resources,
} from '../units/resources.ts';
import { cheapestOffering, compareAlternatives, machineModel, type MachineModel } from './machineModel.ts';
import type { PodClass } from './podClass.ts';
import type { Alternative, NewNode, PoolOffer, PoolRefusal } from './problem.ts';

/** Pods of a class that still wait. */
interface Waiting {
  readonly podClass: PodClass;
  left: number;
}

/** One way to fill one machine. */
interface Filling {
  readonly requirements: Requirements;
  readonly counts: ReadonlyMap<Waiting, number>;
  /** Of the pods alone: daemons are not what the machine is bought for. */
  readonly requests: Resources;
  readonly first: Alternative;
}

/** The labels that every machine of the pool will carry, and the pool's requirements. */
function poolRequirements({ pool }: PoolOffer): Requirements {
  const { metadata, spec } = pool.spec.template;
  const nodeClass = spec.nodeClassRef;
  const classLabel = `${nodeClass.group}/${nodeClass.kind.toLowerCase()}`;
  return Requirements.fromItems(spec.requirements)
    .merge(Requirements.fromLabels(metadata?.labels))
    .add(
      Requirement.of(Labels.nodePool, 'In', [pool.metadata.name]),
      Requirement.of(classLabel, 'In', [nodeClass.name]),
    );
}

/** Packs pods onto new machines of one pool, dearest use of money last. */
export class PoolPacking {
  readonly #offer: PoolOffer;
  readonly #requirements: Requirements;
  readonly #machines: readonly MachineModel[];
  readonly #limits: Resources;
  #used: Resources;

  constructor(offer: PoolOffer, daemons: readonly Pod[]) {
    this.#offer = offer;
    this.#requirements = poolRequirements(offer);
    const taints = offer.pool.spec.template.spec.taints ?? [];
    this.#machines = offer.instanceTypes
      .filter(({ requirements }) => requirements.intersects(this.#requirements))
      .map((instanceType) => machineModel(instanceType, this.#requirements, taints, daemons));
    this.#limits = parseResources(offer.pool.spec.limits as Record<string, string | number> | undefined);
    this.#used = offer.used;
  }

  get name(): string {
    return this.#offer.pool.metadata.name;
  }

  /** Why no machine of this pool can run a pod of the class, by the first stage that leaves nothing. */
  refusal(podClass: PodClass): PoolRefusal | undefined {
    const pool = this.name;
    const taints = untoleratedTaints(this.#offer.pool.spec.template.spec.taints, podClass.tolerations);
    const hard = taints.filter(({ effect }) => effect !== 'PreferNoSchedule');
    if (hard.length > 0)
      return { pool, stage: 'taints', detail: `does not tolerate ${hard.map(formatTaint).join(', ')}` };
    const conflicts = this.#requirements.incompatibilities(podClass.requirements, WELL_KNOWN_LABELS);
    if (conflicts.length > 0) {
      return { pool, stage: 'requirements', detail: conflicts.map(describeIncompatibility).join('; ') };
    }
    const requirements = this.#requirements.merge(podClass.requirements);
    const matching = this.#machines.filter(({ instanceType }) => instanceType.requirements.intersects(requirements));
    if (matching.length === 0)
      return { pool, stage: 'instance-types', detail: `no instance type meets ${requirements.toString()}` };
    const large = matching.filter(({ room }) => fits(podClass.requests, room));
    if (large.length === 0) return { pool, stage: 'resources', detail: nearestMiss(podClass.requests, matching) };
    const sold = large.filter(({ instanceType }) => cheapestOffering(instanceType, requirements) !== undefined);
    if (sold.length === 0) return { pool, stage: 'offerings', detail: 'every offering that would fit is unavailable' };
    const allowed = sold.filter((machine) => this.#withinLimits(machine));
    if (allowed.length > 0) return undefined;
    const exceeded = [...new Set(sold.flatMap((machine) => this.#exceededBy(machine)))].sort();
    return { pool, stage: 'limits', detail: `spec.limits of ${exceeded.join(', ')} would be exceeded` };
  }

  /** Takes as many pods of the classes as this pool can hold. Out: the new nodes and what is left over. */
  pack(classes: readonly PodClass[]): { nodes: NewNode[]; left: PodClass[] } {
    const waiting: Waiting[] = classes.map((podClass) => ({ podClass, left: podClass.pods.length }));
    const nodes: NewNode[] = [];
    const open = waiting.filter(({ podClass }) => this.refusal(podClass) === undefined);
    for (;;) {
      const best = this.#bestFilling(open.filter(({ left }) => left > 0));
      if (best === undefined) break;
      // The same filling serves as often as the counts and the limits allow.
      let times = Math.min(...[...best.counts].map(([entry, count]) => Math.floor(entry.left / count)));
      for (; times > 0; times--) {
        const node = this.#open(best);
        if (node === undefined) break;
        nodes.push(node);
      }
    }
    const left = waiting
      .filter((entry) => entry.left > 0)
      .map(({ podClass, left: count }) => ({ ...podClass, pods: podClass.pods.slice(podClass.pods.length - count) }));
    return { nodes, left };
  }

  #bestFilling(waiting: readonly Waiting[]): Filling | undefined {
    if (waiting.length === 0) return undefined;
    const worth = this.#worth();
    let best: Filling | undefined;
    let bestScore = -1;
    for (const machine of this.#machines) {
      if (!this.#withinLimits(machine)) continue;
      const filling = this.#fill(machine, waiting);
      if (filling === undefined) continue;
      const value = worth.reduce(
        (sum, [name, price]) => sum + price * quantityOf(filling.requests, name).milliValue(),
        0,
      );
      const score = value / Math.max(filling.first.pricePerHour, Number.EPSILON);
      const better = score > bestScore * (1 + 1e-9);
      const sameButCheaper =
        score > bestScore * (1 - 1e-9) && best && compareAlternatives(filling.first, best.first) < 0;
      if (better || sameButCheaper) [best, bestScore] = [filling, Math.max(score, bestScore)];
    }
    return best;
  }

  /** What a milli-unit of each resource costs where it is cheapest: the currency in which fillings are compared. */
  #worth(): [string, number][] {
    return ['cpu', 'memory'].map((name) => {
      const prices = this.#machines.flatMap(({ instanceType, room }) => {
        const offering = cheapestOffering(instanceType, this.#requirements);
        const amount = quantityOf(room, name).milliValue();
        return offering && amount > 0 ? [offering.pricePerHour / amount] : [];
      });
      return [name, prices.length === 0 ? 0 : Math.min(...prices)];
    });
  }

  /** Puts the largest classes in first, then whatever still fits. */
  #fill({ instanceType, room }: MachineModel, waiting: readonly Waiting[]): Filling | undefined {
    let requirements = this.#requirements;
    let free = room;
    let ports = HostPortUsage.empty;
    let first: Alternative | undefined;
    const counts = new Map<Waiting, number>();
    for (const entry of waiting) {
      const { podClass, left } = entry;
      if (!fits(podClass.requests, free) || !requirements.isCompatible(podClass.requirements, WELL_KNOWN_LABELS))
        continue;
      const narrowed = requirements.merge(podClass.requirements);
      if (!instanceType.requirements.intersects(narrowed)) continue;
      const offering = cheapestOffering(instanceType, narrowed);
      if (offering === undefined || ports.conflict(podClass.key, podClass.hostPorts)) continue;
      const most = podClass.hostPorts.length > 0 ? 1 : left;
      const count = Math.min(most, timesThatFit(podClass.requests, free));
      [requirements, first] = [narrowed, offering];
      ports = ports.with(podClass.key, podClass.hostPorts);
      free = subtractResources(free, multiplyResources(podClass.requests, count));
      counts.set(entry, count);
    }
    return first && { requirements, counts, requests: subtractResources(room, free), first };
  }

  /** Buys one machine for the filling: its alternatives are all types that hold it and stay within the limits. */
  #open(filling: Filling): NewNode | undefined {
    const { requirements, counts } = filling;
    const podRequests = [...counts].map(([{ podClass }, count]) => multiplyResources(podClass.requests, count));
    const needed = addResources(...podRequests);
    const holding = this.#machines.filter(
      (machine) =>
        fits(needed, machine.room) &&
        machine.instanceType.requirements.intersects(requirements) &&
        this.#withinLimits(machine),
    );
    const alternatives = holding
      .flatMap(({ instanceType }) => cheapestOffering(instanceType, requirements) ?? [])
      .sort(compareAlternatives);
    if (alternatives.length === 0) return undefined;
    // Whichever alternative is bought in the end, the limits hold.
    const largest = maxResources(...holding.map((machine) => countedCapacity(machine)));
    this.#used = addResources(this.#used, largest);
    const pods = [...counts].flatMap(([entry, count]) => {
      const start = entry.podClass.pods.length - entry.left;
      entry.left -= count;
      return entry.podClass.pods.slice(start, start + count);
    });
    const daemons = commonDaemonRequests(holding);
    return { pool: this.#offer.pool, requirements, pods, requests: addResources(needed, daemons), alternatives };
  }

  #exceededBy(machine: MachineModel): string[] {
    return exceededResources(addResources(this.#used, countedCapacity(machine)), this.#limits);
  }

  #withinLimits(machine: MachineModel): boolean {
    return this.#exceededBy(machine).length === 0;
  }
}

const countedCapacity = ({ instanceType }: MachineModel): Resources => ({
  ...instanceType.capacity,
  nodes: Quantity.fromValue(1),
});

/** What the daemons take on every one of the machines. */
function commonDaemonRequests(machines: readonly MachineModel[]): Resources {
  const [first, ...others] = machines.map(({ daemonRequests }) => daemonRequests);
  const entries = Object.entries(first ?? noResources).flatMap(([name, amount]): [string, Quantity][] => {
    const amounts = [amount, ...others.map((other) => quantityOf(other, name))];
    const least = amounts.reduce((left, right) => (right.compare(left) < 0 ? right : left));
    return least.isZero() ? [] : [[name, least]];
  });
  return Object.fromEntries(entries);
}

/** How many pods with these requests fit; at least one is known to. */
function timesThatFit(requests: Resources, free: Resources): number {
  let times = Number.MAX_SAFE_INTEGER;
  for (const [name, amount] of Object.entries(requests)) {
    if (amount.sign() <= 0) continue;
    times = Math.min(times, Number(quantityOf(free, name).nanoValue() / amount.nanoValue()));
  }
  return times;
}

/** The machine that lacks least: "Standard_D8s_v5 lacks 300m cpu". */
function nearestMiss(requests: Resources, machines: readonly MachineModel[]): string {
  const misses = machines.map(({ instanceType, room }) => {
    const lacking = Object.entries(requests).flatMap(([name, amount]) => {
      const missing = amount.subtract(quantityOf(room, name));
      return missing.sign() > 0
        ? [{ name, missing, share: missing.milliValue() / Math.max(1, amount.milliValue()) }]
        : [];
    });
    return { name: instanceType.name, lacking, worst: Math.max(...lacking.map(({ share }) => share)) };
  });
  const [nearest] = misses.sort((left, right) => left.worst - right.worst || (left.name < right.name ? -1 : 1));
  const lacks = nearest?.lacking.map(({ name, missing }) => `${missing.toString()} ${name}`).join(' and ');
  return `${nearest?.name ?? 'every instance type'} comes nearest and lacks ${lacks ?? 'room'}`;
}
