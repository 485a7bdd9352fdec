/** Quota: the list of usages, and the refusal of VMs that would exceed a limit. */
import { listed, type ArmContext } from '../armContext.ts';
import { refusal } from '../refusal.ts';
import { textAt } from '../jsonPath.ts';
import type { ArmResource } from '../resourceStore.ts';
import { route, type Route } from '../server/router.ts';
import { checkRegion } from './skus.ts';

const VIRTUAL_MACHINES = 'microsoft.compute/virtualmachines';
const DISKS = 'microsoft.compute/disks';
const REGIONAL = 'cores';
const SPOT = 'lowPriorityCores';
const MACHINES = 'virtualMachines';
const PREMIUM_DISKS = 'PremiumDiskCount';
/** Typical limits of a subscription whose quotas were raised, and the names of the counters in the list of usages. */
const COUNTERS: Readonly<Record<string, readonly [limit: number, name: string]>> = {
  availabilitySets: [2500, 'Availability Sets'],
  [REGIONAL]: [100_000, 'Total Regional vCPUs'],
  [MACHINES]: [25_000, 'Virtual Machines'],
  virtualMachineScaleSets: [2500, 'Virtual Machine Scale Sets'],
  [SPOT]: [100_000, 'Total Regional Low-priority vCPUs'],
  StandardDiskCount: [50_000, 'Standard Storage Managed Disks'],
  [PREMIUM_DISKS]: [50_000, 'Premium Storage Managed Disks'],
};
const DEFAULT_FAMILY_LIMIT = 10_000;
/** Names, in the refusal, of counters that are not those of a family. */
const REFUSED_NAMES: Readonly<Record<string, string>> = {
  [REGIONAL]: 'Total Regional Cores',
  [SPOT]: 'LowPriorityCores',
  [MACHINES]: 'Total Regional Virtual Machines',
};

/** Limits in vCPUs by counter: a family's name, `cores` for the region, `lowPriorityCores` for spot. */
export type QuotaLimits = Readonly<Record<string, number>>;

export class Usages {
  private readonly context: ArmContext;
  private readonly initial: QuotaLimits;
  private readonly used = new Map<string, number>();
  private limits: QuotaLimits;

  constructor(context: ArmContext, limits: QuotaLimits = {}) {
    this.context = context;
    this.initial = limits;
    this.limits = limits;
    context.store.onChange((before, after) => {
      this.count(before, -1);
      this.count(after, 1);
    });
  }

  /** Sets one limit; undefined restores its initial value. */
  setLimit(counter: string, limit: number | undefined): void {
    const { [counter]: _old, ...others } = this.limits;
    const next = limit ?? this.initial[counter];
    this.limits = next === undefined ? others : { ...others, [counter]: next };
  }

  /** Throws when the new VM in `body`, or the change of `existing` to it, would exceed a limit. */
  check(body: unknown, existing?: ArmResource): void {
    const before = existing === undefined ? new Map<string, number>() : this.costOf(existing);
    for (const [counter, amount] of this.costOf(body)) {
      const required = amount - (before.get(counter) ?? 0);
      const current = this.used.get(counter) ?? 0;
      const limit = this.limitOf(counter);
      if (required <= 0 || current + required <= limit) continue;
      throw refusal('OperationNotAllowed.quota', {
        counter: REFUSED_NAMES[counter] ?? `${counter} Cores`,
        location: this.context.location,
        limit,
        current,
        required,
        total: current + required,
      });
    }
  }

  routes(): readonly Route[] {
    return [
      route(
        'usage.list',
        'GET',
        '/subscriptions/{subscription}/providers/Microsoft.Compute/locations/{location}/usages',
        ({ parameters: { location = '' } }) => {
          checkRegion(location, 'locations/usages');
          const sizes = this.context.catalogueAt(location).all();
          const families = new Set(sizes.map(({ sku }) => sku.family));
          return listed(
            [...Object.keys(COUNTERS), ...[...families].toSorted()].map((counter) => ({
              unit: 'Count',
              currentValue: this.used.get(counter) ?? 0,
              limit: this.limitOf(counter),
              name: { value: counter, localizedValue: COUNTERS[counter]?.[1] ?? familyName(counter) },
            })),
          );
        },
      ),
    ];
  }

  private limitOf(counter: string): number {
    return this.limits[counter] ?? COUNTERS[counter]?.[0] ?? DEFAULT_FAMILY_LIMIT;
  }

  private count(resource: ArmResource | undefined, sign: 1 | -1): void {
    const type = resource?.type.toLowerCase();
    if (type === DISKS) this.add(PREMIUM_DISKS, sign);
    if (type !== VIRTUAL_MACHINES) return;
    for (const [counter, amount] of this.costOf(resource)) this.add(counter, sign * amount);
  }

  private add(counter: string, amount: number): void {
    this.used.set(counter, (this.used.get(counter) ?? 0) + amount);
  }

  /** Returns what a VM adds to each counter. Spot VMs count in a counter of their own only. */
  private costOf(machine: unknown): ReadonlyMap<string, number> {
    const catalogue = this.context.catalogueAt(textAt(machine, 'location'));
    const size = catalogue.find(textAt(machine, 'properties', 'hardwareProfile', 'vmSize') ?? '');
    const cores = size?.vCPUs ?? 0;
    const spot = textAt(machine, 'properties', 'priority') === 'Spot';
    const counters = spot ? [SPOT] : [size?.sku.family ?? '', REGIONAL];
    return new Map([...counters.map((counter) => [counter, cores] as const), [MACHINES, 1]]);
  }
}

/** Returns `Standard DSv5 Family vCPUs` for `standardDSv5Family`. */
function familyName(family: string): string {
  const [, name = family] = /^standard(.+?)Family$/i.exec(family) ?? [];
  return `Standard ${name} Family vCPUs`;
}
