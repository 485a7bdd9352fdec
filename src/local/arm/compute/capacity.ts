/**
 * How many machines Azure has room for. In: limits in vCPUs for sizes, families, zones and priorities. Out: whether a
 * machine can be placed, in Azure's words when it cannot, and which spot machines must go when room shrinks.
 */
import type { ArmContext } from '../armContext.ts';
import { ArmError } from '../armError.ts';
import { listAt, textAt } from '../jsonPath.ts';
import type { ArmResource } from '../resourceStore.ts';

const VIRTUAL_MACHINES = 'Microsoft.Compute/virtualMachines';

/** Room for machines of which everything that is given here is true. */
export interface CapacityLimit {
  readonly size?: string;
  readonly family?: string;
  /** `1`, `2`, `3`; `none` for machines in no zone. */
  readonly zone?: string;
  readonly priority?: 'Regular' | 'Spot';
  readonly vCPUs: number;
}

interface Placed {
  readonly size: string;
  readonly family: string;
  readonly zone: string;
  readonly priority: 'Regular' | 'Spot';
  readonly vCPUs: number;
}

export class Capacity {
  private readonly context: ArmContext;
  private readonly limits = new Set<CapacityLimit>();

  constructor(context: ArmContext) {
    this.context = context;
  }

  /** Returns how to take the limit away again. */
  add(limit: CapacityLimit): () => void {
    this.limits.add(limit);
    return () => this.limits.delete(limit);
  }

  /** Why the machine in `body` cannot be placed; undefined when there is room. It may be in the store already. */
  refusal(body: unknown, id: string): ArmError | undefined {
    const wanted = this.placedOf(body);
    if (wanted === undefined) return undefined;
    const full = [...this.limits].some(
      (limit) => covers(limit, wanted) && this.used(limit, id) + wanted.vCPUs > limit.vCPUs,
    );
    return full ? allocationError(wanted) : undefined;
  }

  /** Spot machines beyond a limit, those that came last first. */
  excess(limit: CapacityLimit): readonly ArmResource[] {
    let used = this.used(limit);
    const going: ArmResource[] = [];
    const spot = this.machines().filter((machine) => {
      const placed = this.placedOf(machine);
      return placed?.priority === 'Spot' && covers(limit, placed);
    });
    const newest = spot.toSorted((left, right) => createdAt(right) - createdAt(left));
    for (const machine of newest) {
      if (used <= limit.vCPUs) break;
      used -= this.placedOf(machine)?.vCPUs ?? 0;
      going.push(machine);
    }
    return going;
  }

  private used(limit: CapacityLimit, except?: string): number {
    let used = 0;
    for (const machine of this.machines()) {
      if (machine.id.toLowerCase() === except?.toLowerCase()) continue;
      const placed = this.placedOf(machine);
      if (placed !== undefined && covers(limit, placed)) used += placed.vCPUs;
    }
    return used;
  }

  /** Machines that are on a host: neither failed nor deallocated. */
  private machines(): readonly ArmResource[] {
    return this.context.store
      .list(VIRTUAL_MACHINES)
      .filter(
        ({ properties, hidden }) =>
          properties['provisioningState'] !== 'Failed' && hidden?.['powerState'] !== 'deallocated',
      );
  }

  private placedOf(machine: unknown): Placed | undefined {
    const size = this.context.catalogue.find(textAt(machine, 'properties', 'hardwareProfile', 'vmSize') ?? '');
    if (size === undefined) return undefined;
    return {
      size: size.sku.name.toLowerCase(),
      family: size.sku.family.toLowerCase(),
      zone: listAt(machine, 'zones').map(String)[0] ?? 'none',
      priority: textAt(machine, 'properties', 'priority') === 'Spot' ? 'Spot' : 'Regular',
      vCPUs: size.vCPUs,
    };
  }
}

function covers(limit: CapacityLimit, placed: Placed): boolean {
  return (
    (limit.size === undefined || limit.size.toLowerCase() === placed.size) &&
    (limit.family === undefined || limit.family.toLowerCase() === placed.family) &&
    (limit.zone === undefined || limit.zone === placed.zone) &&
    (limit.priority === undefined || limit.priority === placed.priority)
  );
}

function createdAt({ hidden }: ArmResource): number {
  const found = hidden?.['createdAt'];
  return typeof found === 'number' ? found : 0;
}

const GUIDANCE = 'Read more about improving likelihood of allocation success at http://aka.ms/allocation-guidance';

function allocationError({ zone, priority, size }: Placed): ArmError {
  const zonal = zone !== 'none';
  if (priority === 'Spot') {
    const constraints = [
      ...(zonal ? ['Availability Zone'] : []),
      'Low Priority VMs',
      'Preemptible VMs (VM might be preempted by another VM with a higher priority)',
      'VM Size',
    ];
    return new ArmError(
      409,
      zonal ? 'OverconstrainedZonalAllocationRequest' : 'OverconstrainedAllocationRequest',
      `Allocation failed. VM(s) with the following constraints cannot be allocated, because the condition is too restrictive. Please remove some constraints and try again. Constraints applied are:\n${constraints.map((each) => `  - ${each}\n`).join('')}`,
    );
  }
  const where = zonal ? `size ${size} in zone ${zone}` : 'size in this region';
  return new ArmError(
    409,
    zonal ? 'ZonalAllocationFailed' : 'AllocationFailed',
    `Allocation failed. We do not have sufficient capacity for the requested VM ${where}. ${GUIDANCE}`,
  );
}
