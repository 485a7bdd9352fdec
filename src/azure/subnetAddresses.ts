/** Used and free addresses of the nodes' subnets. Only for metrics. */
import type { Subnet } from '@azure/arm-network';
import type { Gauge, MetricsRegistry } from '../kube/metrics.ts';
import type { SubnetId } from './network.ts';

/** Azure reserves the first four addresses of a subnet and the last one. */
const RESERVED = 5;
const MOST_SUBNETS = 64;

export class SubnetAddresses {
  private readonly used: Gauge;
  private readonly free: Gauge;
  /** The last known subnet of each class. */
  private readonly byClass = new Map<string, string>();

  constructor(metrics: MetricsRegistry) {
    const labels = ['subnet'];
    this.used = metrics.gauge({
      name: 'nodewright_azure_subnet_addresses_used',
      help: 'IPv4 addresses of a subnet of nodes that are in use.',
      labels,
    });
    this.free = metrics.gauge({
      name: 'nodewright_azure_subnet_addresses_free',
      help: 'IPv4 addresses of a subnet of nodes that are left.',
      labels,
    });
  }

  /** Records a class's subnet as read from Azure. */
  saw(nodeClass: string, id: SubnetId, found: Subnet): void {
    const subnet = `${id.virtualNetwork}/${id.subnet}`;
    if (this.byClass.get(nodeClass) !== subnet) this.forget(nodeClass);
    const shown = new Set(this.byClass.values());
    if (!shown.has(subnet) && shown.size >= MOST_SUBNETS) return;
    this.byClass.set(nodeClass, subnet);
    const used = found.ipConfigurations?.length ?? 0;
    this.used.set({ subnet }, used);
    this.free.set({ subnet }, Math.max(0, addressesOf(found) - RESERVED - used));
  }

  /** The class is deleted, or has no subnet for nodes. */
  forget(nodeClass: string): void {
    const subnet = this.byClass.get(nodeClass);
    this.byClass.delete(nodeClass);
    if (subnet === undefined || [...this.byClass.values()].includes(subnet)) return;
    this.used.delete({ subnet });
    this.free.delete({ subnet });
  }
}

/** Number of addresses in its IPv4 ranges. */
function addressesOf({ addressPrefix, addressPrefixes }: Subnet): number {
  const prefixes = addressPrefixes ?? (addressPrefix === undefined ? [] : [addressPrefix]);
  return prefixes
    .filter((prefix) => !prefix.includes(':'))
    .reduce((sum, prefix) => sum + 2 ** (32 - Number(prefix.split('/')[1] ?? 32)), 0);
}
