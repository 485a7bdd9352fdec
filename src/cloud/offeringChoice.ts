/**
 * Chooses the offering to buy for a NodeClaim, for all providers. Named stages remove unsuitable offerings and count
 * what they removed; the rest is ranked. Deterministic for the same claim and conditions.
 */
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import { Labels, PlacementScopes } from '../api/labels.ts';
import { Requirements } from '../constraints/requirements.ts';
import { launchDetail } from '../errors/launchProblems.ts';
import { fits, parseResources, type Resources } from '../units/resources.ts';
import type { LaunchRequest } from './cloudProvider.ts';
import { InsufficientCapacityError } from './errors.ts';
import type { InstanceType, Offering } from './instanceType.ts';
import { plannedRanks } from './plannedOfferings.ts';

export interface Purchase {
  readonly type: InstanceType;
  readonly offering: Offering;
}

type StageName = 'requirements' | 'availability' | 'resources';

interface OfferingChoice {
  /** Undefined when no offering is left. */
  readonly purchase: Purchase | undefined;
  /** Number of offerings before the stages. */
  readonly offered: number;
  /** How many offerings each stage removed. */
  readonly removed: Readonly<Record<StageName, number>>;
}

interface Wanted {
  readonly requirements: Requirements;
  readonly requests: Resources;
}

/** A stage filters whole instance types, single offerings, or both. */
interface Stage {
  readonly name: StageName;
  readonly keepsType?: (type: InstanceType, wanted: Wanted) => boolean;
  readonly keepsOffering?: (offering: Offering, wanted: Wanted) => boolean;
}

const STAGES: readonly Stage[] = [
  {
    name: 'requirements',
    keepsType: ({ requirements }, wanted) => wanted.requirements.intersects(requirements),
    keepsOffering: ({ requirements }, wanted) => wanted.requirements.intersects(requirements),
  },
  { name: 'availability', keepsOffering: ({ available }) => available },
  { name: 'resources', keepsType: ({ allocatable }, { requests }) => fits(requests, allocatable) },
];

/** Throws `InsufficientCapacityError` with the counts of all stages when nothing can be bought. */
export function purchaseFor(request: Pick<LaunchRequest, 'claim' | 'view'>, types: readonly InstanceType[]): Purchase {
  const { purchase, offered, removed } = chooseOffering(request, types);
  if (purchase !== undefined) return purchase;
  const { name: claim } = request.claim.metadata;
  throw new InsufficientCapacityError(launchDetail('NothingToBuy', { claim, offered, removed }));
}

/** Chooses by the types in the request's view; returns the original type. */
export function chooseOffering(
  { claim, view = (same) => same }: Pick<LaunchRequest, 'claim' | 'view'>,
  types: readonly InstanceType[],
): OfferingChoice {
  const wanted: Wanted = {
    requirements: Requirements.fromItems(claim.spec.requirements),
    requests: parseResources(claim.spec.resources?.requests),
  };
  const removed: Record<StageName, number> = { requirements: 0, availability: 0, resources: 0 };
  const isBetter = ranking(claim);
  let offered = 0;
  let best: Purchase | undefined;
  for (const type of view(types)) {
    offered += type.offerings.length;
    const refusing = STAGES.find(({ keepsType }) => keepsType?.(type, wanted) === false);
    if (refusing !== undefined) {
      removed[refusing.name] += type.offerings.length;
      continue;
    }
    for (const offering of type.offerings) {
      const stage = STAGES.find(({ keepsOffering }) => keepsOffering?.(offering, wanted) === false);
      if (stage !== undefined) removed[stage.name] += 1;
      else if (best === undefined || isBetter({ type, offering }, best)) best = { type, offering };
    }
  }
  const type = types.find(({ name }) => name === best?.type.name);
  return { purchase: best && type && { type, offering: best.offering }, offered, removed };
}

/**
 * The order of the plan; otherwise cheapest first, then spot, then a zone rather than none, then the type's name. Equal
 * zones are ordered differently for each claim, so that claims without a plan spread over them.
 */
function ranking(claim: NodeClaim): (left: Purchase, right: Purchase) => boolean {
  const planned = plannedRanks(claim);
  const placeInPlan = ({ type, offering }: Purchase): number =>
    planned({ instanceType: type.name, zone: offering.zone, capacityType: offering.capacityType });
  return (left, right) => {
    const order =
      placeInPlan(left) - placeInPlan(right) ||
      left.offering.price - right.offering.price ||
      Number(left.offering.capacityType !== 'spot') - Number(right.offering.capacityType !== 'spot') ||
      Number(isRegional(left.offering)) - Number(isRegional(right.offering)) ||
      compareText(left.type.name, right.type.name) ||
      zoneRank(claim.metadata.name, left.offering.zone) - zoneRank(claim.metadata.name, right.offering.zone) ||
      compareText(left.offering.zone, right.offering.zone);
    return order < 0;
  };
}

/** FNV-1a: very different results for names that differ in one letter. */
function zoneRank(claim: string, zone: string): number {
  let hash = 0x811c9dc5;
  for (const character of `${claim}/${zone}`)
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return hash;
}

function isRegional({ requirements }: Offering): boolean {
  return requirements.find(Labels.placementScope)?.has(PlacementScopes.regional) ?? false;
}

function compareText(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
