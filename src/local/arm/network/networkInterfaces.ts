/** Network interfaces: they get addresses of their subnets, and stay while bound to a VM or reserved for one. */
import type { ArmContext } from '../armContext.ts';
import { refusal } from '../refusal.ts';
import { authorizeLinked } from '../directory/principals.ts';
import { at, listAt, objectAt, textAt, type JsonObject } from '../jsonPath.ts';
import { checkTags } from '../resources/requestRules.ts';
import type { ResourceKind } from '../resources/resourceKind.ts';
import type { ArmResource } from '../resourceStore.ts';
import type { ArmRequest } from '../server/router.ts';
import { configureAddresses, referencesOf } from './ipConfigurations.ts';
import type { SubnetAddresses } from './subnetAddresses.ts';

export const NETWORK_INTERFACES = 'Microsoft.Network/networkInterfaces';

export class NetworkInterfaces {
  private readonly context: ArmContext;
  private readonly addresses: SubnetAddresses;

  constructor(context: ArmContext, addresses: SubnetAddresses) {
    this.context = context;
    this.addresses = addresses;
  }

  /** Binds the interface to a VM; undefined frees it. */
  attach(id: string, machineId: string | undefined): void {
    const found = this.context.store.find(id);
    if (found === undefined) return;
    const { virtualMachine: _virtualMachine, ...properties } = found.properties;
    const { hidden: _hidden, ...free } = found;
    this.write(free, machineId === undefined ? properties : { ...properties, virtualMachine: { id: machineId } });
  }

  /** Reserves the interface for a VM that could not be created, as Azure does for 3 minutes. */
  reserve(id: string, machineId: string): void {
    const found = this.context.store.find(id);
    if (found === undefined) return;
    const reservedUntil = this.context.clock.now() + this.context.durations.interfaceReservation;
    this.write({ ...found, hidden: { reservedFor: machineId, reservedUntil } }, found.properties);
  }

  /** Throws when the interface is bound to or reserved for a VM other than `machineId`. */
  checkFree(found: ArmResource, machineId: string | undefined): void {
    const owner = textAt(found.properties, 'virtualMachine', 'id');
    const same = (id: string | undefined): boolean => id?.toLowerCase() === machineId?.toLowerCase();
    if (owner !== undefined && !same(owner)) {
      throw machineId === undefined
        ? refusal('NicInUse.deleted', { id: found.id, owner })
        : refusal('NicInUse.attached', { id: found.id, owner });
    }
    const holder = textAt(found.hidden, 'reservedFor');
    const until = at(found.hidden, 'reservedUntil');
    if (holder === undefined || typeof until !== 'number' || until <= this.context.clock.now()) return;
    if (machineId !== undefined && same(holder)) return;
    throw refusal('NicReservedForAnotherVm', { holder });
  }

  /** Creates an interface for another provider, at once. */
  make(group: string, name: string, body: JsonObject): ArmResource {
    const { store, random } = this.context;
    const { location } = store.group(group);
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

  /** Deletes the interface and frees its addresses. */
  remove(id: string): void {
    this.context.store.delete(id);
  }

  primaryAddress(id: string): string | undefined {
    const configurations = listAt(this.context.store.find(id)?.properties, 'ipConfigurations');
    const primary = configurations.find((each) => at(each, 'properties', 'primary') === true) ?? configurations[0];
    return textAt(primary, 'properties', 'privateIPAddress');
  }

  /** Returns the resource kind of interfaces. */
  kind(): ResourceKind {
    return {
      type: NETWORK_INTERFACES,
      tracked: true,
      put: 'async',
      patch: 'tags',
      remove: 'accepted',
      duration: 'networkInterface',
      interruptible: true,
      properties: ({ context, request, id, body, existing }) => {
        this.checkReferences(id, request);
        const { resourceGuid, macAddress, virtualMachine } = existing?.properties ?? {};
        return {
          dnsSettings: { dnsServers: [], appliedDnsServers: [] },
          enableAcceleratedNetworking: false,
          enableIPForwarding: false,
          nicType: 'Standard',
          ...objectAt(body, 'properties'),
          ipConfigurations: configureAddresses(context.store, this.addresses, { id, body, existing }),
          resourceGuid: resourceGuid ?? context.random.uuid(),
          macAddress: macAddress ?? this.newMacAddress(),
          ...(virtualMachine !== undefined && { virtualMachine }),
        };
      },
      checkDelete: (_context, found) => this.checkFree(found, undefined),
    };
  }

  private checkReferences(id: string, { body, principal }: ArmRequest): void {
    for (const reference of referencesOf(objectAt(body, 'properties'))) {
      const found = this.context.store.find(reference);
      if (found === undefined) throw refusal('InvalidResourceReference', { reference, id });
      authorizeLinked(principal, `${found.type}/join/action`, reference, `${NETWORK_INTERFACES}/write`);
    }
  }

  private write(resource: ArmResource, properties: JsonObject): void {
    this.context.store.put({ ...resource, properties, etag: `W/"${this.context.random.uuid()}"` });
  }

  private newMacAddress(): string {
    const octets = Array.from({ length: 3 }, () => Math.floor(this.context.random.next() * 256));
    return ['00', '0D', '3A', ...octets.map((octet) => octet.toString(16).padStart(2, '0').toUpperCase())].join('-');
  }
}
