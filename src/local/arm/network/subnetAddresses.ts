/** Free addresses of subnets, derived from the interfaces in the store. */
import { refusal } from '../refusal.ts';
import { listAt, textAt } from '../jsonPath.ts';
import type { ArmResource, ResourceStore } from '../resourceStore.ts';
import { formatAddress, parseAddress, parsePrefix, type AddressPrefix } from './addressPrefix.ts';

const NETWORK_INTERFACES = 'microsoft.network/networkinterfaces';
/** Reserved addresses: network, gateway and two for DNS at the start, broadcast at the end. */
const RESERVED_AT_START = 4;
const RESERVED_AT_END = 1;

interface SubnetUse {
  /** Ids of IP configurations by their address. */
  readonly holders: Map<number, string>;
  /** Offset at which the search for a free address continues. */
  next: number;
}

export class SubnetAddresses {
  private readonly uses = new Map<string, SubnetUse>();

  constructor(store: ResourceStore) {
    store.onChange((before, after) => {
      for (const { subnet, address } of addressesOf(before)) this.useOf(subnet).holders.delete(address);
      for (const { subnet, address, configuration } of addressesOf(after)) {
        this.useOf(subnet).holders.set(address, configuration);
      }
    });
  }

  /** Returns the next free addresses of the subnet; throws when it has fewer. */
  allocate(subnet: ArmResource, count: number): readonly string[] {
    const prefix = prefixOf(subnet);
    const use = this.useOf(subnet.id);
    const room = prefix.size - RESERVED_AT_START - RESERVED_AT_END - use.holders.size;
    if (room < count) throw refusal('SubnetIsFull', { name: subnet.name, prefix: prefix.text, count });
    const found: string[] = [];
    let offset = use.next;
    while (found.length < count) {
      if (!use.holders.has(prefix.base + offset)) found.push(formatAddress(prefix.base + offset));
      offset = offset + 1 >= prefix.size - RESERVED_AT_END ? RESERVED_AT_START : offset + 1;
    }
    use.next = offset;
    return found;
  }

  /** Returns the address that a client chose; throws when it is taken or not allowed. */
  claim(subnet: ArmResource, text: string, configuration: string): string {
    const prefix = prefixOf(subnet);
    const address = parseAddress(text);
    const offset = (address ?? 0) - prefix.base;
    if (address === undefined || offset < 0 || offset >= prefix.size) {
      throw refusal('PrivateIPAddressNotInSubnet', { text, prefix: prefix.text });
    }
    if (offset < RESERVED_AT_START || offset >= prefix.size - RESERVED_AT_END) {
      throw refusal('PrivateIPAddressInReservedRange', { text, prefix: prefix.text });
    }
    const holder = this.useOf(subnet.id).holders.get(address);
    if (holder === undefined || holder.toLowerCase() === configuration.toLowerCase()) return text;
    throw refusal('PrivateIPAddressIsAllocated', { configuration, text, holder });
  }

  /** Returns the ids of the IP configurations that have an address of the subnet. */
  holders(subnetId: string): readonly string[] {
    return [...(this.uses.get(subnetId.toLowerCase())?.holders.values() ?? [])];
  }

  private useOf(subnetId: string): SubnetUse {
    const key = subnetId.toLowerCase();
    const use = this.uses.get(key) ?? { holders: new Map<number, string>(), next: RESERVED_AT_START };
    this.uses.set(key, use);
    return use;
  }
}

export function prefixOf(subnet: ArmResource): AddressPrefix {
  const single = textAt(subnet.properties, 'addressPrefix');
  const [first] = listAt(subnet.properties, 'addressPrefixes');
  return parsePrefix(single ?? (typeof first === 'string' ? first : ''));
}

function* addressesOf(
  resource: ArmResource | undefined,
): Generator<{ readonly subnet: string; readonly address: number; readonly configuration: string }> {
  if (resource?.type.toLowerCase() !== NETWORK_INTERFACES) return;
  for (const configuration of listAt(resource.properties, 'ipConfigurations')) {
    const subnet = textAt(configuration, 'properties', 'subnet', 'id');
    const address = parseAddress(textAt(configuration, 'properties', 'privateIPAddress') ?? '');
    if (subnet === undefined || address === undefined) continue;
    yield { subnet, address, configuration: textAt(configuration, 'id') ?? resource.id };
  }
}
