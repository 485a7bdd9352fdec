/**
 * Network interfaces. In: PUT, GET, list, PATCH and DELETE. Out: interfaces with addresses from their subnets, bound
 * to at most one machine and not deletable while bound.
 */
import { ArmError } from './armError.ts';
import { accepted, changed, listed, type ArmContext } from './armContext.ts';
import { at, listAt, objectAt, textAt, textsAt, type JsonObject } from './jsonPath.ts';
import { referencesOf, type Networks } from './networks.ts';
import type { ArmResource } from './resourceStore.ts';
import type { ArmRequest, ArmResponse, Route } from './router.ts';

const NAMESPACE = 'Microsoft.Network';
export const NETWORK_INTERFACES = 'Microsoft.Network/networkInterfaces';

export class NetworkInterfaces {
  private readonly context: ArmContext;
  private readonly networks: Networks;

  constructor(context: ArmContext, networks: Networks) {
    this.context = context;
    this.networks = networks;
  }

  /** Binds the interface to a machine, or frees it. */
  attach(id: string, machineId: string | undefined): void {
    const found = this.context.store.find(id);
    if (found === undefined) return;
    const { virtualMachine: _virtualMachine, ...properties } = found.properties;
    this.write(found, machineId === undefined ? properties : { ...properties, virtualMachine: { id: machineId } });
  }

  /** Gives the addresses back and forgets the interface. */
  remove(id: string): void {
    const found = this.context.store.find(id);
    if (found === undefined) return;
    for (const configuration of listAt(found.properties, 'ipConfigurations')) {
      const subnet = textAt(configuration, 'properties', 'subnet', 'id');
      const address = textAt(configuration, 'properties', 'privateIPAddress');
      if (subnet !== undefined && address !== undefined) this.networks.release(subnet, address);
    }
    this.context.store.delete(id);
  }

  primaryAddress(id: string): string | undefined {
    const configurations = listAt(this.context.store.find(id)?.properties, 'ipConfigurations');
    const primary = configurations.find((each) => at(each, 'properties', 'primary') === true) ?? configurations[0];
    return textAt(primary, 'properties', 'privateIPAddress');
  }

  /** Goes on with what an earlier process had begun. */
  resume(): void {
    const { store, operations, durations } = this.context;
    for (const { id, properties } of store.list(NETWORK_INTERFACES)) {
      for (const configuration of listAt(properties, 'ipConfigurations')) {
        const subnet = textAt(configuration, 'properties', 'subnet', 'id');
        const address = textAt(configuration, 'properties', 'privateIPAddress');
        if (subnet !== undefined && address !== undefined) this.networks.occupy(subnet, address);
      }
      const milliseconds = durations.networkInterface;
      const state = textAt(properties, 'provisioningState');
      if (state === 'Updating') {
        operations.begin({ milliseconds, finish: () => this.settle(id, 'Succeeded', 'Updating') });
      }
      if (state === 'Deleting') operations.begin({ milliseconds, finish: () => this.remove(id) });
    }
  }

  routes(): readonly Route[] {
    const { store } = this.context;
    const collection = `/subscriptions/{subscription}/resourceGroups/{group}/providers/${NAMESPACE}/networkInterfaces`;
    return [
      {
        name: 'networkInterfaces.list',
        method: 'GET',
        path: collection,
        handle: ({ parameters: { group = '' } }) => listed(store.list(NETWORK_INTERFACES, group)),
      },
      {
        name: 'networkInterfaces.get',
        method: 'GET',
        path: `${collection}/{name}`,
        handle: ({ parameters: { group = '', name = '' } }) => ({
          status: 200,
          body: store.get(group, NETWORK_INTERFACES, name),
        }),
      },
      {
        name: 'networkInterfaces.createOrUpdate',
        method: 'PUT',
        path: `${collection}/{name}`,
        handle: (request) => this.createOrUpdate(request),
      },
      {
        name: 'networkInterfaces.updateTags',
        method: 'PATCH',
        path: `${collection}/{name}`,
        handle: ({ parameters: { group = '', name = '' }, body }) => {
          const updated = { ...store.get(group, NETWORK_INTERFACES, name), tags: textsAt(body, 'tags') };
          store.put(updated);
          return { status: 200, body: updated };
        },
      },
      {
        name: 'networkInterfaces.delete',
        method: 'DELETE',
        path: `${collection}/{name}`,
        handle: (request) => this.delete(request),
      },
    ];
  }

  private createOrUpdate(request: ArmRequest): ArmResponse {
    const { group = '', name = '' } = request.parameters;
    const { store, random, location } = this.context;
    const id = store.idOf(group, NETWORK_INTERFACES, name);
    const existing = store.find(id);
    for (const reference of referencesOf(objectAt(request.body, 'properties'))) {
      if (store.find(reference) !== undefined) continue;
      throw new ArmError(
        400,
        'InvalidResourceReference',
        `Resource ${reference} referenced by resource ${id} was not found. Please make sure that the referenced resource exists, and that both resources are in the same region.`,
      );
    }
    const resource: ArmResource = {
      id,
      name,
      type: NETWORK_INTERFACES,
      location: textAt(request.body, 'location') ?? location,
      tags: textsAt(request.body, 'tags'),
      etag: `W/"${random.uuid()}"`,
      properties: {
        ...objectAt(request.body, 'properties'),
        ipConfigurations: this.configure(id, request.body, existing),
        resourceGuid: textAt(existing?.properties, 'resourceGuid') ?? random.uuid(),
        macAddress: textAt(existing?.properties, 'macAddress') ?? this.newMacAddress(),
        ...(existing?.properties['virtualMachine'] === undefined
          ? {}
          : { virtualMachine: existing.properties['virtualMachine'] }),
        provisioningState: 'Updating',
      },
    };
    store.put(resource);
    const operation = this.context.operations.begin({
      milliseconds: this.context.durations.networkInterface,
      // A deletion may have begun meanwhile; it has the last word.
      finish: () => this.settle(id, 'Succeeded', 'Updating'),
      failure: request.lateFault && { error: request.lateFault.error, apply: () => this.settle(id, 'Failed') },
    });
    return changed(this.context, NAMESPACE, existing === undefined ? 201 : 200, resource, operation);
  }

  /** Configurations that were there keep their address; new ones draw one. */
  private configure(id: string, body: unknown, existing: ArmResource | undefined): readonly JsonObject[] {
    const wanted = listAt(body, 'properties', 'ipConfigurations');
    if (wanted.length === 0) {
      throw new ArmError(
        400,
        'InvalidRequestFormat',
        `Network interface ${id} must have one or more IP configurations.`,
      );
    }
    const before = new Map(
      listAt(existing?.properties, 'ipConfigurations').map((each) => [textAt(each, 'name'), each] as const),
    );
    return wanted.map((configuration, index) => {
      const name = textAt(configuration, 'name') ?? `ipconfig${index}`;
      const subnetId = textAt(configuration, 'properties', 'subnet', 'id');
      const subnet = subnetId === undefined ? undefined : this.context.store.find(subnetId);
      if (subnet === undefined) {
        throw new ArmError(400, 'SubnetRequired', `IP configuration ${name} of ${id} names no subnet.`);
      }
      const address = textAt(before.get(name), 'properties', 'privateIPAddress') ?? this.networks.allocate(subnet);
      return {
        name,
        id: `${id}/ipConfigurations/${name}`,
        properties: {
          privateIPAllocationMethod: 'Dynamic',
          privateIPAddressVersion: 'IPv4',
          primary: index === 0,
          ...objectAt(configuration, 'properties'),
          privateIPAddress: address,
          provisioningState: 'Succeeded',
        },
      };
    });
  }

  private delete(request: ArmRequest): ArmResponse {
    const { group = '', name = '' } = request.parameters;
    const { store, operations, durations } = this.context;
    const id = store.idOf(group, NETWORK_INTERFACES, name);
    const found = store.find(id);
    if (found === undefined) return { status: 204 };
    const machine = textAt(found.properties, 'virtualMachine', 'id');
    if (machine !== undefined) {
      throw new ArmError(
        400,
        'NicInUse',
        `Network Interface ${id} is used by existing resource ${machine}. In order to delete the network interface, it must be dissociated from the resource. To learn more, see aka.ms/deletenic.`,
      );
    }
    this.settle(id, 'Deleting');
    const operation = operations.begin({
      milliseconds: durations.networkInterface,
      finish: () => this.remove(id),
      failure: request.lateFault && { error: request.lateFault.error, apply: () => this.settle(id, 'Failed') },
    });
    return accepted(this.context, NAMESPACE, operation);
  }

  private settle(id: string, provisioningState: string, from?: string): void {
    const found = this.context.store.find(id);
    if (found === undefined) return;
    if (from === undefined || found.properties['provisioningState'] === from)
      this.write(found, { ...found.properties, provisioningState });
  }

  private write(resource: ArmResource, properties: JsonObject): void {
    this.context.store.put({ ...resource, properties, etag: `W/"${this.context.random.uuid()}"` });
  }

  private newMacAddress(): string {
    const octets = Array.from({ length: 3 }, () => Math.floor(this.context.random.next() * 256));
    return ['00', '0D', '3A', ...octets.map((octet) => octet.toString(16).padStart(2, '0').toUpperCase())].join('-');
  }
}
