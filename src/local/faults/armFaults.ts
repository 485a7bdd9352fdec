/** Faults of Azure, with its codes and messages: refused requests, operations that fail or end late, lowered quotas. */
import { ArmError } from '../arm/armError.ts';
import { refusal } from '../arm/refusal.ts';
import type { Fault, ArmOperation, FaultPlan } from '../arm/faultPlan.ts';
import { listAt, textAt } from '../arm/jsonPath.ts';
import type { LocalArm } from '../arm/localArm.ts';
import type { FaultKind, FaultOrder } from './faultKinds.ts';
import { matchesTexts, type ActiveFault, type Faults } from './faults.ts';

const CREATE_VM = 'virtualMachines.createOrUpdate';
const DELETE_INTERFACE = 'networkInterfaces.delete';
const RESERVED_FOR = 180_000;
const NO_REQUESTS_LEFT = 'Microsoft.Compute/PutVM3Min;0,Microsoft.Compute/PutVM30Min;120';

interface Wanted {
  readonly size: string;
  readonly family: string;
  readonly zone: string | undefined;
  readonly priority: string;
  readonly name: string;
}

type FamilyOf = (size: string) => string | undefined;

export class ArmFaults implements FaultPlan {
  private readonly faults: Faults;
  private readonly location: string;
  private readonly familyOf: FamilyOf;
  /** When the reservations of interfaces for failed instances end, by the interface's name in lower case. */
  private readonly reserved = new Map<string, number>();

  constructor(faults: Faults, location: string, familyOf: FamilyOf) {
    this.faults = faults;
    this.location = location;
    this.familyOf = familyOf;
  }

  before(operation: ArmOperation): Fault | undefined {
    const { name, resourceName = '' } = operation;
    const throttled = this.faults.strikes('throttle', name, (order) => concerns(order, name));
    if (throttled) return { kind: 'refuse', error: throttledError(throttled.order) };
    const isCreate = name === CREATE_VM;
    const struck = isCreate ? this.createFault(operation) : this.reservation(operation);
    const fault = struck ?? (isLongRunning(name) ? this.lateFault(name, resourceName) : undefined);
    if (isCreate && fault && fault.kind !== 'finishLate') this.reserve(operation);
    return fault;
  }

  private lateFault(name: string, resourceName: string): Fault | undefined {
    const strikes = (kind: FaultKind): ActiveFault | undefined =>
      this.faults.strikes(kind, `${name} ${resourceName}`, (order) => concerns(order, name, CREATE_VM));
    if (strikes('lro-fail')) {
      const message = 'An unexpected error occurred while processing the request.';
      return { kind: 'failLate', error: new ArmError(500, 'InternalExecutionError', message) };
    }
    const late = strikes('lro-late');
    return late && { kind: 'finishLate', milliseconds: late.order.numbers['by'] ?? 60_000 };
  }

  /** Lowers quotas while quota faults last. Returns a function that stops this. */
  follow(arm: LocalArm): () => void {
    const counterOf = ({ kind, texts }: FaultOrder): string | undefined => {
      if (kind === 'regional-quota') return 'cores';
      if (kind === 'spot-quota') return 'lowPriorityCores';
      return kind === 'family-quota' ? texts['family'] : undefined;
    };
    const apply = ({ order }: ActiveFault, on: boolean): void => {
      const counter = counterOf(order);
      const { limit } = order.numbers;
      if (counter !== undefined && limit !== undefined) arm.setQuota(counter, on ? limit : undefined);
    };
    return this.faults.subscribe(({ type, fault }) => {
      if (type !== 'struck') apply(fault, type === 'began');
    });
  }

  private createFault(operation: ArmOperation): Fault | undefined {
    const wanted = this.wantedOf(operation);
    const { location } = this;
    const matches = (order: FaultOrder): boolean =>
      order.numbers['limit'] === undefined && matchesTexts(order, { ...wanted });
    const strikes = (kind: FaultKind): boolean =>
      this.faults.strikes(kind, `${wanted.name} ${wanted.size}`, matches) !== undefined;
    const isSpot = wanted.priority === 'spot';
    const quota = (counter: string): Fault => ({
      kind: 'refuse',
      error: refusal('OperationNotAllowed.quota', {
        counter,
        location,
        limit: 0,
        current: 0,
        required: 1,
        total: 1,
      }),
    });
    if (!isSpot && strikes('family-quota')) return quota(`${wanted.family} Cores`);
    if (!isSpot && strikes('regional-quota')) return quota('Total Regional Cores');
    if (isSpot && strikes('spot-quota')) return quota('lowPriorityCores');
    if (strikes('sku-restriction')) {
      const where = wanted.zone === undefined ? '' : ` zone '${wanted.zone}'`;
      return { kind: 'refuse', error: refusal('SkuNotAvailable', { name: wanted.size, location, where }) };
    }
    const noCapacity = (code: string, where: string): Fault => {
      const message = `Allocation failed. We do not have sufficient capacity for the requested VM size in this ${where}. Read more about improving likelihood of allocation success at http://aka.ms/allocation-guidance`;
      return { kind: 'failLate', error: new ArmError(409, code, message) };
    };
    if (wanted.zone !== undefined && strikes('zonal-allocation')) return noCapacity('ZonalAllocationFailed', 'zone');
    return strikes('allocation') ? noCapacity('AllocationFailed', 'region') : undefined;
  }

  private wantedOf({ body, resourceName = '' }: ArmOperation): Wanted {
    const size = textAt(body, 'properties', 'hardwareProfile', 'vmSize') ?? '';
    const [zone] = listAt(body, 'zones').map(String);
    return {
      name: resourceName,
      size,
      family: this.familyOf(size) ?? '',
      zone,
      priority: textAt(body, 'properties', 'priority') === 'Spot' ? 'spot' : 'regular',
    };
  }

  /** Reserves the interfaces of a failed instance when a `nic-reserved` fault strikes. */
  private reserve({ body, resourceName = '' }: ArmOperation): void {
    for (const reference of listAt(body, 'properties', 'networkProfile', 'networkInterfaces')) {
      const name = (textAt(reference, 'id') ?? '').split('/').at(-1)?.toLowerCase() ?? '';
      const fault = this.faults.strikes('nic-reserved', `${resourceName} ${name}`);
      if (fault) this.reserved.set(name, this.faults.clock.now() + (fault.order.numbers['hold'] ?? RESERVED_FOR));
    }
  }

  private reservation({ name: operation, resourceName = '' }: ArmOperation): Fault | undefined {
    const name = resourceName.toLowerCase();
    const until = operation === DELETE_INTERFACE ? this.reserved.get(name) : undefined;
    if (until === undefined) return undefined;
    if (until <= this.faults.clock.now()) {
      this.reserved.delete(name);
      return undefined;
    }
    const message = `Nic(s) in request is reserved for another Virtual Machine for 180 seconds. Please provide another nic(s) or retry after 180 seconds. Reserved NIC: ${resourceName}`;
    return { kind: 'refuse', error: new ArmError(400, 'NicReservedForAnotherVm', message) };
  }
}

const isLongRunning = (name: string): boolean => /\.(createOrUpdate|delete)$/.test(name);

/** Whether an order concerns an operation; without `operation=` it concerns the usual one. */
function concerns({ texts }: FaultOrder, name: string, usual?: string): boolean {
  const wanted = texts['operation'] ?? usual;
  return wanted === undefined || name.toLowerCase() === wanted.toLowerCase();
}

function throttledError({ numbers }: FaultOrder): ArmError {
  const seconds = Math.max(1, Math.round((numbers['after'] ?? 30_000) / 1000));
  const headers = { 'retry-after': String(seconds), 'x-ms-ratelimit-remaining-resource': NO_REQUESTS_LEFT };
  return refusal('TooManyRequests.throttled', { seconds }, { headers });
}
