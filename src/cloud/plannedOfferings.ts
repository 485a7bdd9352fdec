/**
 * The planned offerings of a NodeClaim, best first, as an annotation of the claim: `type/zone/capacity-type`, separated
 * by commas. The provider buys the first available one, so that the plan is carried out.
 */
import { Annotations } from '../api/labels.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';

export interface PlannedOffering {
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: string;
}

/** After these the provider goes by price, which approximates the plan's order. */
const MAX_PLANNED = 12;

export function formatPlannedOfferings(offerings: readonly PlannedOffering[]): string {
  return offerings.slice(0, MAX_PLANNED).map(keyOf).join(',');
}

/** The first planned offering of the claim. */
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

/** Index of an offering in the claim's plan; unplanned offerings come last. */
export function plannedRanks({ metadata }: NodeClaim): (offering: PlannedOffering) => number {
  const text = metadata.annotations?.[Annotations.plannedOfferings] ?? '';
  const ranks = new Map<string, number>();
  for (const key of text.split(',').slice(0, MAX_PLANNED)) if (!ranks.has(key)) ranks.set(key, ranks.size);
  return (offering) => ranks.get(keyOf(offering)) ?? MAX_PLANNED;
}

function keyOf({ instanceType, zone, capacityType }: PlannedOffering): string {
  return `${instanceType}/${zone}/${capacityType}`;
}
