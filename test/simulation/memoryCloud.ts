import { Kinds } from '../../src/api/kinds.ts';
import type { NodeClaim } from '../../src/api/kinds/nodeClaim.ts';
import { Labels, Taints } from '../../src/api/labels.ts';
import type { Clock } from '../../src/clock/clock.ts';
import type { CloudProvider, Instance, RepairPolicy } from '../../src/cloud/cloudProvider.ts';
import { InstanceNotFoundError, InsufficientCapacityError } from '../../src/cloud/errors.ts';
import type { InstanceType, Offering } from '../../src/cloud/instanceType.ts';
import { Requirement } from '../../src/constraints/requirement.ts';
import { Requirements } from '../../src/constraints/requirements.ts';
import { WELL_KNOWN_LABELS } from '../../src/api/labels.ts';
import type { Machine } from '../../src/local/kubelet/machine.ts';
import { fits, formatResources, parseResources } from '../../src/units/resources.ts';

/** Where instances show up as computers; the kubelets of a local cluster. */
interface MachinePower {
  powerOn(machine: Machine): void;
  powerOff(name: string): void;
}

export interface MemoryCloudOptions {
  readonly clock: Clock;
  readonly power: MachinePower;
  readonly instanceTypes?: readonly InstanceType[];
}

interface StoredInstance extends Instance {
  readonly machine: Machine;
  deleting?: boolean;
}

/**
 * Test support: the smallest cloud that keeps the contract of the cloud port. It outlives the engine, so that a test
 * can restart one and count what the other has. Failures and delays are set on its fields.
 */
export class MemoryCloud implements CloudProvider {
  readonly name = 'memory';
  readonly nodeClasses = [Kinds.KWOKNodeClass];
  repairPolicies: readonly RepairPolicy[] = [];
  /** Thrown by the next launches, first in first out. */
  readonly launchFailures: Error[] = [];
  /** Thrown by every launch while set. */
  launchOutage: Error | undefined;
  /** Milliseconds from a deletion until the instance is gone. */
  deletionTime = 0;
  /** Whether new instances get a kubelet at all. */
  joins = true;
  /** What is taken off a machine before its kubelet starts. */
  machineChange: (machine: Machine) => Machine = (machine) => machine;
  drift: string | undefined;
  types: readonly InstanceType[];
  /** How often each operation was called. */
  readonly calls = { create: 0, delete: 0, get: 0, list: 0 };
  private readonly options: MemoryCloudOptions;
  private readonly running = new Map<string, StoredInstance>();
  /** Every name that was ever launched: a second launch for one claim shows. */
  readonly launches: string[] = [];

  constructor(options: MemoryCloudOptions) {
    this.options = options;
    this.types = options.instanceTypes ?? DEFAULT_TYPES;
  }

  get instances(): readonly Instance[] {
    return [...this.running.values()];
  }

  async create(claim: NodeClaim): Promise<Instance> {
    this.calls.create++;
    await this.trip();
    const failure = this.launchFailures.shift() ?? this.launchOutage;
    if (failure) throw failure;
    const { name } = claim.metadata;
    const known = this.running.get(name);
    if (known) return known;
    const { type, offering } = this.choose(claim);
    const providerID = `memory://${name}`;
    const labels = instanceLabels(type, offering);
    const machine = this.machineChange({
      name: `node-${name}`,
      providerID,
      labels,
      taints: [Taints.unregistered],
      capacity: formatResources(type.capacity),
      allocatable: formatResources(type.allocatable),
      kubeletVersion: 'v1.36.3',
      osImage: 'Memory Linux',
    });
    const instance: StoredInstance = {
      providerID,
      claimName: name,
      imageID: 'memory-image',
      labels,
      annotations: {},
      capacity: formatResources(type.capacity),
      allocatable: formatResources(type.allocatable),
      createdAt: this.options.clock.now(),
      machine,
    };
    this.running.set(name, instance);
    this.launches.push(name);
    if (this.joins) this.options.power.powerOn(machine);
    return instance;
  }

  async delete(claim: NodeClaim): Promise<void> {
    this.calls.delete++;
    await this.trip();
    const { name } = claim.metadata;
    const instance = this.running.get(name);
    if (!instance) throw new InstanceNotFoundError(`no instance of ${name}`);
    if (instance.deleting) return;
    instance.deleting = true;
    if (this.deletionTime === 0) this.remove(name);
    else this.options.clock.after(this.deletionTime, () => this.remove(name));
  }

  async get(providerID: string): Promise<Instance> {
    this.calls.get++;
    await this.trip();
    const instance = this.instances.find((each) => each.providerID === providerID);
    if (!instance) throw new InstanceNotFoundError(`no instance ${providerID}`);
    return instance;
  }

  async list(): Promise<readonly Instance[]> {
    this.calls.list++;
    await this.trip();
    return this.instances;
  }

  async instanceTypes(): Promise<readonly InstanceType[]> {
    await this.trip();
    return this.types;
  }

  async driftReason(): Promise<string | undefined> {
    await this.trip();
    return this.drift;
  }

  /** The machine fails for good, without anybody having asked for it. */
  lose(claimName: string): void {
    this.remove(claimName);
  }

  /** An answer never comes in the same turn, as with any cloud. */
  private async trip(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
  }

  private remove(name: string): void {
    const instance = this.running.get(name);
    this.running.delete(name);
    if (instance) this.options.power.powerOff(instance.machine.name);
  }

  private choose(claim: NodeClaim): { readonly type: InstanceType; readonly offering: Offering } {
    const wanted = Requirements.fromItems(claim.spec.requirements);
    const requests = parseResources(claim.spec.resources?.requests);
    const candidates = this.types
      .filter(({ requirements, allocatable }) => requirements.intersects(wanted) && fits(requests, allocatable))
      .flatMap((type) => type.offerings.map((offering) => ({ type, offering })))
      .filter(({ offering }) => offering.available && offering.requirements.intersects(wanted))
      .sort((left, right) => left.offering.price - right.offering.price);
    const [best] = candidates;
    if (!best) throw new InsufficientCapacityError(`nothing that ${claim.metadata.name} allows is for sale`);
    return best;
  }
}

function instanceLabels(type: InstanceType, offering: Offering): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const { key } of type.requirements) {
    const values = type.requirements
      .get(key)
      .toItems()
      .flatMap((item) => item.values ?? []);
    const [only] = values;
    if (values.length === 1 && only !== undefined) labels[key] = only;
  }
  return { ...labels, [Labels.zone]: offering.zone, [Labels.capacityType]: offering.capacityType };
}

export function memoryInstanceType(
  name: string,
  cpu: number,
  price: number,
  options: { readonly zones?: readonly string[]; readonly available?: boolean } = {},
): InstanceType {
  const { zones = ['zone-1', 'zone-2'], available = true } = options;
  const inValues = (key: string, ...values: string[]): Requirement => Requirement.of(key, 'In', values);
  const described = new Map<string, string[]>([
    [Labels.instanceType, [name]],
    [Labels.arch, ['amd64']],
    [Labels.os, ['linux']],
    [Labels.zone, [...zones]],
    [Labels.capacityType, ['on-demand']],
  ]);
  const silent = [...WELL_KNOWN_LABELS].filter((key) => !described.has(key) && key !== Labels.nodePool);
  return {
    name,
    requirements: Requirements.of(
      ...[...described].map(([key, values]) => inValues(key, ...values)),
      ...silent.map((key) => Requirement.of(key, 'DoesNotExist', [])),
    ),
    offerings: zones.map((zone) => ({
      requirements: Requirements.of(inValues(Labels.zone, zone), inValues(Labels.capacityType, 'on-demand')),
      zone,
      capacityType: 'on-demand',
      price,
      available,
    })),
    capacity: parseResources({ cpu, memory: `${cpu * 4}Gi`, 'ephemeral-storage': '100Gi', pods: 110 }),
    allocatable: parseResources({
      cpu: `${cpu * 1000 - 100}m`,
      memory: `${cpu * 4 * 1024 - 512}Mi`,
      'ephemeral-storage': '90Gi',
      pods: 110,
    }),
  };
}

const DEFAULT_TYPES: readonly InstanceType[] = [
  memoryInstanceType('m2', 2, 0.1),
  memoryInstanceType('m4', 4, 0.19),
  memoryInstanceType('m8', 8, 0.37),
  memoryInstanceType('m16', 16, 0.73),
];
