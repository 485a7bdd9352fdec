import type { NodeOverlay } from '../../api/kinds/nodeOverlay.ts';
import type { NodePool } from '../../api/kinds/nodePool.ts';
import { Labels } from '../../api/labels.ts';
import { validateNodeOverlay } from '../../api/nodeOverlayValidation.ts';
import { fieldErrorText } from '../../api/schema/fieldError.ts';
import type { InstanceType, Offering } from '../../cloud/instanceType.ts';
import { Requirements } from '../../constraints/requirements.ts';
import { Price, PriceAdjustment } from '../../units/price.ts';
import type { Quantity } from '../../units/quantity.ts';
import { parseResources } from '../../units/resources.ts';
import { conditionText } from '../../ledger/conditionText.ts';

export interface PoolTypes {
  readonly pool: NodePool;
  readonly instanceTypes: readonly InstanceType[];
}

export type OverlayVerdict =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'invalid'; readonly message: string }
  | { readonly kind: 'conflict'; readonly message: string };

export interface Evaluation {
  /** By overlay name. */
  readonly verdicts: ReadonlyMap<string, OverlayVerdict>;
  /** By pool name, then by instance type. Contains every evaluated pool. */
  readonly changes: ReadonlyMap<string, ReadonlyMap<string, TypeChange>>;
}

/** Changes to one instance type of one pool, and the weight of the overlay behind each. */
export interface TypeChange {
  /** By `offeringKey`. */
  readonly prices: ReadonlyMap<string, { readonly rule: PriceAdjustment; readonly weight: number }>;
  readonly capacity: ReadonlyMap<string, { readonly amount: Quantity; readonly weight: number }>;
}

interface Draft extends TypeChange {
  readonly prices: Map<string, { readonly rule: PriceAdjustment; readonly weight: number }>;
  readonly capacity: Map<string, { readonly amount: Quantity; readonly weight: number }>;
}

type PoolDraft = Map<string, Draft>;

/**
 * Applies overlays to the types of all pools. Where two overlap, the higher weight wins; two of equal weight that set
 * the same field conflict, and the later one is ignored everywhere.
 */
export function evaluateOverlays(overlays: readonly NodeOverlay[], pools: readonly PoolTypes[]): Evaluation {
  const verdicts = new Map<string, OverlayVerdict>();
  const drafts = new Map<string, PoolDraft>(pools.map(({ pool }) => [pool.metadata.name, new Map()]));
  for (const overlay of [...overlays].sort(byWeight)) {
    const verdict = judge(overlay, pools, drafts);
    verdicts.set(overlay.metadata.name, verdict);
    if (verdict.kind !== 'accepted') continue;
    for (const pool of pools) draft(overlay, pool, drafts.get(pool.pool.metadata.name) ?? new Map());
  }
  return { verdicts, changes: drafts };
}

const offeringKey = ({ requirements }: Offering): string => requirements.toString();

/** Higher weight first; ties: the name that sorts last. */
function byWeight(left: NodeOverlay, right: NodeOverlay): number {
  return weightOf(right) - weightOf(left) || (left.metadata.name > right.metadata.name ? -1 : 1);
}

const weightOf = ({ spec }: NodeOverlay): number => spec.weight ?? 0;

function judge(
  overlay: NodeOverlay,
  pools: readonly PoolTypes[],
  drafts: ReadonlyMap<string, PoolDraft>,
): OverlayVerdict {
  const errors = validateNodeOverlay(overlay);
  if (errors.length > 0) return { kind: 'invalid', message: errors.map(fieldErrorText).join('; ') };
  for (const { pool, instanceTypes } of pools) {
    for (const type of instanceTypes) {
      const offerings = matching(overlay, pool, type);
      const known = drafts.get(pool.metadata.name)?.get(type.name);
      const rivals = known && offerings.length > 0 ? contested(overlay, offerings, known) : [];
      if (rivals.length === 0) continue;
      const { message } = conditionText({
        kind: 'overlayConflict',
        weight: weightOf(overlay),
        fields: rivals,
        instanceType: type.name,
        pool: pool.metadata.name,
      });
      return { kind: 'conflict', message };
    }
  }
  return { kind: 'accepted' };
}

/** Whether an overlay of the same weight has already set it. */
function contested(overlay: NodeOverlay, offerings: readonly Offering[], known: Draft): string[] {
  const weight = weightOf(overlay);
  const priced = ruleOf(overlay) && offerings.some((each) => known.prices.get(offeringKey(each))?.weight === weight);
  const resources = Object.keys(overlay.spec.capacity ?? {});
  return [...(priced ? ['price'] : []), ...resources.filter((name) => known.capacity.get(name)?.weight === weight)];
}

function draft(overlay: NodeOverlay, { pool, instanceTypes }: PoolTypes, drafts: PoolDraft): void {
  const weight = weightOf(overlay);
  const rule = ruleOf(overlay);
  const capacity = Object.entries(parseResources(overlay.spec.capacity));
  for (const type of instanceTypes) {
    const offerings = matching(overlay, pool, type);
    if (offerings.length === 0) continue;
    const change = drafts.get(type.name) ?? { prices: new Map(), capacity: new Map() };
    drafts.set(type.name, change);
    for (const key of rule ? offerings.map(offeringKey) : []) {
      if (rule && !change.prices.has(key)) change.prices.set(key, { rule, weight });
    }
    for (const [name, amount] of capacity) {
      if (!change.capacity.has(name)) change.capacity.set(name, { amount, weight });
    }
  }
}

function ruleOf({ spec }: NodeOverlay): PriceAdjustment | undefined {
  const text = spec.price ?? spec.priceAdjustment;
  return text === undefined ? undefined : PriceAdjustment.parse(text);
}

/** The offerings of the type that the overlay selects; empty if it does not select the type in this pool. */
function matching({ spec }: NodeOverlay, pool: NodePool, type: InstanceType): readonly Offering[] {
  const wanted = Requirements.fromItems(spec.requirements);
  const labels = { ...pool.spec.template.metadata?.labels, [Labels.nodePool]: pool.metadata.name };
  if (!type.requirements.merge(Requirements.fromLabels(labels)).isCompatible(wanted)) return [];
  return type.offerings.filter(({ requirements }) => requirements.intersects(wanted));
}

/** The type with the overlays applied; adjustments are relative to the cloud's current prices. */
export function overlaidType(type: InstanceType, change: TypeChange | undefined): InstanceType {
  if (!change) return type;
  const added = Object.fromEntries([...change.capacity].map(([name, { amount }]) => [name, amount]));
  return {
    ...type,
    capacity: { ...type.capacity, ...added },
    allocatable: { ...type.allocatable, ...added },
    offerings: type.offerings.map((offering) => {
      const rule = change.prices.get(offeringKey(offering))?.rule;
      return rule ? { ...offering, price: rule.apply(Price.fromDollars(offering.price)).dollars } : offering;
    }),
  };
}
