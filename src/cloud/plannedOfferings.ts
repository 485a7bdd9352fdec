/**
 * What a plan wants to buy for a NodeClaim, best first, as an annotation of the claim: `type/zone/capacity-type`, with
 * commas between them. The provider buys the first that is available, so that the plan is what happens.
 */
import { Annotations } from '../api/labels.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';

export interface PlannedOffering {
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: string;
}

/** Past these the provider goes by price, which is what a plan's order comes down to. */
const MAX_PLANNED = 12;

export function formatPlannedOfferings(offerings: readonly PlannedOffering[]): string {
  return offerings.slice(0, MAX_PLANNED).map(keyOf).join(',');
}

/** The best of the claim's plan. */
export function firstPlanned(claim: NodeClaim): PlannedOffering | undefined {
  return parsePlannedOfferings(claim)[0];
}

/** The claim's plan, best first. */
export function parsePlannedOfferings({ metadata }: NodeClaim): readonly PlannedOffering[] {
  const text = metadata.annotations?.[Annotations.plannedOfferings] ?? '';
  return text
    .split(',')
    .slice(0, MAX_PLANNED)
    .flatMap((entry) => {
      const [instanceType, zone, capacityType] = entry.split('/');
      return !instanceType || zone === undefined || capacityType === undefined
        ? []
        : [{ instanceType, zone, capacityType }];
    });
}

/** The place of an offering in the claim's plan; offerings without one come after all others. */
export function plannedRanks({ metadata }: NodeClaim): (offering: PlannedOffering) => number {
  const text = metadata.annotations?.[Annotations.plannedOfferings] ?? '';
  const ranks = new Map<string, number>();
  for (const key of text.split(',').slice(0, MAX_PLANNED)) if (!ranks.has(key)) ranks.set(key, ranks.size);
  return (offering) => ranks.get(keyOf(offering)) ?? MAX_PLANNED;
}

function keyOf({ instanceType, zone, capacityType }: PlannedOffering): string {
  return `${instanceType}/${zone}/${capacityType}`;
}
