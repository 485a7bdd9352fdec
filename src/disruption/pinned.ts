/**
 * Narrows a planned node to what may replace other nodes: only offerings below a price, and none that failed to launch
 * recently. Then whatever the provider chooses within the claim's requirements is cheap enough.
 */
import { Labels } from '../api/labels.ts';
import type { InstanceType } from '../cloud/instanceType.ts';
import { Requirement } from '../constraints/requirement.ts';
import { Requirements } from '../constraints/requirements.ts';
import type { Alternative, PlannedNode } from '../solver/problem.ts';
import type { NodeChoice } from '../solver/reasons.ts';
import { typesByName, type PoolCatalogue } from './candidate.ts';
import type { OutcomeCause } from './kept.ts';
import type { Pass } from './method.ts';

export interface PinRules {
  /** The node must cost less than this many dollars per hour. */
  readonly below: number;
  /** At most this many instance types, cheapest first, unless minValues requires more. */
  readonly mostTypes?: number;
}

export function pinned(plan: PlannedNode, pass: Pass, rules: PinRules): PlannedNode | OutcomeCause {
  const { alternatives, pool } = plan;
  const cheap = alternatives.filter(({ pricePerHour }) => pricePerHour < rules.below);
  const [cheapest] = cheap;
  if (cheapest === undefined) {
    const replacementPricePerHour = alternatives[0]?.pricePerHour ?? 0;
    return { kind: 'not-cheaper', pricePerHour: rules.below, replacementPricePerHour };
  }
  const good = new Set(cheap.filter((each) => pass.failedUntil(pool, each) === undefined));
  const [first] = good;
  if (first === undefined)
    return { kind: 'recent-launch-failure', until: pass.failedUntil(pool, cheapest) ?? pass.now };
  const capacityTypes = capacityTypesOf([...good]);
  const wanted = alternatives.filter(({ capacityType }) => capacityTypes.has(capacityType));
  const safe = safeTypes(wanted, good);
  if (safe.has(first.instanceType)) return narrowed(plan, pass, wanted, safe, rules);
  // If the type is too dear in another zone, buy it only in its own.
  const zonal = wanted.filter(({ zone }) => zone === first.zone);
  const requirements = Requirements.fromItems(plan.requirements)
    .add(Requirement.of(Labels.zone, 'In', [first.zone]))
    .toItems();
  return narrowed({ ...plan, requirements }, pass, zonal, safeTypes(zonal, good), rules);
}

/**
 * Reserved capacity, and the next capacity type: if both spot and on-demand were allowed, the dearer might be bought.
 */
function capacityTypesOf(good: readonly Alternative[]): ReadonlySet<string> {
  const [first] = good;
  const other = good.find(({ capacityType }) => capacityType !== 'reserved');
  const types = new Set<string>();
  if (first?.capacityType === 'reserved') types.add('reserved');
  if (other !== undefined) types.add(other.capacityType);
  return types;
}

/** Instance types for which every listed offering is acceptable. */
function safeTypes(wanted: readonly Alternative[], good: ReadonlySet<Alternative>): ReadonlySet<string> {
  const safe = new Set(wanted.map(({ instanceType }) => instanceType));
  for (const each of wanted) if (!good.has(each)) safe.delete(each.instanceType);
  return safe;
}

function narrowed(
  plan: PlannedNode,
  pass: Pass,
  wanted: readonly Alternative[],
  safe: ReadonlySet<string>,
  { mostTypes = Number.POSITIVE_INFINITY }: PinRules,
): PlannedNode | OutcomeCause {
  const asked = plan.requirements.filter(({ minValues }) => minValues !== undefined);
  const catalogue = pass.pools.get(plan.pool);
  const names = [...safe];
  const needed = asked.length === 0 || catalogue === undefined ? 0 : typesNeeded(names, asked, catalogue);
  if (needed > names.length && pass.settings.minValuesPolicy === 'Strict') {
    const [item] = asked;
    const offered = item === undefined || catalogue === undefined ? 0 : valuesOf(item.key, names, catalogue).size;
    return { kind: 'min-values', key: item?.key ?? '', atLeast: item?.minValues ?? 0, offered };
  }
  const kept = new Set(names.slice(0, Math.max(mostTypes, needed)));
  const isRelaxed = needed > names.length;
  const { choice } = plan;
  return {
    ...plan,
    ...(choice && { choice: { ...choice, ...candidatesLeft(plan, choice, kept.size) } }),
    alternatives: wanted.filter(({ instanceType }) => kept.has(instanceType)),
    minValuesRelaxed: plan.minValuesRelaxed || isRelaxed,
    ...(isRelaxed && catalogue && { requirements: relaxed(plan, names, catalogue) }),
  };
}

/** Types removed by the narrowing are one more stage in the candidate counts. */
function candidatesLeft({ alternatives }: PlannedNode, { candidates }: NodeChoice, left: number): Partial<NodeChoice> {
  const count = new Set(alternatives.map(({ instanceType }) => instanceType)).size - left;
  if (candidates === undefined || count === 0) return {};
  return { candidates: { ...candidates, removed: [...candidates.removed, { stage: 'replacement', count }] } };
}

type MinValues = PlannedNode['requirements'][number];

/** How many of the types, in order, are needed to offer enough distinct values; more than there are if none suffice. */
function typesNeeded(names: readonly string[], asked: readonly MinValues[], catalogue: PoolCatalogue): number {
  const isEnough = (count: number): boolean =>
    asked.every(({ key, minValues = 0 }) => valuesOf(key, names.slice(0, count), catalogue).size >= minValues);
  for (let count = 1; count <= names.length; count++) if (isEnough(count)) return count;
  return names.length + 1;
}

function valuesOf(key: string, names: readonly string[], { instanceTypes }: PoolCatalogue): ReadonlySet<string> {
  const types = typesByName(instanceTypes);
  return new Set(names.flatMap((name) => labelValues(types.get(name), key)));
}

const labelValues = (type: InstanceType | undefined, key: string): string[] => [
  ...(type?.requirements.find(key)?.values ?? []),
];

/** The values on offer replace the values asked for. */
function relaxed(plan: PlannedNode, names: readonly string[], catalogue: PoolCatalogue): PlannedNode['requirements'] {
  return plan.requirements.map((item) => {
    if (item.minValues === undefined) return item;
    return { ...item, minValues: Math.min(item.minValues, valuesOf(item.key, names, catalogue).size) };
  });
}
