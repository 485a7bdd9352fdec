/** One NodePool and its instance types as rows of numbers: room beside daemons, offerings, limits. */
import type { Pod } from '../../api/kinds.ts';
import type { NodePool } from '../../api/kinds/nodePool.ts';
import type { Taint } from '../../api/kinds/nodeTemplate.ts';
import { Labels, nodeClassLabelKey, PlacementScopes, WELL_KNOWN_LABELS } from '../../api/labels.ts';
import type { InstanceType, Offering } from '../../cloud/instanceType.ts';
import { hostPortsOf, type HostPort } from '../../pods/hostPorts.ts';
import { podKey } from '../../pods/podKey.ts';
import { podRequests } from '../../pods/podRequests.ts';
import { requirementTerms } from '../../constraints/podRequirements.ts';
import { Requirement } from '../../constraints/requirement.ts';
import { Requirements } from '../../constraints/requirements.ts';
import { untoleratedTaints } from '../../pods/taints.ts';
import { addResources, noResources, parseResources, quantityOf, type Resources } from '../../units/resources.ts';
import type { PoolOffer, Snapshot } from '../problem.ts';
import { leftOf, useOf } from '../quotaUse.ts';
import { addRow, floatAt, itemAt } from '../rows.ts';
import type { ResourceTable } from './resourceTable.ts';

export interface CompiledOffering {
  /** Index in the pool's list. */
  readonly index: number;
  readonly type: number;
  readonly offering: Offering;
  /** Index of the reservation that the offering draws on; -1 if it is not reserved. */
  readonly reservation: number;
}

export interface CompiledPool {
  readonly index: number;
  readonly name: string;
  /** Pools of the same weight are equally preferred. */
  readonly weight: number;
  readonly taints: readonly Taint[];
  readonly requirements: Requirements;
  /** Keys that pods may select on although the pool does not mention them: labels of its instance types. */
  readonly knownKeys: ReadonlySet<string>;
  /** Ordered by name; only types that the pool allows. */
  readonly types: readonly InstanceType[];
  /** Available offerings, cheapest first. */
  readonly offerings: readonly CompiledOffering[];
  /** Values of the zone label that mean "no zone". */
  readonly regionalZones: ReadonlySet<string>;
  /** Row per type: room left for pods. */
  readonly room: Float64Array;
  readonly daemonRequests: readonly Resources[];
  /** By type: ports that daemons take. */
  readonly daemonPorts: readonly (readonly HostPort[])[];
  /** Quotas first, which all pools share, then the pool's own limits. */
  readonly limitNames: readonly string[];
  /** Number of quotas among them. */
  readonly quotas: number;
  /** By name; quota values come with the question. */
  readonly limits: Float64Array;
  /** Row per type: what it counts against the limits. */
  readonly limitUse: Float64Array;
  /** Units left by reservation, shared by all types that draw on it. */
  readonly reservations: readonly { readonly id: string; readonly left: number }[];
}

/** Labels on which daemons may select and that are true of every running node. */
const RUNNING: readonly Requirement[] = [
  Requirement.of(Labels.registered, 'In', ['true']),
  Requirement.of(Labels.initialized, 'In', ['true']),
];

/** Labels of every node of the pool, combined with the pool's requirements. */
export function poolRequirements(pool: NodePool): Requirements {
  const { metadata, spec } = pool.spec.template;
  const { group, kind, name } = spec.nodeClassRef;
  return Requirements.fromItems(spec.requirements)
    .merge(Requirements.fromLabels(metadata?.labels))
    .add(
      Requirement.of(Labels.nodePool, 'In', [pool.metadata.name]),
      Requirement.of(nodeClassLabelKey(group, kind), 'In', [name]),
    );
}

/** Ordered by name; only types that the pool allows. */
export function typesOf({ pool, instanceTypes }: PoolOffer): InstanceType[] {
  const requirements = poolRequirements(pool);
  return instanceTypes
    .filter((type) => type.requirements.intersects(requirements))
    .sort((left, right) => (left.name < right.name ? -1 : 1));
}

/** Well-known labels, and labels of the types or their offerings. */
export function knownKeysOf(types: readonly InstanceType[]): ReadonlySet<string> {
  const keys = new Set(WELL_KNOWN_LABELS);
  // Many offerings share the same requirements object: visit each once.
  const seen = new Set<Requirements>();
  const add = (requirements: Requirements): void => {
    if (seen.has(requirements)) return;
    seen.add(requirements);
    for (const key of requirements.keys()) if (!keys.has(key)) keys.add(key);
  };
  for (const type of types) {
    add(type.requirements);
    for (const offering of type.offerings) add(offering.requirements);
  }
  return keys;
}

/** By type: daemons that would run on its nodes. */
export function comingDaemons(pool: NodePool, types: readonly InstanceType[], daemons: readonly Pod[]): Pod[][] {
  const taints = pool.spec.template.spec.taints ?? [];
  const tolerant = daemons.filter((daemon) => toleratesAllHard(taints, daemon));
  if (tolerant.length === 0) return types.map(() => []);
  const requirements = poolRequirements(pool);
  const knownKeys = knownKeysOf(types);
  return types.map((type) => tolerant.filter((daemon) => runsOn(daemon, requirements, type, knownKeys)));
}

export function compilePool(
  offer: PoolOffer,
  index: number,
  daemons: readonly Pod[],
  table: ResourceTable,
): CompiledPool {
  const { pool } = offer;
  const requirements = poolRequirements(pool);
  const taints = pool.spec.template.spec.taints ?? [];
  const types = typesOf(offer);
  const perType = comingDaemons(pool, types, daemons);
  const daemonRequests = sharedSums(perType);
  const room = new Float64Array(types.length * table.size);
  types.forEach((type, row) => {
    const offered = table.offered(type.allocatable);
    const taken = table.asked(daemonRequests[row] ?? noResources);
    for (let column = 0; column < table.size; column++) {
      room[row * table.size + column] = floatAt(offered, column) - floatAt(taken, column);
    }
    // If the daemons alone do not fit, there is no room for pods.
    const ownRoom = room.subarray(row * table.size, (row + 1) * table.size);
    if (ownRoom.some((amount) => amount < 0)) ownRoom.fill(-1);
  });
  const limits = parseResources(pool.spec.limits as Record<string, string | number> | undefined);
  const { quotas = [] } = offer;
  const limitNames = [...quotas, ...Object.keys(limits).sort()];
  const limitUse = new Float64Array(types.length * limitNames.length);
  types.forEach((type, row) => {
    limitNames.forEach((name, column) => {
      const own = column < quotas.length ? useOf(type, name) : limitAmount(name, type.capacity);
      limitUse[row * limitNames.length + column] = name === 'nodes' ? 1 : own;
    });
  });
  const reservations: { id: string; left: number }[] = [];
  const offerings = rankOfferings(types, reservations);
  return {
    index,
    name: pool.metadata.name,
    weight: pool.spec.weight ?? 0,
    taints,
    requirements,
    knownKeys: knownKeysOf(types),
    types,
    offerings,
    regionalZones: regionalZonesOf(offerings),
    room,
    daemonRequests,
    daemonPorts: perType.map((pods) => pods.flatMap((pod) => hostPortsOf(pod))),
    limitNames,
    quotas: quotas.length,
    limits: Float64Array.from(limitNames, (name) => limitAmount(name, limits)),
    limitUse,
    reservations,
  };
}

/** What remains of the limits of a pool with this usage; undefined if it has no limits. */
export function limitLeft(
  { limitNames, limits, quotas }: CompiledPool,
  used: Resources,
  figures: Snapshot['quotas'],
): Float64Array | undefined {
  if (limitNames.length === 0) return undefined;
  return limits.map((amount, at) => {
    const name = itemAt(limitNames, at);
    if (at >= quotas) return amount - limitAmount(name, used);
    const figure = figures?.get(name);
    return figure === undefined ? Number.POSITIVE_INFINITY : leftOf(figure);
  });
}

/** Subtracts usage from the pool's remaining limits and from the shared quotas; adds it back with a `sign` of 1. */
export function takeFromLimits(
  left: readonly (Float64Array | undefined)[],
  { index, quotas }: CompiledPool,
  need: Float64Array,
  sign: 1 | -1 = -1,
): void {
  const own = left[index];
  if (own === undefined) return;
  addRow(own, need, sign);
  if (quotas === 0) return;
  for (const other of left) if (other !== own) other?.set(own.subarray(0, quotas));
}

function limitAmount(name: string, resources: Resources): number {
  const amount = quantityOf(resources, name);
  return name === 'cpu' ? amount.milliValue() : amount.value();
}

/** The index is set after sorting. */
type RankedOffering = { -readonly [Field in keyof CompiledOffering]: CompiledOffering[Field] };

/** Also collects the reservations it finds. */
function rankOfferings(
  types: readonly InstanceType[],
  reservations: { id: string; left: number }[],
): CompiledOffering[] {
  // Typed arrays sort fast without a comparator, and few offerings share a price.
  const byPrice = new Map<number, RankedOffering[]>();
  types.forEach((type, row) => {
    for (const offering of type.offerings) {
      const isUsedUp = offering.capacityType === 'reserved' && (offering.reservationCapacity ?? 0) < 1;
      if (!offering.available || isUsedUp) continue;
      let reservation = -1;
      if (offering.capacityType === 'reserved') {
        const id = offering.reservationId ?? `${type.name}/${offering.zone}`;
        reservation = reservations.findIndex((known) => known.id === id);
        if (reservation < 0) reservation = reservations.push({ id, left: Number.POSITIVE_INFINITY }) - 1;
        const known = itemAt(reservations, reservation);
        known.left = Math.min(known.left, offering.reservationCapacity ?? 0);
      }
      const each = { index: 0, type: row, offering, reservation };
      const known = byPrice.get(offering.price);
      if (known === undefined) byPrice.set(offering.price, [each]);
      else known.push(each);
    }
  });
  const ranked: RankedOffering[] = [];
  for (const price of Float64Array.from(byPrice.keys()).sort()) {
    const equals = byPrice.get(price) ?? [];
    if (equals.length > 1) equals.sort(byPlace);
    for (const each of equals) each.index = ranked.push(each) - 1;
  }
  return ranked;
}

/** Zones offered only by nodes without a zone. */
function regionalZonesOf(offerings: readonly CompiledOffering[]): ReadonlySet<string> {
  const regional = new Set<string>();
  const zonal = new Set<string>();
  let last: Offering | undefined;
  for (const { offering } of offerings) {
    if (offering.requirements === last?.requirements && offering.zone === last.zone) continue;
    last = offering;
    const isRegional = offering.requirements.find(Labels.placementScope)?.has(PlacementScopes.regional) ?? false;
    (isRegional ? regional : zonal).add(offering.zone);
  }
  for (const zone of zonal) regional.delete(zone);
  return regional;
}

function byPlace(left: Omit<CompiledOffering, 'index'>, right: Omit<CompiledOffering, 'index'>): number {
  return (
    left.type - right.type ||
    compareText(left.offering.zone, right.offering.zone) ||
    compareText(left.offering.capacityType, right.offering.capacityType)
  );
}

function compareText(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function toleratesAllHard(taints: readonly Taint[], daemon: Pod): boolean {
  const hard = taints.filter(({ effect }) => effect !== 'PreferNoSchedule');
  return untoleratedTaints(hard, daemon.spec?.tolerations).length === 0;
}

/** Ignores preferences and pod affinity, as the DaemonSet controller does. */
function runsOn(daemon: Pod, pool: Requirements, type: InstanceType, knownKeys: ReadonlySet<string>): boolean {
  const template = pool.add(...RUNNING);
  return requirementTerms(daemon).some(
    (term) => template.isCompatible(term, knownKeys) && type.requirements.intersects(term),
  );
}

/** Types with the same daemons share one sum. */
function sharedSums(perType: readonly (readonly Pod[])[]): Resources[] {
  const sums = new Map<string, Resources>();
  return perType.map((pods) => {
    const key = pods.map(podKey).join('\n');
    const known =
      sums.get(key) ?? pods.reduce<Resources>((sum, pod) => addResources(sum, podRequests(pod)), noResources);
    sums.set(key, known);
    return known;
  });
}
