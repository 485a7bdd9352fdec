/**
 * Quota. In: the machines that exist, and the limits of the subscription. Out: the list of usages, and the refusal of a
 * machine that would exceed one, in Azure's words, which provisioners read.
 */
import { ArmError } from './armError.ts';
import { listed, type ArmContext } from './armContext.ts';
import { textAt } from './jsonPath.ts';
import type { Route } from './router.ts';

const VIRTUAL_MACHINES = 'Microsoft.Compute/virtualMachines';
const REGIONAL = 'cores';
const SPOT = 'lowPriorityCores';
/** What a subscription that asked for more typically has. */
const DEFAULT_LIMITS: Readonly<Record<string, number>> = { [REGIONAL]: 100_000, [SPOT]: 100_000 };
const DEFAULT_FAMILY_LIMIT = 10_000;
const DISPLAY_NAMES: Readonly<Record<string, string>> = { [REGIONAL]: 'Total Regional', [SPOT]: 'LowPriorityCores' };

/** vCPUs by counter: a family's name, `cores` for the region, `lowPriorityCores` for spot. */
export type QuotaLimits = Readonly<Record<string, number>>;

export class Usages {
  private readonly context: ArmContext;
  private readonly initial: QuotaLimits;
  private limits: QuotaLimits;

  constructor(context: ArmContext, limits: QuotaLimits = {}) {
    this.context = context;
    this.initial = limits;
    this.limits = limits;
  }

  /** Changes one limit; undefined brings back what it was at first. */
  setLimit(counter: string, limit: number | undefined): void {
    const { [counter]: _old, ...others } = this.limits;
    const next = limit ?? this.initial[counter];
    this.limits = next === undefined ? others : { ...others, [counter]: next };
  }

  /** Throws when the machine in `body` would exceed a limit. Spot machines have a counter of their own. */
  check(body: unknown): void {
    const size = this.context.catalogue.find(textAt(body, 'properties', 'hardwareProfile', 'vmSize') ?? '');
    if (size === undefined) return;
    const counters = this.isSpot(body) ? [SPOT] : [size.sku.family, REGIONAL];
    const used = this.used();
    for (const counter of counters) {
      const current = used.get(counter) ?? 0;
      const limit = this.limitOf(counter);
      if (current + size.vCPUs <= limit) continue;
      const name = counter === SPOT ? SPOT : `${DISPLAY_NAMES[counter] ?? counter} Cores`;
      throw new ArmError(
        409,
        'OperationNotAllowed',
        `Operation could not be completed as it results in exceeding approved ${name} quota. Additional details - Deployment Model: Resource Manager, Location: ${this.context.location}, Current Limit: ${limit}, Current Usage: ${current}, Additional Required: ${size.vCPUs}, (Minimum) New Limit Required: ${current + size.vCPUs}.`,
      );
    }
  }

  routes(): readonly Route[] {
    return [
      {
        name: 'usage.list',
        method: 'GET',
        path: '/subscriptions/{subscription}/providers/Microsoft.Compute/locations/{location}/usages',
        handle: () => {
          const used = this.used();
          const families = new Set(this.context.catalogue.all().map(({ sku }) => sku.family));
          return listed(
            [REGIONAL, SPOT, ...[...families].toSorted()].map((counter) => ({
              unit: 'Count',
              currentValue: used.get(counter) ?? 0,
              limit: this.limitOf(counter),
              name: { value: counter, localizedValue: `${DISPLAY_NAMES[counter] ?? counter} vCPUs` },
            })),
          );
        },
      },
    ];
  }

  private limitOf(counter: string): number {
    return this.limits[counter] ?? DEFAULT_LIMITS[counter] ?? DEFAULT_FAMILY_LIMIT;
  }

  private used(): ReadonlyMap<string, number> {
    const used = new Map<string, number>();
    for (const machine of this.context.store.list(VIRTUAL_MACHINES)) {
      const size = this.context.catalogue.find(textAt(machine.properties, 'hardwareProfile', 'vmSize') ?? '');
      if (size === undefined) continue;
      for (const counter of this.isSpot(machine) ? [SPOT] : [size.sku.family, REGIONAL]) {
        used.set(counter, (used.get(counter) ?? 0) + size.vCPUs);
      }
    }
    return used;
  }

  private isSpot(machine: unknown): boolean {
    return textAt(machine, 'properties', 'priority') === 'Spot';
  }
}
