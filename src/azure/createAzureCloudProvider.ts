/**
 * Puts the Azure adapter together. In: where Azure is, who we are there, and what the cluster is called. Out: a cloud
 * provider that knows the sizes and prices of its region, and the status of node classes.
 */
import type { TokenCredential } from '@azure/core-auth';
import type { HttpClient } from '@azure/core-rest-pipeline';
import { Kinds } from '../api/kinds.ts';
import type { Clock } from '../clock/clock.ts';
import type { Random } from '../clock/random.ts';
import type { Kube } from '../kube/kube.ts';
import { silentLog, type Log } from '../kube/log.ts';
import { azureSettings, type AzureSettingsInput } from './azureSettings.ts';
import { createAzureClients, type AzureClients } from './clients.ts';
import { AzureCloudProvider } from './cloudProvider.ts';
import { Images } from './images.ts';
import { InstanceTypes } from './instanceTypes.ts';
import { Machines } from './machines.ts';
import { ClusterNetwork, parseSubnetId } from './network.ts';
import { AzureNodeClass } from './nodeClass.ts';
import { Prices } from './prices.ts';
import { Quota } from './quota.ts';
import { Skus } from './skus.ts';
import { UnavailableOfferings } from './unavailableOfferings.ts';

export interface AzureCloudProviderOptions extends AzureSettingsInput {
  readonly endpoint: string;
  /** A certificate authority to trust besides the system's. */
  readonly caPem?: string;
  /** What carries requests to Azure; the SDK's own client over the network when absent. */
  readonly httpClient?: HttpClient;
  readonly credential: TokenCredential;
  /** The price list without its query; by default Azure's public one, or the endpoint's own when it is not Azure's. */
  readonly pricesEndpoint?: string;
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  readonly log?: Log;
}

const PUBLIC_ENDPOINT = 'https://management.azure.com';
/** Public Azure, China and US Government. */
const BILLING_ENDPOINTS: ReadonlySet<string> = new Set([
  PUBLIC_ENDPOINT,
  'https://management.chinacloudapi.cn',
  'https://management.usgovcloudapi.net',
]);
const PUBLIC_PRICES = 'https://prices.azure.com/api/retail/prices';

/** Resolves once the sizes of the region are known; fails when Azure cannot be asked. */
export async function createAzureCloudProvider(options: AzureCloudProviderOptions): Promise<AzureCloudProvider> {
  const { clock, random, kube, caPem, httpClient, log = silentLog } = options;
  const endpoint = options.endpoint.replace(/\/$/, '');
  const clients = createAzureClients({
    endpoint,
    caPem,
    httpClient,
    credential: options.credential,
    subscriptionId: options.subscriptionId,
    clock,
    random,
  });
  const settings = azureSettings({
    billingExtension: BILLING_ENDPOINTS.has(endpoint),
    ...(await discover(options, clients)),
    ...options,
  });
  const { location, nodeResourceGroup, clusterName } = settings;
  const skus = new Skus(clients.compute, location);
  const prices = new Prices({
    endpoint:
      options.pricesEndpoint ?? (endpoint === PUBLIC_ENDPOINT ? PUBLIC_PRICES : `${endpoint}/api/retail/prices`),
    location,
    clock,
    caPem,
    httpClient,
  });
  const unavailable = new UnavailableOfferings(clock);
  const clusterNetwork = new ClusterNetwork(clients.network, nodeResourceGroup, clock);
  const { subscriptionId } = settings;
  const machines = new Machines({
    clients,
    clusterNetwork,
    subscriptionId,
    nodeResourceGroup,
    clusterName,
    clock,
    log,
  });
  const quota = new Quota(clients.compute, location, clock);
  const types = new InstanceTypes({
    quota,
    skus,
    prices,
    unavailable,
    location,
    nodeResourceGroup,
    networking: settings,
    memoryOverheadPercent: settings.memoryOverheadPercent,
  });
  const images = new Images(clients.compute, location, clock);
  const cloud = new AzureCloudProvider({
    nodeClass: new AzureNodeClass({ clients, images, settings, kube, clock }),
    settings,
    clock,
    log,
    skus,
    prices,
    unavailable,
    types,
    quota,
    machines,
    clusterNetwork,
  });
  await cloud.refresh();
  return cloud;
}

/** What the cluster itself can tell when the options do not. */
async function discover(
  options: AzureCloudProviderOptions,
  clients: AzureClients,
): Promise<{ readonly vnetGuid?: string; readonly dnsServiceIp?: string }> {
  const { kube, log = silentLog, networkPluginMode = 'overlay' } = options;
  const subnet = parseSubnetId(options.vnetSubnetId);
  const dns = await kube
    .get(Kinds.Service, { namespace: 'kube-system', name: 'kube-dns' })
    .catch((error: unknown) => log.info('The DNS service is unknown; its usual address is assumed', { error }));
  const address = dns?.spec?.clusterIP;
  const found = address === undefined || address === '' ? {} : { dnsServiceIp: address };
  // Nodes carry the network's identity as a label, with the overlay only.
  if ((options.vnetGuid ?? '') !== '' || networkPluginMode !== 'overlay' || subnet === undefined) return found;
  const { resourceGuid } = await clients.network.virtualNetworks.get(subnet.resourceGroup, subnet.virtualNetwork);
  return { ...found, ...(resourceGuid === undefined ? {} : { vnetGuid: resourceGuid }) };
}
