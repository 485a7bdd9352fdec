/**
 * Virtual machines. In: PUT, GET, list, PATCH, DELETE, instance views and extensions. Out: machines that take time to
 * come and to go, take their interface and disk with them, and are announced to whoever plays the computer inside.
 */
import { ArmError } from './armError.ts';
import { accepted, changed, listed, timestamp, type ArmContext } from './armContext.ts';
import { listAt, objectAt, textAt, textsAt, type JsonObject } from './jsonPath.ts';
import type { NetworkInterfaces } from './networkInterfaces.ts';
import type { Operation } from './operations.ts';
import type { ArmResource } from './resourceStore.ts';
import type { ArmRequest, ArmResponse, Route } from './router.ts';
import type { Usages } from './usages.ts';
import { extensionsOf } from './virtualMachineExtensions.ts';
import { checkUnchanged, checkVirtualMachine } from './virtualMachineRules.ts';

const NAMESPACE = 'Microsoft.Compute';
export const VIRTUAL_MACHINES = 'Microsoft.Compute/virtualMachines';
const DISKS = 'Microsoft.Compute/disks';

/** A machine as the computer inside it is told. */
export interface LocalVirtualMachine {
  readonly id: string;
  /** Unlike the id, never the same for two machines. */
  readonly vmId: string;
  readonly name: string;
  readonly resourceGroup: string;
  readonly computerName: string;
  readonly location: string;
  /** `1`, `2`, `3`; absent for a machine that is in no zone. */
  readonly zone: string | undefined;
  readonly size: string;
  readonly vCPUs: number;
  readonly memoryGiB: number;
  readonly gpus: number;
  readonly osDiskSizeGB: number;
  readonly priority: 'Regular' | 'Spot';
  readonly imageId: string | undefined;
  /** Base64, as it was sent. */
  readonly customData: string | undefined;
  readonly privateIPAddress: string | undefined;
  readonly tags: Readonly<Record<string, string>>;
  readonly provisioningState: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

export interface VirtualMachineEvent {
  /** `created`: it runs. `deleted`: it is gone. */
  readonly type: 'created' | 'deleted';
  readonly vm: LocalVirtualMachine;
}

export class VirtualMachines {
  private readonly context: ArmContext;
  private readonly interfaces: NetworkInterfaces;
  private readonly usages: Usages;
  private readonly listeners = new Set<(event: VirtualMachineEvent) => void>();
  private readonly deletions = new Map<string, Operation>();

  constructor(context: ArmContext, interfaces: NetworkInterfaces, usages: Usages) {
    this.context = context;
    this.interfaces = interfaces;
    this.usages = usages;
  }

  /** Returns a function that ends the subscription. */
  onEvent(listener: (event: VirtualMachineEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  all(): readonly LocalVirtualMachine[] {
    return this.context.store.list(VIRTUAL_MACHINES).map((machine) => this.describe(machine));
  }

  /** Azure takes a spot machine back. False when there is none of that name. */
  preempt(name: string): boolean {
    const machine = this.context.store.list(VIRTUAL_MACHINES).find((each) => each.name === name);
    if (machine === undefined) return false;
    this.removed(machine.id);
    return true;
  }

  /** Goes on with what an earlier process had begun. */
  resume(): void {
    const { store, operations, durations } = this.context;
    for (const machine of store.list(VIRTUAL_MACHINES)) {
      const state = textAt(machine.properties, 'provisioningState');
      if (state === 'Creating') {
        operations.begin({ milliseconds: durations.virtualMachineCreate, finish: () => this.started(machine) });
      }
      if (state === 'Deleting') {
        const milliseconds = durations.virtualMachineDelete;
        const operation = operations.begin({ milliseconds, finish: () => this.removed(machine.id) });
        this.deletions.set(machine.id.toLowerCase(), operation);
      }
    }
  }

  routes(): readonly Route[] {
    const { store } = this.context;
    const provider = `providers/${NAMESPACE}`;
    const collection = `/subscriptions/{subscription}/resourceGroups/{group}/${provider}/virtualMachines`;
    const get = ({ parameters: { group = '', name = '' } }: ArmRequest): ArmResource =>
      store.get(group, VIRTUAL_MACHINES, name);
    return [
      {
        name: 'virtualMachines.listAll',
        method: 'GET',
        path: `/subscriptions/{subscription}/${provider}/virtualMachines`,
        handle: () => listed(store.list(VIRTUAL_MACHINES)),
      },
      {
        name: 'virtualMachines.list',
        method: 'GET',
        path: collection,
        handle: ({ parameters: { group = '' } }) => listed(store.list(VIRTUAL_MACHINES, group)),
      },
      {
        name: 'virtualMachines.get',
        method: 'GET',
        path: `${collection}/{name}`,
        handle: (request) => {
          const machine = get(request);
          const expand = request.query.get('$expand')?.toLowerCase() === 'instanceview';
          const properties = expand
            ? { ...machine.properties, instanceView: instanceViewOf(machine) }
            : machine.properties;
          return { status: 200, body: { ...machine, properties }, headers: { etag: machine.etag } };
        },
      },
      {
        name: 'virtualMachines.instanceView',
        method: 'GET',
        path: `${collection}/{name}/instanceView`,
        handle: (request) => ({ status: 200, body: instanceViewOf(get(request)) }),
      },
      {
        name: 'virtualMachines.createOrUpdate',
        method: 'PUT',
        path: `${collection}/{name}`,
        handle: (request) => this.createOrUpdate(request),
      },
      {
        name: 'virtualMachines.update',
        method: 'PATCH',
        path: `${collection}/{name}`,
        handle: (request) => this.update(get(request), request.body),
      },
      {
        name: 'virtualMachines.delete',
        method: 'DELETE',
        path: `${collection}/{name}`,
        handle: (request) => this.delete(request),
      },
      {
        name: 'disks.list',
        method: 'GET',
        path: `/subscriptions/{subscription}/resourceGroups/{group}/${provider}/disks`,
        handle: ({ parameters: { group = '' } }) => listed(store.list(DISKS, group)),
      },
    ];
  }

  private createOrUpdate(request: ArmRequest): ArmResponse {
    const { group = '', name = '' } = request.parameters;
    const { store, clock, random, operations, durations } = this.context;
    const id = store.idOf(group, VIRTUAL_MACHINES, name);
    const existing = store.find(id);
    if (existing !== undefined && request.headers['if-none-match'] === '*') {
      throw new ArmError(412, 'PreconditionFailed', `Virtual machine '${name}' exists.`);
    }
    checkVirtualMachine(this.context, id, request.body);
    if (existing !== undefined) {
      checkUnchanged(existing, textAt(store.secretsOf(id), 'customData'), request.body);
      return this.update(existing, request.body);
    }
    this.usages.check(request.body);
    const resource: ArmResource = {
      id,
      name,
      type: VIRTUAL_MACHINES,
      location: this.context.location,
      ...(listAt(request.body, 'zones').length === 0 ? {} : { zones: listAt(request.body, 'zones').map(String) }),
      tags: textsAt(request.body, 'tags'),
      ...(objectAt(request.body)['identity'] === undefined ? {} : { identity: objectAt(request.body)['identity'] }),
      etag: `"${random.uuid()}"`,
      properties: {
        ...shown(objectAt(request.body, 'properties')),
        vmId: random.uuid(),
        timeCreated: timestamp(clock.now()),
        provisioningState: 'Creating',
      },
    };
    store.putSecretly(resource, {
      customData: textAt(request.body, 'properties', 'osProfile', 'customData'),
      createdAt: clock.now(),
    });
    for (const nic of interfaceIds(resource)) this.interfaces.attach(nic, id);
    this.putDisk(group, resource);
    const operation = operations.begin({
      milliseconds: durations.virtualMachineCreate + (request.extraTime ?? 0),
      finish: () => this.started(resource),
      failure: request.lateFault && { error: request.lateFault.error, apply: () => this.settle(resource, 'Failed') },
    });
    return changed(this.context, NAMESPACE, 201, resource, operation);
  }

  private started(begun: ArmResource): void {
    const settled = this.settle(begun, 'Succeeded');
    if (settled === undefined) {
      throw new ArmError(
        409,
        'OperationPreempted',
        `Virtual machine '${begun.name}' was deleted while it was created.`,
      );
    }
    this.emit({ type: 'created', vm: this.describe(settled) });
  }

  /** Ends the creation that `begun` stands for; undefined when that machine is going or gone. */
  private settle(begun: ArmResource, provisioningState: string): ArmResource | undefined {
    const current = this.context.store.find(begun.id);
    const same = current?.properties['vmId'] === begun.properties['vmId'];
    if (current === undefined || !same || current.properties['provisioningState'] !== 'Creating') return undefined;
    return this.write(current, { ...current.properties, provisioningState });
  }

  /** Tags and identities change at once; everything else of a machine is fixed here. */
  private update(machine: ArmResource, body: unknown): ArmResponse {
    const tags = objectAt(body)['tags'] === undefined ? machine.tags : textsAt(body, 'tags');
    const identity = objectAt(body)['identity'] ?? machine.identity;
    const updated = this.write(
      { ...machine, ...(tags === undefined ? {} : { tags }), ...(identity === undefined ? {} : { identity }) },
      machine.properties,
    );
    return { status: 200, body: updated };
  }

  private delete(request: ArmRequest): ArmResponse {
    const { group = '', name = '' } = request.parameters;
    const { store, operations, durations } = this.context;
    const id = store.idOf(group, VIRTUAL_MACHINES, name);
    const machine = store.find(id);
    if (machine === undefined) return { status: 204 };
    const running = this.deletions.get(id.toLowerCase());
    if (running !== undefined) return accepted(this.context, NAMESPACE, running);
    this.write(machine, { ...machine.properties, provisioningState: 'Deleting' });
    const operation = operations.begin({
      milliseconds: durations.virtualMachineDelete + (request.extraTime ?? 0),
      finish: () => this.removed(id),
      failure: request.lateFault && {
        error: request.lateFault.error,
        apply: () => {
          this.deletions.delete(id.toLowerCase());
          this.write(machine, { ...machine.properties, provisioningState: 'Failed' });
        },
      },
    });
    this.deletions.set(id.toLowerCase(), operation);
    return accepted(this.context, NAMESPACE, operation);
  }

  /** The machine goes first; interface and disk follow when they were made to. */
  private removed(id: string): void {
    const { store } = this.context;
    const machine = store.find(id);
    this.deletions.delete(id.toLowerCase());
    if (machine === undefined) return;
    const vm = this.describe(machine);
    for (const extension of extensionsOf(store, id)) store.delete(extension.id);
    for (const reference of listAt(machine.properties, 'networkProfile', 'networkInterfaces')) {
      const nic = textAt(reference, 'id') ?? '';
      this.interfaces.attach(nic, undefined);
      if (textAt(reference, 'properties', 'deleteOption') === 'Delete') this.interfaces.remove(nic);
    }
    const disk = objectAt(machine.properties, 'storageProfile', 'osDisk');
    const diskId = textAt(disk, 'managedDisk', 'id');
    if (diskId !== undefined && disk['deleteOption'] === 'Delete') store.delete(diskId);
    store.delete(id);
    this.emit({ type: 'deleted', vm });
  }

  /** Ephemeral OS disks live on the host and are no resource. */
  private putDisk(group: string, machine: ArmResource): void {
    const disk = objectAt(machine.properties, 'storageProfile', 'osDisk');
    if (disk['diffDiskSettings'] !== undefined) return;
    const name = textAt(disk, 'name') ?? `${machine.name}_OsDisk_1`;
    const id = this.context.store.idOf(group, DISKS, name);
    this.context.store.put({
      id,
      name,
      type: DISKS,
      location: this.context.location,
      ...(machine.zones === undefined ? {} : { zones: machine.zones }),
      ...(machine.tags === undefined ? {} : { tags: machine.tags }),
      etag: `"${this.context.random.uuid()}"`,
      properties: { diskSizeGB: disk['diskSizeGB'], diskState: 'Attached', provisioningState: 'Succeeded' },
    });
    const managedDisk = { storageAccountType: 'Premium_LRS', ...objectAt(disk, 'managedDisk'), id };
    const storageProfile = {
      ...objectAt(machine.properties, 'storageProfile'),
      osDisk: { ...disk, name, managedDisk },
    };
    this.write(machine, { ...machine.properties, storageProfile });
  }

  private describe(machine: ArmResource): LocalVirtualMachine {
    const { properties } = machine;
    const size = textAt(properties, 'hardwareProfile', 'vmSize') ?? '';
    const entry = this.context.catalogue.find(size);
    const secrets = this.context.store.secretsOf(machine.id);
    const createdAt = secrets?.['createdAt'];
    const image = objectAt(properties, 'storageProfile', 'imageReference');
    const diskSize = objectAt(properties, 'storageProfile', 'osDisk')['diskSizeGB'];
    return {
      id: machine.id,
      vmId: textAt(properties, 'vmId') ?? '',
      name: machine.name,
      resourceGroup: machine.id.split('/')[4] ?? '',
      computerName: textAt(properties, 'osProfile', 'computerName') ?? machine.name,
      location: machine.location ?? this.context.location,
      zone: machine.zones?.[0],
      size,
      vCPUs: entry?.vCPUs ?? 0,
      memoryGiB: entry?.memoryGiB ?? 0,
      gpus: Number(entry?.sku.capabilities.find(({ name }) => name === 'GPUs')?.value ?? 0),
      osDiskSizeGB: typeof diskSize === 'number' ? diskSize : 30,
      priority: textAt(properties, 'priority') === 'Spot' ? 'Spot' : 'Regular',
      imageId: textAt(image, 'communityGalleryImageId') ?? textAt(image, 'id'),
      customData: textAt(secrets, 'customData'),
      privateIPAddress: this.interfaces.primaryAddress(interfaceIds(machine)[0] ?? ''),
      tags: machine.tags ?? {},
      provisioningState: textAt(properties, 'provisioningState') ?? '',
      createdAt: typeof createdAt === 'number' ? createdAt : 0,
    };
  }

  private write(machine: ArmResource, properties: JsonObject): ArmResource {
    const written = { ...machine, properties, etag: `"${this.context.random.uuid()}"` };
    this.context.store.put(written);
    return written;
  }

  private emit(event: VirtualMachineEvent): void {
    for (const listener of this.listeners) listener(event);
  }
}

function interfaceIds(machine: ArmResource): readonly string[] {
  return listAt(machine.properties, 'networkProfile', 'networkInterfaces')
    .map((reference) => textAt(reference, 'id'))
    .filter((id) => id !== undefined);
}

/** Azure takes custom data but never gives it back. */
function shown(properties: JsonObject): JsonObject {
  const { customData: _customData, adminPassword: _adminPassword, ...osProfile } = objectAt(properties, 'osProfile');
  return { ...properties, osProfile };
}

/** Power follows provisioning here: nobody stops a machine without deleting it. */
function instanceViewOf(machine: ArmResource): JsonObject {
  const state = textAt(machine.properties, 'provisioningState') ?? 'Unknown';
  const power: Readonly<Record<string, string>> = {
    Succeeded: 'running',
    Creating: 'starting',
    Deleting: 'stopping',
  };
  const status = (code: string, displayStatus: string): JsonObject => ({ code, level: 'Info', displayStatus });
  const word = power[state];
  return {
    computerName: textAt(machine.properties, 'osProfile', 'computerName') ?? machine.name,
    statuses: [
      status(`ProvisioningState/${state.toLowerCase()}`, `Provisioning ${state.toLowerCase()}`),
      ...(word === undefined ? [] : [status(`PowerState/${word}`, `VM ${word}`)]),
    ],
  };
}
