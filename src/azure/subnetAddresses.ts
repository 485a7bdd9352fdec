/** How many addresses of the subnets that nodes join are in use, and how many are left. For metrics only. */
import type { NetworkManagementClient, Subnet } from '@azure/arm-network';
import { Kinds } from '../api/kinds.ts';
import type { Kube } from '../kube/kube.ts';
import type { Gauge, MetricsRegistry } from '../kube/metrics.ts';
import { parseSubnetId, type SubnetId } from './network.ts';

export interface SubnetAddressesOptions {
  readonly network: NetworkManagementClient;
  readonly subscriptionId: string;
  /** The subnet of nodes whose class names none. */
  readonly defaultSubnetId: string;
  readonly kube: Pick<Kube, 'list'>;
  readonly metrics: MetricsRegistry;
}

/** Azure keeps the first four addresses of a subnet and the last one. */
const RESERVED = 5;
const MOST_SUBNETS = 64;

export class SubnetAddresses {
  private readonly options: SubnetAddressesOptions;
  private readonly used: Gauge;
  private readonly free: Gauge;
  private shown = new Set<string>();

  constructor(options: SubnetAddressesOptions) {
    this.options = options;
    const labels = ['subnet'];
    this.used = options.metrics.gauge({
      name: 'nodewright_azure_subnet_addresses_used',
      help: 'IPv4 addresses of a subnet of nodes that are in use.',
      labels,
    });
    this.free = options.metrics.gauge({
      name: 'nodewright_azure_subnet_addresses_free',
      help: 'IPv4 addresses of a subnet of nodes that are left.',
      labels,
    });
  }

  async refresh(signal?: AbortSignal): Promise<void> {
    const { network } = this.options;
    const now = new Set<string>();
    for (const id of await this.subnets(signal)) {
      const { resourceGroup, virtualNetwork, subnet } = id;
      const found = await network.subnets.get(resourceGroup, virtualNetwork, subnet, signal && { abortSignal: signal });
      const label = { subnet: `${virtualNetwork}/${subnet}` };
      const used = found.ipConfigurations?.length ?? 0;
      this.used.set(label, used);
      this.free.set(label, Math.max(0, addressesOf(found) - RESERVED - used));
      now.add(label.subnet);
    }
    for (const subnet of this.shown) {
      if (now.has(subnet)) continue;
      this.used.delete({ subnet });
      this.free.delete({ subnet });
    }
    this.shown = now;
  }

  /** Those of other subscriptions cannot be asked for with this client. */
  private async subnets(signal: AbortSignal | undefined): Promise<readonly SubnetId[]> {
    const { kube, defaultSubnetId, subscriptionId } = this.options;
    const { items } = await kube.list(Kinds.AKSNodeClass, signal && { signal });
    const named = items.flatMap(({ spec }) => spec?.vnetSubnetID ?? []);
    return [...new Set([defaultSubnetId, ...named])]
      .flatMap((id) => parseSubnetId(id) ?? [])
      .filter((id) => id.subscriptionId.toLowerCase() === subscriptionId.toLowerCase())
      .slice(0, MOST_SUBNETS);
  }
}

/** Of its IPv4 ranges. */
function addressesOf({ addressPrefix, addressPrefixes }: Subnet): number {
  const prefixes = addressPrefixes ?? (addressPrefix === undefined ? [] : [addressPrefix]);
  return prefixes
    .filter((prefix) => !prefix.includes(':'))
    .reduce((sum, prefix) => sum + 2 ** (32 - Number(prefix.split('/')[1] ?? 32)), 0);
}
