/**
 * Capacity reservations: paid instances reserved for us, by size and zone, with the remaining number of each. Launches
 * since the last figures are subtracted.
 */
import type { ComputeManagementClient } from '@azure/arm-compute';
import { REGIONAL_ZONE } from '../catalogue/offerings.ts';
import type { Reservation } from '../catalogue/reservedOfferings.ts';
import type { Clock } from '../clock/clock.ts';
import { noMetrics, type Gauge, type MetricsRegistry } from '../kube/metrics.ts';

export interface ReservationsOptions {
  readonly compute: ComputeManagementClient;
  readonly clock: Clock;
  /** Resource ids of capacity reservation groups. */
  readonly groups: readonly string[];
  readonly metrics?: MetricsRegistry;
}

interface Counted extends Omit<Reservation, 'left'> {
  readonly capacity: number;
  readonly allocated: number;
}

const GROUP = /\/resourceGroups\/([^/]+)\/providers\/Microsoft\.Compute\/capacityReservationGroups\/([^/]+)$/i;

export class Reservations {
  private readonly options: ReservationsOptions;
  private readonly gauge: Gauge;
  private counted: readonly Counted[] = [];
  private fingerprint = '';
  /** By reservation: start times of launches since the last figures. */
  private readonly launched = new Map<string, number[]>();
  private readonly exhausted = new Set<string>();
  private generationNumber = 0;

  constructor(options: ReservationsOptions) {
    this.options = options;
    this.gauge = (options.metrics ?? noMetrics).gauge({
      name: 'nodewright_azure_reservation_remaining',
      help: 'Instances that are left in a capacity reservation.',
      labels: ['reservation', 'size', 'zone'],
    });
  }

  /** Increases whenever the result of `of` may change. */
  get generation(): number {
    return this.generationNumber;
  }

  of(size: string): readonly Reservation[] {
    return this.counted
      .filter((reservation) => reservation.size === size)
      .map(({ capacity: _capacity, allocated: _allocated, ...reservation }) => ({
        ...reservation,
        left: this.leftOf(reservation.id),
      }));
  }

  find(id: string): Reservation | undefined {
    const found = this.counted.find((reservation) => reservation.id === id);
    return found && { ...found, left: this.leftOf(id) };
  }

  /** Counts a launch from now on; call the returned function if it fails. */
  hold(id: string): () => void {
    const begun = this.options.clock.now();
    this.launched.set(id, [...(this.launched.get(id) ?? []), begun]);
    this.changed();
    return () => {
      const rest = [...(this.launched.get(id) ?? [])];
      const at = rest.indexOf(begun);
      if (at < 0) return;
      rest.splice(at, 1);
      this.launched.set(id, rest);
      this.changed();
    };
  }

  /**
   * Azure could not deliver from the reservation: counts as empty, whatever the figures say, until they are read again.
   */
  exhaust(id: string): void {
    this.exhausted.add(id);
    this.changed();
  }

  async refresh(signal?: AbortSignal): Promise<void> {
    const began = this.options.clock.now();
    const counted = (await Promise.all(this.options.groups.map((group) => this.read(group, signal)))).flat();
    this.counted = counted;
    this.exhausted.clear();
    for (const [id, times] of this.launched) {
      const rest = times.filter((time) => time >= began);
      if (rest.length === 0) this.launched.delete(id);
      else this.launched.set(id, rest);
    }
    const fingerprint = JSON.stringify(counted.map(({ id }) => [id, this.leftOf(id)]));
    if (fingerprint !== this.fingerprint) this.changed();
    this.fingerprint = fingerprint;
  }

  private async read(group: string, signal: AbortSignal | undefined): Promise<readonly Counted[]> {
    const [, resourceGroup = '', name = ''] = GROUP.exec(group) ?? [];
    const { capacityReservationGroups, capacityReservations } = this.options.compute;
    const abort = signal === undefined ? {} : { abortSignal: signal };
    const { instanceView } = await capacityReservationGroups.get(resourceGroup, name, {
      ...abort,
      expand: 'instanceView',
    });
    const allocated = new Map(
      instanceView?.capacityReservations?.map((each) => [
        each.name?.toLowerCase(),
        each.utilizationInfo?.virtualMachinesAllocated?.length ?? 0,
      ]),
    );
    const found: Counted[] = [];
    for await (const { id, name: own, sku, zones } of capacityReservations.listByCapacityReservationGroup(
      resourceGroup,
      name,
      abort,
    )) {
      if (id === undefined || sku?.name === undefined) continue;
      found.push({
        id,
        group,
        size: sku.name,
        zone: zones?.[0] ?? REGIONAL_ZONE,
        capacity: sku.capacity ?? 0,
        allocated: allocated.get(own?.toLowerCase()) ?? 0,
      });
    }
    return found;
  }

  private leftOf(id: string): number {
    const found = this.counted.find((reservation) => reservation.id === id);
    if (found === undefined || this.exhausted.has(id)) return 0;
    return Math.max(0, found.capacity - found.allocated - (this.launched.get(id)?.length ?? 0));
  }

  private changed(): void {
    this.generationNumber += 1;
    for (const { id, size, zone } of this.counted) this.gauge.set({ reservation: id, size, zone }, this.leftOf(id));
  }
}
