/** Network interfaces: addresses from their subnets; not deletable while bound to a VM or reserved for one. */
import { accepted, changed, paged, type ArmContext } from '../armContext.ts';
import { ArmError } from '../armError.ts';
import { authorizeLinked } from '../directory/principals.ts';
import { at, listAt, objectAt, textAt, type JsonObject } from '../jsonPath.ts';
import { checkGroup, checkLocation, checkPreconditions, checkTags } from '../resources/requestRules.ts';
import { present, type ArmResource } from '../resourceStore.ts';
import { route, type ArmRequest, type ArmResponse, type Route } from '../server/router.ts';
import { configureAddresses, referencesOf } from './ipConfigurations.ts';
import type { SubnetAddresses } from './subnetAddresses.ts';

const NAMESPACE = 'Microsoft.Network';
export const NETWORK_INTERFACES = 'Microsoft.Network/networkInterfaces';

export class NetworkInterfaces {
  private readonly context: ArmContext;
  private readonly addresses: SubnetAddresses;

  constructor(context: ArmContext, addresses: SubnetAddresses) {
    this.context = context;
    this.addresses = addresses;
  }

  /** Binds the interface to a machine, or frees it. */
  attach(id: string, machineId: string | undefined): void {
    const found = this.context.store.find(id);
    if (found === undefined) return;
    const { virtualMachine: _virtualMachine, ...properties } = found.properties;
    const { hidden: _hidden, ...free } = found;
    this.write(free, machineId === undefined ? properties : { ...properties, virtualMachine: { id: machineId } });
  }

  /** Holds the interface for a machine that could not be made, as Azure does for three minutes. */
  reserve(id: string, machineId: string): void {
    const found = this.context.store.find(id);
    if (found === undefined) return;
    const reservedUntil = this.context.clock.now() + this.context.durations.interfaceReservation;
    this.write({ ...found, hidden: { reservedFor: machineId, reservedUntil } }, found.properties);
  }

  /** Throws when a machine other than `machineId` has or may still get the interface. */
  checkFree(found: ArmResource, machineId: string | undefined): void {
    const owner = textAt(found.properties, 'virtualMachine', 'id');
    const same = (id: string | undefined): boolean => id?.toLowerCase() === machineId?.toLowerCase();
    if (owner !== undefined && !same(owner)) {
      throw machineId === undefined
        ? new ArmError(
            400,
            'NicInUse',
            `Network Interface ${found.id} is used by existing resource ${owner}. In order to delete the network interface, it must be dissociated from the resource. To learn more, see aka.ms/deletenic.`,
            { details: [] },
          )
        : new ArmError(400, 'NicInUse', `Network Interface ${found.id} is used by existing VM ${owner}.`, {
            details: [],
          });
    }
    const holder = textAt(found.hidden, 'reservedFor');
    const until = at(found.hidden, 'reservedUntil');
    if (holder === undefined || typeof until !== 'number' || until <= this.context.clock.now()) return;
    if (machineId !== undefined && same(holder)) return;
    throw new ArmError(
      400,
      'NicReservedForAnotherVm',
      `Nic(s) in request is reserved for another Virtual Machine for 180 seconds. Please provide another nic(s) or retry after 180 seconds. Reserved VM: ${holder}`,
      { details: [] },
    );
  }

  /** An interface that another provider makes for itself: it is there at once. */
  make(group: string, name: string, body: JsonObject): ArmResource {
    const { store, random, location } = this.context;
    const id = store.idOf(group, NETWORK_INTERFACES, name);
    const resource: ArmResource = {
      id,
      name,
      type: NETWORK_INTERFACES,
      location,
      tags: checkTags(body),
      etag: `W/"${random.uuid()}"`,
      properties: {
        ...objectAt(body, 'properties'),
        ipConfigurations: configureAddresses(store, this.addresses, { id, body, existing: store.find(id) }),
        resourceGuid: random.uuid(),
        macAddress: this.newMacAddress(),
        provisioningState: 'Succeeded',
      },
    };
    store.put(resource);
    return resource;
  }

  /** Forgets the interface; its addresses are free again. */
  remove(id: string): void {
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
    const find = ({ parameters: { group = '', name = '' } }: ArmRequest): ArmResource =>
      store.get(group, NETWORK_INTERFACES, name);
    return [
      route(
        'networkInterfaces.listAll',
        'GET',
        `/subscriptions/{subscription}/providers/${NAMESPACE}/networkInterfaces`,
        (request) => paged(this.context, request, store.list(NETWORK_INTERFACES)),
      ),
      route('networkInterfaces.list', 'GET', collection, (request) =>
        paged(this.context, request, store.list(NETWORK_INTERFACES, request.parameters['group'] ?? '')),
      ),
      route('networkInterfaces.get', 'GET', `${collection}/{name}`, (request) => {
        const found = find(request);
        return { status: 200, body: present(found), headers: { etag: found.etag } };
      }),
      route('networkInterfaces.createOrUpdate', 'PUT', `${collection}/{name}`, (request) =>
        this.createOrUpdate(request),
      ),
      route('networkInterfaces.updateTags', 'PATCH', `${collection}/{name}`, (request) => {
        const found = find(request);
        checkPreconditions(request, found);
        return {
          status: 200,
          body: present(this.write({ ...found, tags: checkTags(request.body) }, found.properties)),
        };
      }),
      route('networkInterfaces.delete', 'DELETE', `${collection}/{name}`, (request) => this.delete(request)),
    ];
  }

  private createOrUpdate(request: ArmRequest): ArmResponse {
    const { group = '', name = '' } = request.parameters;
    const { store, random } = this.context;
    checkGroup(this.context, group);
    const id = store.idOf(group, NETWORK_INTERFACES, name);
    const existing = store.find(id);
    checkPreconditions(request, existing);
    const location = checkLocation(this.context, NETWORK_INTERFACES, name, request.body, existing);
    const tags = checkTags(request.body);
    this.checkReferences(id, request);
    const resource: ArmResource = {
      id,
      name,
      type: NETWORK_INTERFACES,
      location,
      tags,
      etag: `W/"${random.uuid()}"`,
      properties: {
        dnsSettings: { dnsServers: [], appliedDnsServers: [] },
        enableAcceleratedNetworking: false,
        enableIPForwarding: false,
        nicType: 'Standard',
        ...objectAt(request.body, 'properties'),
        ipConfigurations: configureAddresses(this.context.store, this.addresses, { id, body: request.body, existing }),
        resourceGuid: textAt(existing?.properties, 'resourceGuid') ?? random.uuid(),
        macAddress: textAt(existing?.properties, 'macAddress') ?? this.newMacAddress(),
        ...(existing?.properties['virtualMachine'] === undefined
          ? {}
          : { virtualMachine: existing.properties['virtualMachine'] }),
        provisioningState: 'Updating',
      },
      ...(existing?.hidden && { hidden: existing.hidden }),
    };
    store.put(resource);
    const operation = this.context.operations.begin({
      milliseconds: this.context.durations.networkInterface + (request.extraTime ?? 0),
      // A deletion may have begun meanwhile; it has the last word.
      finish: () => this.settle(id, 'Succeeded', 'Updating'),
      failure: request.lateFault && { error: request.lateFault.error, apply: () => this.settle(id, 'Failed') },
    });
    return changed(this.context, request, existing === undefined ? 201 : 200, resource, operation);
  }

  private checkReferences(id: string, { body, principal }: ArmRequest): void {
    for (const reference of referencesOf(objectAt(body, 'properties'))) {
      const found = this.context.store.find(reference);
      if (found === undefined) {
        throw new ArmError(
          400,
          'InvalidResourceReference',
          `Resource ${reference} referenced by resource ${id} was not found. Please make sure that the referenced resource exists, and that both resources are in the same region.`,
          { details: [] },
        );
      }
      authorizeLinked(principal, `${found.type}/join/action`, reference, `${NETWORK_INTERFACES}/write`);
    }
  }

  private delete(request: ArmRequest): ArmResponse {
    const { group = '', name = '' } = request.parameters;
    const { store, operations, durations } = this.context;
    const id = store.idOf(group, NETWORK_INTERFACES, name);
    const found = store.find(id);
    if (found === undefined) return { status: 204 };
    checkPreconditions(request, found);
    this.checkFree(found, undefined);
    this.settle(id, 'Deleting');
    const operation = operations.begin({
      milliseconds: durations.networkInterface + (request.extraTime ?? 0),
      finish: () => this.remove(id),
      failure: request.lateFault && { error: request.lateFault.error, apply: () => this.settle(id, 'Failed') },
    });
    return accepted(this.context, request, operation);
  }

  private settle(id: string, provisioningState: string, from?: string): void {
    const found = this.context.store.find(id);
    if (found === undefined) return;
    if (from === undefined || found.properties['provisioningState'] === from)
      this.write(found, { ...found.properties, provisioningState });
  }

  private write(resource: ArmResource, properties: JsonObject): ArmResource {
    const written = { ...resource, properties, etag: `W/"${this.context.random.uuid()}"` };
    this.context.store.put(written);
    return written;
  }

  private newMacAddress(): string {
    const octets = Array.from({ length: 3 }, () => Math.floor(this.context.random.next() * 256));
    return ['00', '0D', '3A', ...octets.map((octet) => octet.toString(16).padStart(2, '0').toUpperCase())].join('-');
  }
}
