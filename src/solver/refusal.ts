/**
 * Why no pool takes a pod. In: a finished attempt and a class that found no place; out: per pool the stage that
 * removed its last instance type, how many each stage removed, and how near the nearest came.
 */
import { describeIncompatibility, type Requirements } from '../constraints/requirements.ts';
import { formatTaint, untoleratedTaints } from '../pods/taints.ts';
import { readableAmount } from './amount.ts';
import { holderOf, type PodPlan } from './planOnce.ts';
import { isPreferred } from './model/existingNodes.ts';
import type { CompiledPool } from './model/compiledPool.ts';
import type { PodClass } from './model/compiledDemand.ts';
import type { PoolRefusal, RefusalStage, UnplacedReason } from './problem.ts';

const known = new WeakMap<PodClass, UnplacedReason>();

/** What a pool has for pods of the same requirements, whatever their size. */
interface Ground {
  readonly conflicts: string;
  readonly requirements: Requirements;
  readonly matching: readonly number[];
  readonly state: number;
  readonly sold: ReadonlySet<number>;
}
const grounds = new WeakMap<PodPlan, Map<string, Ground>>();

function groundOf(attempt: PodPlan, pool: CompiledPool, strict: Requirements): Ground {
  const { states } = attempt.model;
  const id = states.requirementId(strict);
  const byName = grounds.get(attempt) ?? new Map<string, Ground>();
  grounds.set(attempt, byName);
  const name = `${pool.index}/${id}`;
  const remembered = byName.get(name);
  if (remembered !== undefined) return remembered;
  const conflicts = pool.requirements.incompatibilities(strict, pool.knownKeys);
  const requirements = pool.requirements.merge(strict);
  const matching =
    conflicts.length > 0
      ? []
      : [...pool.types.keys()].filter((type) => pool.types[type]!.requirements.intersects(requirements));
  const state = states.narrow(attempt.compiled.bases[pool.index]!, id);
  const sold = new Set(state < 0 ? [] : states.at(state).offerings.map(({ type }) => type));
  const ground = {
    conflicts: conflicts.map(describeIncompatibility).join('; '),
    requirements,
    matching,
    state,
    sold,
  };
  byName.set(name, ground);
  return ground;
}

export function refusalReason(attempt: PodPlan, podClass: PodClass): UnplacedReason {
  const remembered = known.get(podClass);
  if (remembered !== undefined) return remembered;
  const { unsupported } = podClass.shape;
  const { pools } = attempt.model;
  const reason: UnplacedReason =
    unsupported !== undefined
      ? { kind: 'unsupported', feature: unsupported }
      : pools.length === 0
        ? { kind: 'no-pools' }
        : { kind: 'refused', pools: pools.map((pool) => poolRefusal(attempt, podClass, pool)) };
  known.set(podClass, reason);
  return reason;
}

/** The stages in order, each with what it leaves; told for the least demanding way to ask. */
function poolRefusal(attempt: PodPlan, podClass: PodClass, pool: CompiledPool): PoolRefusal {
  const { states } = attempt.model;
  const variant = podClass.variants.at(-1)!;
  const { shape } = podClass;
  const { rung } = variant;
  const removed: { stage: RefusalStage; count: number }[] = [];
  let alive = pool.types.length;
  const refuse = (stage: RefusalStage, detail: string, nearestMiss?: string): PoolRefusal => {
    removed.push({ stage, count: alive });
    return { pool: pool.name, stage, detail, removed, ...(nearestMiss === undefined ? {} : { nearestMiss }) };
  };
  const survive = (stage: RefusalStage, count: number): void => {
    if (count < alive) removed.push({ stage, count: alive - count });
    alive = count;
  };
  const hard = untoleratedTaints(pool.taints, shape.tolerations).filter((taint) => !isPreferred(taint));
  if (hard.length > 0) return refuse('taints', `does not tolerate ${hard.map(formatTaint).join(', ')}`);
  const { conflicts, requirements, matching, state, sold } = groundOf(attempt, pool, rung.strict);
  if (conflicts !== '') return refuse('requirements', conflicts);
  if (matching.length === 0) return refuse('instance-types', `no instance type meets ${requirements.toString()}`);
  survive('instance-types', matching.length);
  const large = matching.filter((type) => holds(pool, type, podClass.row) && podClass.unknownResource === undefined);
  if (large.length === 0) {
    const miss = nearestMiss(attempt, podClass, pool, matching);
    return refuse('resources', miss.replace(' lacks', ' comes nearest and lacks'), miss);
  }
  survive('resources', large.length);
  const buyable = large.filter((type) => sold.has(type));
  if (buyable.length === 0) return refuse('offerings', 'every offering that would fit is unavailable');
  survive('offerings', buyable.length);
  const alternatives = shape.volumes?.alternatives ?? [];
  if (alternatives.length > 0) {
    const reachable = alternatives.some((each) => states.narrow(state, states.requirementId(each)) >= 0);
    if (!reachable) return refuse('volumes', `its volumes need ${alternatives.map(String).join(' or ')}`);
  }
  const demand = holderOf(attempt, pool);
  const left = attempt.limitLeft[pool.index];
  const affordable = buyable.filter((type) => demand.withinLimits(type, left));
  if (affordable.length === 0) {
    return refuse('limits', `spec.limits of ${exceededLimits(pool, buyable, left).join(', ')} would be exceeded`);
  }
  survive('limits', affordable.length);
  const short = demand
    .minValuesOffered(state, podClass.row, shape.hostPorts)
    .find((each) => each.offered < each.atLeast);
  if (short !== undefined) {
    return refuse(
      'min-values',
      `minValues of ${short.key} asks for ${short.atLeast} values and ${short.offered} are left`,
    );
  }
  return refuse('topology', describeTopology(attempt, podClass));
}

function holds(pool: CompiledPool, type: number, row: Float64Array): boolean {
  for (let column = 0; column < row.length; column++) {
    if (row[column]! > pool.room[type * row.length + column]!) return false;
  }
  return true;
}

function exceededLimits(pool: CompiledPool, types: readonly number[], left: Float64Array | undefined): string[] {
  const width = pool.limitNames.length;
  return pool.limitNames.filter((_, at) => types.some((type) => pool.limitUse[type * width + at]! > left![at]!));
}

/** The machine that lacks least: "Standard_D8s_v5 lacks 300m cpu". */
function nearestMiss(attempt: PodPlan, podClass: PodClass, pool: CompiledPool, types: readonly number[]): string {
  const { names } = attempt.model.table;
  if (podClass.unknownResource !== undefined) return `every instance type lacks ${podClass.unknownResource}`;
  let best: { name: string; text: string; worst: number } | undefined;
  for (const type of types) {
    const lacking: string[] = [];
    let worst = 0;
    podClass.row.forEach((asked, column) => {
      const missing = asked - Math.max(0, pool.room[type * podClass.row.length + column]!);
      if (missing <= 0) return;
      worst = Math.max(worst, missing / asked);
      lacking.push(`${readableAmount(names[column]!, missing)} ${names[column]!}`);
    });
    if (best === undefined || worst < best.worst)
      best = { name: pool.types[type]!.name, text: lacking.join(' and '), worst };
  }
  return `${best?.name ?? 'every instance type'} lacks ${best?.text ?? 'room'}`;
}

function describeTopology(attempt: PodPlan, podClass: PodClass): string {
  const { counters } = attempt.compiled;
  const variant = podClass.variants.at(-1)!;
  const parts = variant.domain.map(({ kind, counter, maxSkew }) => {
    const { spec, domains, counts } = counters.at(counter);
    const shown = domains.values.slice(0, 25).map((value, domain) => `${value}: ${counts[domain] ?? 0}`);
    const name =
      kind === 'spread'
        ? `spread over ${spec.topologyKey} with maxSkew ${maxSkew}`
        : `${kind} over ${spec.topologyKey}`;
    return `${name} (${shown.join(', ')})`;
  });
  const hosts = variant.hostAffinity.length > 0 ? ['affinity over kubernetes.io/hostname'] : [];
  return `no domain satisfies ${[...parts, ...hosts].join(' and ') || 'its constraints'}`;
}
