/** The IP configurations of an interface, with their addresses, and the resources that they refer to. */
import { refusal } from '../refusal.ts';
import { listAt, objectAt, textAt, type JsonObject } from '../jsonPath.ts';
import type { ArmResource, ResourceStore } from '../resourceStore.ts';
import type { SubnetAddresses } from './subnetAddresses.ts';

const NETWORK_INTERFACES = 'Microsoft.Network/networkInterfaces';

interface InterfaceWrite {
  readonly id: string;
  readonly body: unknown;
  readonly existing: ArmResource | undefined;
}

/** Returns the configurations with addresses: existing ones keep theirs, new ones of a subnet get theirs together. */
export function configureAddresses(
  store: ResourceStore,
  addresses: SubnetAddresses,
  { id, body, existing }: InterfaceWrite,
): readonly JsonObject[] {
  const wanted = listAt(body, 'properties', 'ipConfigurations');
  if (wanted.length === 0) throw refusal('InvalidRequestFormat.ipConfigurations', { id });
  const before = new Map(
    listAt(existing?.properties, 'ipConfigurations').map((each) => [textAt(each, 'name'), each] as const),
  );
  const drawn = new Map<string, string[]>();
  const plans = wanted.map((configuration, index) => {
    const name = textAt(configuration, 'name') ?? `ipconfig${index}`;
    const subnet = store.find(textAt(configuration, 'properties', 'subnet', 'id') ?? '');
    if (subnet === undefined) throw refusal('SubnetRequired', { name, id });
    const kept = before.get(name);
    const stays = textAt(kept, 'properties', 'subnet', 'id')?.toLowerCase() === subnet.id.toLowerCase();
    const address =
      chosenAddress(addresses, `${id}/ipConfigurations/${name}`, subnet, configuration) ??
      (stays ? textAt(kept, 'properties', 'privateIPAddress') : undefined);
    if (address === undefined) drawn.set(subnet.id, []);
    return { name, subnet, address, configuration };
  });
  for (const [subnetId, given] of drawn) {
    const asking = plans.filter(({ subnet, address }) => address === undefined && subnet.id === subnetId);
    const [first] = asking;
    if (first !== undefined) given.push(...addresses.allocate(first.subnet, asking.length));
  }
  return plans.map(({ name, subnet, address, configuration }, index) => ({
    name,
    id: `${id}/ipConfigurations/${name}`,
    type: `${NETWORK_INTERFACES}/ipConfigurations`,
    properties: {
      privateIPAllocationMethod: 'Dynamic',
      privateIPAddressVersion: 'IPv4',
      primary: index === 0,
      ...objectAt(configuration, 'properties'),
      privateIPAddress: address ?? drawn.get(subnet.id)?.shift(),
      provisioningState: 'Succeeded',
    },
  }));
}

function chosenAddress(
  addresses: SubnetAddresses,
  configurationId: string,
  subnet: ArmResource,
  configuration: unknown,
): string | undefined {
  if (textAt(configuration, 'properties', 'privateIPAllocationMethod') !== 'Static') return undefined;
  const address = textAt(configuration, 'properties', 'privateIPAddress');
  return address === undefined ? undefined : addresses.claim(subnet, address, configurationId);
}

/** Returns the ids of all resources that an interface refers to: subnets, addresses, pools, security group. */
export function referencesOf(properties: unknown): readonly string[] {
  const ids = listAt(properties, 'ipConfigurations').flatMap((configuration) => [
    textAt(configuration, 'properties', 'subnet', 'id'),
    textAt(configuration, 'properties', 'publicIPAddress', 'id'),
    ...listAt(configuration, 'properties', 'loadBalancerBackendAddressPools').map((pool) => textAt(pool, 'id')),
  ]);
  ids.push(textAt(properties, 'networkSecurityGroup', 'id'));
  return [...new Set(ids.filter((id) => id !== undefined))];
}
