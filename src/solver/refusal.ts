/**
 * Why no pool takes a pod: per pool the stage that removed its last instance type, how many types each stage removed,
 * and the nearest type. Based on the least demanding variant of the pod.
 */
import type { Requirements } from '../constraints/requirements.ts';
import { hostPortsClash, hostPortsOf } from '../pods/hostPorts.ts';
import { podKey } from '../pods/podKey.ts';
import { untoleratedTaints } from '../pods/taints.ts';
import { amountOf } from './amount.ts';
import { conflictOf, unmetTogether } from './labelConflicts.ts';
import type { CompiledPool } from './model/compiledPool.ts';
import type { PodClass } from './model/podClass.ts';
import { isPreferred } from './model/nodeKinds.ts';
import { nodeRefusals } from './nodeRefusals.ts';
import { holderOf, type PodPlan } from './planOnce.ts';
import type {
  LabelConflict,
  NearestType,
  PoolRefusal,
  PortConflict,
  RefusalStage,
  StageRefusal,
  UnplacedReason,
} from './reasons.ts';
import { quotaRefusal, spentQuota } from './quotaRefusal.ts';
import { floatAt, itemAt, Rows } from './rows.ts';
import { topologyConflicts } from './topologyConflicts.ts';

const known = new WeakMap<PodClass, UnplacedReason>();

/** What a pool has for pods with the same requirements, regardless of their size. */
interface Candidates {
  readonly conflicts: readonly LabelConflict[];
  readonly requirements: Requirements;
  /** Types that meet the requirements. */
  readonly matching: readonly number[];
  readonly state: number;
  /** Types with an available offering that meets them. */
  readonly sold: ReadonlySet<number>;
}
const candidates = new WeakMap<PodPlan, Map<string, Candidates>>();

/** Checking every node takes time in proportion to the cluster, so only the first classes of a plan get it. */
const MAX_CLASSES_WITH_NODES = 25;
const explained = new WeakMap<PodPlan, number>();

export function refusalReason(plan: PodPlan, podClass: PodClass): UnplacedReason {
  const remembered = known.get(podClass);
  if (remembered !== undefined) return remembered;
  const reason = findReason(plan, podClass);
  known.set(podClass, reason);
  return reason;
}

function findReason(plan: PodPlan, podClass: PodClass): UnplacedReason {
  if (podClass.shape.unsupported !== undefined) return { kind: 'unsupported', feature: podClass.shape.unsupported };
  const { pools } = plan.model;
  const classes = explained.get(plan) ?? 0;
  explained.set(plan, classes + 1);
  const nodes = classes < MAX_CLASSES_WITH_NODES ? nodeRefusals(plan, podClass) : [];
  if (pools.length === 0) return { kind: 'no-pools', nodes };
  // One part represents its pool.
  const whole = pools.filter(({ name }, at) => pools[at - 1]?.name !== name);
  return { kind: 'refused', pools: whole.map((pool) => poolRefusal(plan, podClass, pool)), nodes };
}

function poolRefusal(plan: PodPlan, podClass: PodClass, pool: CompiledPool): PoolRefusal {
  const removed: { stage: RefusalStage; count: number }[] = [];
  const countOf = (types: Iterable<number>): number =>
    new Set(Array.from(types, (type) => itemAt(pool.types, type).name)).size;
  let alive = countOf(pool.types.keys());
  const survive = (stage: RefusalStage, types: readonly number[]): void => {
    const count = countOf(types);
    if (count < alive) removed.push({ stage, count: alive - count });
    alive = count;
  };
  const refusal = firstRefusal(plan, podClass, pool, survive);
  removed.push({ stage: refusal.stage, count: alive });
  return { pool: pool.name, ...refusal, removed };
}

/** Goes through the stages in order; `survive` receives the types that each stage leaves. */
function firstRefusal(
  plan: PodPlan,
  podClass: PodClass,
  pool: CompiledPool,
  survive: (stage: RefusalStage, types: readonly number[]) => void,
): StageRefusal {
  const { shape } = podClass;
  const taints = untoleratedTaints(pool.taints, shape.tolerations).filter((taint) => !isPreferred(taint));
  if (taints.length > 0) return { stage: 'taints', taints };
  const { strict } = itemAt(podClass.variants, podClass.variants.length - 1).rung;
  const { conflicts, requirements, matching, state, sold } = candidatesOf(plan, pool, strict);
  if (conflicts.length > 0) return { stage: 'requirements', conflicts };
  if (matching.length === 0) return instanceTypeRefusal(plan, pool, requirements);
  survive('instance-types', matching);
  if (podClass.unknownResource !== undefined) {
    return { stage: 'resources', unknownResource: podClass.unknownResource };
  }
  const large = matching.filter((type) => new Rows(podClass.row.length, pool.room).holds(type, podClass.row));
  if (large.length === 0) return { stage: 'resources', nearest: nearestType(plan, podClass, pool, matching) };
  survive('resources', large);
  const buyable = large.filter((type) => sold.has(type));
  if (buyable.length === 0) {
    return spentQuota(plan, pool, large, requirements) ?? offeringRefusal(pool, large, requirements);
  }
  survive('offerings', buyable);
  const volumes = volumeRefusal(plan, podClass, state);
  if (volumes !== undefined) return volumes;
  const demand = holderOf(plan, pool);
  const portable = buyable.filter((type) => !demand.clashesWithDaemons(type, shape.hostPorts));
  if (portable.length === 0) return { stage: 'host-ports', ports: takenPorts(plan, podClass, pool, buyable) };
  survive('host-ports', portable);
  const left = plan.limitLeft[pool.index];
  const affordable = portable.filter((type) => demand.withinLimits(type, left));
  if (affordable.length === 0) {
    return (
      quotaRefusal(plan, pool, portable, left) ?? { stage: 'limits', limits: exceededLimits(pool, portable, left) }
    );
  }
  survive('limits', affordable);
  const short = demand
    .minValuesOffered(state, podClass.row, shape.hostPorts, left)
    .find((each) => each.offered < each.atLeast);
  if (short !== undefined) return { stage: 'min-values', ...short };
  return { stage: 'topology', conflicts: topologyConflicts(plan, podClass, state) };
}

function candidatesOf(plan: PodPlan, pool: CompiledPool, strict: Requirements): Candidates {
  const { states } = plan.model;
  const id = states.requirementId(strict);
  const byName = candidates.get(plan) ?? new Map<string, Candidates>();
  candidates.set(plan, byName);
  const name = `${pool.index}/${id}`;
  const remembered = byName.get(name);
  if (remembered !== undefined) return remembered;
  const conflicts = pool.requirements.incompatibilities(strict, pool.knownKeys).map(conflictOf);
  const requirements = pool.requirements.merge(strict);
  const matching =
    conflicts.length > 0
      ? []
      : [...pool.types.keys()].filter((type) => itemAt(pool.types, type).requirements.intersects(requirements));
  const state = states.narrow(itemAt(plan.compiled.bases, pool.index), id);
  const sold = new Set(state < 0 ? [] : states.at(state).offerings.map(({ type }) => type));
  const found = { conflicts, requirements, matching, state, sold };
  byName.set(name, found);
  return found;
}

/** The failing requirements: of pod and pool together, or of the pool alone. */
function instanceTypeRefusal(plan: PodPlan, pool: CompiledPool, requirements: Requirements): StageRefusal {
  if (pool.types.length > 0) {
    const unmet = unmetTogether(
      requirements,
      pool.types.map((type) => type.requirements),
    );
    return { stage: 'instance-types', unmet, byPoolAlone: false };
  }
  const offered =
    plan.model.snapshot.pools.find((offer) => offer.pool.metadata.name === pool.name)?.instanceTypes ?? [];
  const unmet = unmetTogether(
    pool.requirements,
    offered.map((type) => type.requirements),
  );
  return { stage: 'instance-types', unmet, byPoolAlone: true };
}

function offeringRefusal(pool: CompiledPool, types: readonly number[], requirements: Requirements): StageRefusal {
  const large = types.map((type) => itemAt(pool.types, type));
  const offerings = large.flatMap((type) => type.offerings);
  const isSomeOffered = offerings.some((offering) => offering.requirements.intersects(requirements));
  const unmet = isSomeOffered
    ? []
    : unmetTogether(
        requirements,
        offerings.map((offering) => offering.requirements),
      );
  return { stage: 'offerings', instanceTypes: [...new Set(large.map(({ name }) => name))], unmet };
}

function volumeRefusal({ model }: PodPlan, { shape }: PodClass, state: number): StageRefusal | undefined {
  const { states } = model;
  const alternatives = shape.volumes?.alternatives ?? [];
  if (alternatives.length === 0) return undefined;
  if (alternatives.some((each) => states.narrow(state, states.requirementId(each)) >= 0)) return undefined;
  // Keys without any allowed value: two volumes require different ones.
  const impossible = alternatives.map((each) =>
    [...each].filter((one) => one.operator === 'DoesNotExist' && !one.allowsAbsence),
  );
  if (impossible.every((keys) => keys.length > 0)) {
    return { stage: 'volumes', keys: [...new Set(impossible.flat().map(({ key }) => key))].sort() };
  }
  return { stage: 'volumes', alternatives: alternatives.map((each) => each.toItems()) };
}

/** The pod's host ports that daemons hold on every type, each with such a daemon. */
function takenPorts(
  { model }: PodPlan,
  { shape }: PodClass,
  pool: CompiledPool,
  types: readonly number[],
): PortConflict[] {
  const isTaken = (port: (typeof shape.hostPorts)[number]): boolean =>
    types.some((type) => itemAt(pool.daemonPorts, type).some((taken) => hostPortsClash(port, taken)));
  return shape.hostPorts.filter(isTaken).map((wanted) => {
    const daemon = model.snapshot.daemons.find((pod) =>
      hostPortsOf(pod).some((taken) => hostPortsClash(wanted, taken)),
    );
    return { ...wanted, ...(daemon === undefined ? {} : { daemon: podKey(daemon) }) };
  });
}

function exceededLimits(pool: CompiledPool, types: readonly number[], left: Float64Array | undefined): string[] {
  if (left === undefined) return [];
  const use = new Rows(pool.limitNames.length, pool.limitUse);
  return pool.limitNames.filter(
    (_, at) => at >= pool.quotas && types.some((type) => use.get(type, at) > floatAt(left, at)),
  );
}

/** The type that lacks the smallest share of the requests. */
function nearestType({ model }: PodPlan, { row }: PodClass, pool: CompiledPool, types: readonly number[]): NearestType {
  const { names } = model.table;
  const room = new Rows(row.length, pool.room);
  let best: NearestType = { instanceType: '', lacks: [] };
  let least = Number.POSITIVE_INFINITY;
  for (const type of types) {
    const missing = Array.from(row, (asked, column) => asked - Math.max(0, room.get(type, column)));
    const worst = Math.max(...missing.map((amount, column) => (amount <= 0 ? 0 : amount / floatAt(row, column))));
    if (worst >= least) continue;
    least = worst;
    const lacks = missing.flatMap((amount, column) => (amount <= 0 ? [] : [amountOf(itemAt(names, column), amount)]));
    best = { instanceType: itemAt(pool.types, type).name, lacks };
  }
  return best;
}
