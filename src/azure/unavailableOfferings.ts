/**
 * Offerings that recently failed in Azure, each with an end time, and a number that changes whenever results may
 * change.
 */
import type { Clock } from '../clock/clock.ts';
import type { CapacityType } from '../catalogue/offerings.ts';
import type { Sku } from '../catalogue/resourceSku.ts';

interface FamilyBlock {
  /** Sizes of the family with at least this many vCPUs are unavailable. */
  readonly cpus: number;
  readonly until: number;
}

/** An offering that is unavailable until a time in milliseconds since 1970. */
interface UnavailableEntry {
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: string;
  readonly until: number;
}

/** More than all sizes in all zones of a region; beyond it the entry that ends first is dropped. */
const MAX_ENTRIES = 20_000;
const ALL_SPOT = 'spot::';

export class UnavailableOfferings {
  private readonly clock: Clock;
  private readonly offerings = new Map<string, number>();
  private readonly families = new Map<string, FamilyBlock>();
  private sequenceNumber = 0;
  private nextExpiry = Number.POSITIVE_INFINITY;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  get sequence(): number {
    this.sweep();
    return this.sequenceNumber;
  }

  /** `zone` as in the zone label; `0` for instances without a zone. */
  isUnavailable(sku: Sku, zone: string, capacityType: CapacityType): boolean {
    this.sweep();
    if (capacityType === 'spot' && this.offerings.has(ALL_SPOT)) return true;
    if (this.offerings.has(offeringKey(sku.name, zone, capacityType))) return true;
    const family = this.families.get(familyKey(sku.family, zone, capacityType));
    return sku.family !== '' && family !== undefined && sku.cpus >= family.cpus;
  }

  /** Current marks by size (all spot: an empty size), those that end first come first. */
  entries(): readonly UnavailableEntry[] {
    this.sweep();
    return [...this.offerings]
      .map(([key, until]) => {
        const [capacityType = '', instanceType = '', zone = ''] = key.split(':');
        return { instanceType, zone, capacityType, until };
      })
      .sort((left, right) => left.until - right.until);
  }

  /** If a size is unavailable, larger sizes of its family probably are too. */
  mark(sku: Sku, zone: string, capacityType: CapacityType, milliseconds: number): void {
    // An expired block must not lower the new one.
    this.sweep();
    const until = this.clock.now() + milliseconds;
    this.set(offeringKey(sku.name, zone, capacityType), until);
    if (sku.family !== '') {
      const key = familyKey(sku.family, zone, capacityType);
      const cpus = Math.min(sku.cpus, this.families.get(key)?.cpus ?? Number.POSITIVE_INFINITY);
      this.families.set(key, { cpus, until });
      this.nextExpiry = Math.min(this.nextExpiry, until);
    }
    this.sequenceNumber += 1;
  }

  markAllSpot(milliseconds: number): void {
    this.set(ALL_SPOT, this.clock.now() + milliseconds);
    this.sequenceNumber += 1;
  }

  private set(key: string, until: number): void {
    if (this.offerings.size >= MAX_ENTRIES && !this.offerings.has(key)) this.dropSoonest();
    this.offerings.set(key, until);
    this.nextExpiry = Math.min(this.nextExpiry, until);
  }

  private dropSoonest(): void {
    let soonest: string | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const [key, until] of this.offerings) {
      if (until < least) [soonest, least] = [key, until];
    }
    if (soonest !== undefined) this.offerings.delete(soonest);
  }

  private sweep(): void {
    const now = this.clock.now();
    if (now < this.nextExpiry) return;
    this.nextExpiry = Number.POSITIVE_INFINITY;
    for (const [key, until] of this.offerings) {
      if (until <= now) this.offerings.delete(key);
      else this.nextExpiry = Math.min(this.nextExpiry, until);
    }
    for (const [key, { until }] of this.families) {
      if (until <= now) this.families.delete(key);
      else this.nextExpiry = Math.min(this.nextExpiry, until);
    }
    this.sequenceNumber += 1;
  }
}

function offeringKey(size: string, zone: string, capacityType: CapacityType): string {
  return `${capacityType}:${size}:${zone}`;
}

function familyKey(family: string, zone: string, capacityType: CapacityType): string {
  return `skufamily:${family}:${zone}:${capacityType}`.toLowerCase();
}
