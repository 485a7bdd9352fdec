/**
 * Quotas as limits shared by all pools. Few plans come near a quota, so a plan is first made without them; if it
 * exceeds a quota, it is made again with the quotas it may exceed as limits.
 */
import type { InstanceType, Offering, QuotaNeed } from '../cloud/instanceType.ts';
import { Model } from './model/model.ts';
import type { PlannedNode, PoolOffer, Snapshot, Solution } from './problem.ts';
import { leftOf, takenOf } from './quotaUse.ts';

/** By instance type and capacity type. */
type Needs = ReadonlyMap<string, QuotaNeed>;

const needsOf = new WeakMap<readonly InstanceType[], Needs>();
/** By type and the quotas that distinguish its offerings. */
const splitTypes = new WeakMap<InstanceType, Map<string, readonly InstanceType[]>>();
/** By model without quotas: the model of the same cluster within quotas, carried forward with it. */
const within = new WeakMap<Model, Model>();

/**
 * Quotas to respect in the next try, in addition to those of `kept`; empty when the solution exceeds none. Includes the
 * quotas that the same nodes would exceed if bought through other offerings.
 */
export function exceededQuotas(
  { pools, quotas }: Snapshot,
  { plannedNodes }: Solution,
  kept: readonly string[],
): string[] {
  if (quotas === undefined || quotas.size === 0 || plannedNodes.length === 0) return [];
  const byPool = new Map(pools.map(({ pool, instanceTypes }) => [pool.metadata.name, needsIn(instanceTypes)]));
  const taken = new Map<string, number>();
  let largest = 0;
  for (const node of plannedNodes) {
    const { names, amount } = needOf(node, byPool.get(node.pool)) ?? NO_NEED;
    largest += amount;
    for (const name of names) taken.set(name, (taken.get(name) ?? 0) + amount);
  }
  const isShort = (name: string, amount: number): boolean => {
    const figure = quotas.get(name);
    return figure !== undefined && !kept.includes(name) && amount > leftOf(figure);
  };
  if (![...taken].some(([name, amount]) => isShort(name, amount))) return [];
  const named = new Set([...byPool.values()].flatMap((needs) => [...needs.values()].flatMap(({ names }) => names)));
  return [...named].filter((name) => isShort(name, largest)).sort();
}

/** The model of the same snapshot in which the planned nodes together stay within these quotas. */
export function modelWithin(model: Model, quotas: readonly string[]): Model {
  const { snapshot } = model;
  const pools = snapshot.pools.map((offer) => ({ ...offer, instanceTypes: splitBy(offer, quotas), quotas }));
  const limited = { ...snapshot, pools };
  const known = within.get(model);
  if (known !== undefined) {
    known.advance(limited);
    return known;
  }
  const made = Model.of(limited);
  within.set(model, made);
  return made;
}

const NO_NEED: QuotaNeed = { names: [], amount: 0 };

function needOf({ alternatives: [first] }: PlannedNode, needs: Needs | undefined): QuotaNeed | undefined {
  return first && needs?.get(`${first.instanceType}/${first.capacityType}`);
}

function needsIn(types: readonly InstanceType[]): Needs {
  let needs = needsOf.get(types);
  if (needs === undefined) {
    needs = new Map(
      types.flatMap(({ name, offerings }) =>
        offerings.flatMap(({ capacityType, quotaNeed }): [string, QuotaNeed][] =>
          quotaNeed === undefined ? [] : [[`${name}/${capacityType}`, quotaNeed]],
        ),
      ),
    );
    needsOf.set(types, needs);
  }
  return needs;
}

/**
 * Limits are counted per type, quotas per offering. So a type whose offerings use different amounts of these quotas
 * (spot and on demand) is split into several types with the same name. Results are cached: the same type gives the same
 * objects.
 */
function splitBy({ instanceTypes }: PoolOffer, quotas: readonly string[]): readonly InstanceType[] {
  const key = quotas.join();
  return instanceTypes.flatMap((type) => {
    const known = splitTypes.get(type) ?? new Map<string, readonly InstanceType[]>();
    splitTypes.set(type, known);
    let parts = known.get(key);
    if (parts === undefined) {
      parts = split(type, quotas);
      // Keep one entry: the relevant quotas rarely change.
      known.clear();
      known.set(key, parts);
    }
    return parts;
  });
}

function split(type: InstanceType, quotas: readonly string[]): readonly InstanceType[] {
  const byUse = new Map<string, Offering[]>();
  for (const offering of type.offerings) {
    const use = quotas.map((quota) => takenOf(offering.quotaNeed, quota)).join();
    const known = byUse.get(use);
    if (known === undefined) byUse.set(use, [offering]);
    else known.push(offering);
  }
  return byUse.size < 2 ? [type] : [...byUse.values()].map((offerings) => ({ ...type, offerings }));
}
