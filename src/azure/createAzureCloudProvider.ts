/** Puts the Azure adapter together from the cluster's settings, a credential and the Azure environment. */
import type { TokenCredential } from '@azure/core-auth';
import type { HttpClient } from '@azure/core-rest-pipeline';
import { Kinds } from '../api/kinds.ts';
import type { Clock } from '../clock/clock.ts';
import type { Random } from '../clock/random.ts';
import type { Kube } from '../kube/kube.ts';
import { silentLog, type Log } from '../kube/log.ts';
import { azureSettings, type AzureSettingsInput } from './azureSettings.ts';
import type { AzureEnvironment } from './azureEnvironment.ts';
import { createAzureClients, type AzureClients } from './clients.ts';
import { AzureCloudProvider } from './cloudProvider.ts';
import { Images } from './images.ts';
import { InstanceTypes } from './instanceTypes.ts';
import { VirtualMachines } from './virtualMachines.ts';
import { ClusterNetwork, parseSubnetId } from './network.ts';
import { AzureNodeClass } from './nodeClass.ts';
import { Prices } from './prices.ts';
import { Quota, QUOTA_INTERVAL } from './quota.ts';
import { Refreshes, type RefreshedSource } from './refreshes.ts';
import { Skus } from './skus.ts';
import { UnavailableOfferings } from './unavailableOfferings.ts';

export interface AzureCloudProviderOptions extends AzureSettingsInput {
  readonly environment: AzureEnvironment;
  /** A certificate authority to trust besides the system's. */
  readonly caPem?: string;
  /** What carries requests to Azure; the SDK's own client over the network when absent. */
  readonly httpClient?: HttpClient;
  readonly credential: TokenCredential;
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  readonly log?: Log;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Resolves once the sizes of the region are known; fails when Azure cannot be asked. */
export async function createAzureCloudProvider(options: AzureCloudProviderOptions): Promise<AzureCloudProvider> {
  const { environment, clock, random, kube, caPem, httpClient, log = silentLog } = options;
  const clients = createAzureClients({
    environment,
    caPem,
    httpClient,
    credential: options.credential,
    subscriptionId: options.subscriptionId,
    clock,
    random,
  });
  const settings = azureSettings({
    billingExtension: environment.billingExtension,
    ...(await discover(options, clients)),
    ...options,
  });
  const { location, nodeResourceGroup, clusterName } = settings;
  const skus = new Skus(clients.compute, location);
  const prices = new Prices({
    endpoint: environment.prices,
    location,
    clock,
    caPem,
    httpClient,
  });
  const unavailable = new UnavailableOfferings(clock);
  const clusterNetwork = new ClusterNetwork(clients.network, nodeResourceGroup, clock);
  const { subscriptionId } = settings;
  const machines = new VirtualMachines({
    clients,
    clusterNetwork,
    subscriptionId,
    nodeResourceGroup,
    clusterName,
    clock,
    log,
  });
  const quota = new Quota(clients.compute, location, clock);
  const sources = {
    skus: { name: 'VM sizes', interval: 12 * HOUR, retry: 5 * MINUTE, refresh: (signal) => skus.refresh(signal) },
    prices: { name: 'prices', interval: 12 * HOUR, retry: 5 * MINUTE, refresh: (signal) => prices.refresh(signal) },
    quota: { name: 'quota', interval: QUOTA_INTERVAL, retry: MINUTE, refresh: (signal) => quota.refresh(signal) },
  } satisfies Record<string, RefreshedSource>;
  const refreshes = new Refreshes({ sources: Object.values(sources), clock, log });
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
    unavailable,
    types,
    refreshes,
    machines,
    clusterNetwork,
  });
  // Nothing can run without sizes. Prices come when they come, and without quota Azure refuses by itself.
  for (const source of [sources.prices, sources.quota]) {
    refreshes.refresh(source).catch((error: unknown) => log.error(`cannot fetch ${source.name} yet`, { error }));
  }
  await refreshes.refresh(sources.skus);
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
