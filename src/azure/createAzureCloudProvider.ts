/** Creates the Azure adapter from the cluster's settings, a credential and the Azure environment. */
import { InvariantError } from '../errors/invariantError.ts';
import type { TokenCredential } from '@azure/core-auth';
import type { HttpClient } from '@azure/core-rest-pipeline';
import { Kinds } from '../api/kinds.ts';
import { LearnedAllocatable } from '../catalogue/learnedAllocatable.ts';
import type { Clock } from '../clock/clock.ts';
import type { Random } from '../clock/random.ts';
import type { Kube } from '../kube/kube.ts';
import { silentLog, type Log } from '../kube/log.ts';
import { noMetrics, type MetricsRegistry } from '../kube/metrics.ts';
import { AksMachineLauncher } from './aksMachineLauncher.ts';
import { AksMachinePools } from './aksMachinePools.ts';
import { azureSettings, createsAksMachines, type AzureSettingsInput } from './azureSettings.ts';
import { BootstrapTokens } from './bootstrap/bootstrapTokens.ts';
import { BootstrappingClient } from './bootstrap/bootstrappingClient.ts';
import type { AzureEnvironment } from './azureEnvironment.ts';
import { createAzureClients, scopesOf, type AzureClients } from './clients.ts';
import { AzureCloudProvider } from './cloudProvider.ts';
import { Images } from './images.ts';
import { InPlaceUpdates } from './inPlaceUpdates.ts';
import { Instances } from './instances.ts';
import { InstanceTypes } from './instanceTypes.ts';
import { LaunchTracker } from './launchTracker.ts';
import { meteredLauncher } from './meteredLauncher.ts';
import { LeftoverInterfaces } from './leftoverInterfaces.ts';
import { SharedImageTokens } from './sharedImageTokens.ts';
import { VirtualMachineLauncher } from './virtualMachineLauncher.ts';
import { VirtualMachines } from './virtualMachines.ts';
import { ClusterNetwork, parseSubnetId } from './network.ts';
import { AzureNodeClass } from './nodeClass.ts';
import { Prices } from './prices.ts';
import { Quota, QUOTA_INTERVAL } from './quota.ts';
import { Reservations } from './reservations.ts';
import { Refreshes, type RefreshedSource } from './refreshes.ts';
import { Skus } from './skus.ts';
import { SubnetAddresses } from './subnetAddresses.ts';
import { UnavailableOfferings } from './unavailableOfferings.ts';

export interface AzureCloudProviderOptions extends AzureSettingsInput {
  readonly environment: AzureEnvironment;
  /** Certificate authority trusted in addition to the system's. */
  readonly caPem?: string;
  /** Sends requests to Azure; default: the SDK's own client. */
  readonly httpClient?: HttpClient;
  readonly credential: TokenCredential;
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  readonly log?: Log;
  readonly metrics?: MetricsRegistry;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Resolves when the region's VM sizes are known; fails when Azure cannot be reached. */
export async function createAzureCloudProvider(options: AzureCloudProviderOptions): Promise<AzureCloudProvider> {
  const { environment, clock, random, kube, caPem, httpClient, log = silentLog, metrics = noMetrics } = options;
  const sharedImages = sharedImageTokens(options);
  const clients = createAzureClients({
    environment,
    sharedImages: sharedImages?.policy(),
    caPem,
    httpClient,
    credential: options.credential,
    subscriptionId: options.subscriptionId,
    clock,
    random,
    metrics,
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
  const quota = new Quota({ compute: clients.compute, location, clock, metrics });
  const groups = settings.capacityReservationGroups;
  const reservations =
    groups.length === 0 || createsAksMachines(settings)
      ? undefined
      : new Reservations({ compute: clients.compute, clock, groups, metrics });
  const sources = {
    skus: { name: 'VM sizes', interval: 12 * HOUR, retry: 5 * MINUTE, refresh: (signal) => skus.refresh(signal) },
    prices: { name: 'prices', interval: 12 * HOUR, retry: 5 * MINUTE, refresh: (signal) => prices.refresh(signal) },
    quota: { name: 'quota', interval: QUOTA_INTERVAL, retry: MINUTE, refresh: (signal) => quota.refresh(signal) },
  } satisfies Record<string, RefreshedSource>;
  const reserved: RefreshedSource | undefined = reservations && {
    name: 'capacity reservations',
    interval: 5 * MINUTE,
    retry: MINUTE,
    refresh: (signal) => reservations.refresh(signal),
  };
  const others = reserved === undefined ? [] : [reserved];
  const refreshes = new Refreshes({ sources: [...Object.values(sources), ...others], clock, random, log });
  const learned = new LearnedAllocatable();
  const types = new InstanceTypes({
    quota,
    skus,
    prices,
    unavailable,
    learned,
    reservations,
    metrics,
    location,
    nodeResourceGroup,
    networking: settings,
    memoryOverheadPercent: settings.memoryOverheadPercent,
  });
  const shared = settings.useSig ? { subscriptionId: settings.sigSubscriptionId } : undefined;
  const images = new Images({ clients, subscriptionId, location, clock, shared });
  const pools = new AksMachinePools({
    rest: clients.rest,
    subscriptionId,
    clock,
    own: {
      clusterResourceGroup: settings.clusterResourceGroup,
      clusterName,
      pool: createsAksMachines(settings) || settings.manageExistingAksMachines ? settings.aksMachinesPoolName : '',
      batch: settings.provisionMode === 'aksmachineapiheaderbatch' ? settings.machineBatch : undefined,
    },
  });
  const tracker = new LaunchTracker({ machines, clock, log });
  const bootstrapping =
    settings.provisionMode === 'bootstrappingclient'
      ? new BootstrappingClient({ ...options, settings, scopes: scopesOf(options) })
      : undefined;
  const tokens = new BootstrapTokens({ kube, clock, configured: settings.kubeletBootstrapToken });
  const virtualMachineLauncher = meteredLauncher(
    new VirtualMachineLauncher({ settings, machines, clusterNetwork, tracker, tokens, bootstrapping }),
    metrics,
  );
  const aksMachineLauncher =
    pools.own && new AksMachineLauncher({ settings, machines: pools.own, tracker, clock, log });
  const launcher = createsAksMachines(settings) ? aksMachineLauncher : virtualMachineLauncher;
  if (launcher === undefined) {
    throw new InvariantError(`provision mode ${settings.provisionMode} without a pool of machines`);
  }
  const cloud = new AzureCloudProvider({
    nodeClass: new AzureNodeClass({ clients, images, settings, kube, clock, addresses: new SubnetAddresses(metrics) }),
    settings,
    clock,
    log,
    metrics,
    skus,
    unavailable,
    quota,
    reservations,
    types,
    learned,
    refreshes,
    instances: new Instances({ settings, machines, pools, virtualMachineLauncher, aksMachineLauncher }),
    launcher,
    tracker,
    leftovers: new LeftoverInterfaces({ machines, log }),
    inPlaceUpdates: new InPlaceUpdates({ settings, machines, pools }),
  });
  // Sizes are required for everything. Missing prices have defaults, and without quota figures Azure itself enforces
  // quotas.
  for (const source of [sources.prices, sources.quota, ...others]) {
    refreshes.refresh(source).catch((error: unknown) => log.error(`cannot fetch ${source.name} yet`, { error }));
  }
  await refreshes.refresh(sources.skus);
  return cloud;
}

/** Undefined when no VM of ours boots from a shared gallery. */
function sharedImageTokens(options: AzureCloudProviderOptions): SharedImageTokens | undefined {
  const { useSig = false, sigAccessTokenServerUrl: server = '' } = options;
  if (!useSig || server === '') return undefined;
  const [scope = ''] = scopesOf(options);
  return new SharedImageTokens({ ...options, server, scope });
}

/** Settings that can be discovered from the cluster if the options do not give them. */
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
  // Only with the overlay, nodes have the network's identity as a label.
  if ((options.vnetGuid ?? '') !== '' || networkPluginMode !== 'overlay' || subnet === undefined) return found;
  const { resourceGuid } = await clients.network.virtualNetworks.get(subnet.resourceGroup, subnet.virtualNetwork);
  return { ...found, ...(resourceGuid === undefined ? {} : { vnetGuid: resourceGuid }) };
}
