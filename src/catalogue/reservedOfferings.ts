/** Offerings from capacity reservations: already paid for, and limited. */
import { Labels } from '../api/labels.ts';
import type { Offering } from '../cloud/instanceType.ts';
import { Requirement } from '../constraints/requirement.ts';
import { Requirements } from '../constraints/requirements.ts';
import { placementScopeOf, zoneLabel } from './offerings.ts';
import type { Sku } from './resourceSku.ts';

export interface Reservation {
  /** Resource id. */
  readonly id: string;
  /** Resource id of its group, which VMs refer to. */
  readonly group: string;
  readonly size: string;
  /** `1`, `2`, `3`; `0` without a zone. */
  readonly zone: string;
  /** Number of instances left. */
  readonly left: number;
}

/**
 * Reserved capacity is paid for in any case, so using it costs almost nothing; larger sizes still cost more than
 * smaller ones.
 */
const PRICE_SHARE = 1e-7;

export function reservedOfferings(
  sku: Sku,
  location: string,
  onDemandPrice: number,
  reservations: readonly Reservation[],
): readonly Offering[] {
  return reservations
    .filter(({ zone }) => zone === '0' || sku.zones.includes(zone))
    .map(({ id, zone, left }) => {
      const label = zoneLabel(location, zone);
      const ultra = sku.ultraSsdZones.has(zone) ? ['true', 'false'] : ['false'];
      return {
        zone: label,
        capacityType: 'reserved' as const,
        price: onDemandPrice * PRICE_SHARE,
        available: left > 0,
        reservationCapacity: left,
        reservationId: id,
        requirements: Requirements.of(
          Requirement.single(Labels.capacityType, 'reserved'),
          Requirement.single(Labels.aksScaleSetPriority, 'regular'),
          Requirement.single(Labels.aksPriority, 'regular'),
          Requirement.single(Labels.zone, label),
          Requirement.single(Labels.placementScope, placementScopeOf(label)),
          Requirement.of(Labels.skuUltraSsd, 'In', ultra),
        ),
      };
    });
}
