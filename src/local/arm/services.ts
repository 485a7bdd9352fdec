/** Composes the services of the local Azure and the router over all their routes. */
import type { Clock } from '../../clock/clock.ts';
import type { ArmContext } from './armContext.ts';
import { COMPUTE_KINDS } from './compute/computeKinds.ts';
import { RESERVATION_KINDS } from './compute/reservationKinds.ts';
import { Images } from './compute/images.ts';
import { ScheduledEvents } from './compute/scheduledEvents.ts';
import { Skus, type SkuRestriction } from './compute/skus.ts';
import { Usages, type QuotaLimits } from './compute/usages.ts';
import { virtualMachineRoutes } from './compute/virtualMachineRoutes.ts';
import { AgentPools } from './containerservice/agentPools.ts';
import { clusterCredentialRoutes, type KubeconfigOf } from './containerservice/clusterCredentials.ts';
import { ClusterNodes } from './containerservice/clusterNodes.ts';
import { MachinesApi } from './containerservice/machines.ts';
import { clusterPowerRoutes, clusterReadRoutes } from './containerservice/clusterRoutes.ts';
import { clusterNameOf, type ClusterName } from './containerservice/managedCluster.ts';
import { clusterKinds, MANAGED_CLUSTERS } from './containerservice/managedClusters.ts';
import type { NodeProvisioningUse } from './containerservice/nodeProvisioning.ts';
import { nodeBootstrappingRoutes } from './containerservice/nodeBootstrapping.ts';
import { LocalClusters } from './containerservice/localClusters.ts';
import { PoolRollouts, type DrainNode, type MarkNodes } from './containerservice/poolRollouts.ts';
import { authorizationRoutes, linkIdentities } from './directory/authorization.ts';
import { cloudMetadataRoutes } from './directory/cloudMetadata.ts';
import { Deployments } from './deployments/deployments.ts';
import { directoryRoutes } from './directory/directory.ts';
import { IDENTITY_KINDS } from './directory/identityKinds.ts';
import { metadataRoutes } from './directory/metadataService.ts';
import { Principals, type Principal } from './directory/principals.ts';
import { REGISTRY_KIND } from './directory/registries.ts';
import { Tokens, type LocalCredentials } from './directory/tokens.ts';
import type { FaultPlan } from './faultPlan.ts';
import type { JsonObject } from './jsonPath.ts';
import { NetworkInterfaces } from './network/networkInterfaces.ts';
import { networkKinds } from './network/networkKinds.ts';
import { SubnetAddresses } from './network/subnetAddresses.ts';
import { featureRoutes } from './resources/features.ts';
import { genericResourceRoutes } from './resources/genericResources.ts';
import { operationRoutes } from './resources/operationStatus.ts';
import { resourceGraphRoutes } from './resources/resourceGraph.ts';
import { resourceGroupRoutes } from './resources/resourceGroups.ts';
import { resourceRoutes } from './resources/resourceRoutes.ts';
import { subscriptionRoutes } from './resources/subscriptions.ts';
import { tagRoutes } from './resources/tags.ts';
import { Router } from './server/router.ts';
import { VIRTUAL_MACHINES, VirtualMachines } from './virtualMachines.ts';

/** Fixed, because VMs that are kept between processes refer to images by it. */
const IMAGE_SUBSCRIPTION = '10000000-0000-4000-8000-000000000001';

export interface ServicesOptions {
  readonly context: ArmContext;
  readonly credentials: LocalCredentials;
  readonly faults: FaultPlan;
  /** Limits in vCPUs that replace the default ones. */
  readonly quota: QuotaLimits;
  /** Sizes that the subscription may not use. */
  readonly restrictions: readonly SkuRestriction[];
  readonly kubeconfig: KubeconfigOf;
  /** Returns what a cluster uses of node auto-provisioning; undefined when its API server does not run. */
  readonly provisioningUse: (cluster: ClusterName) => NodeProvisioningUse | undefined;
  /** Drains a node before AKS deletes it. */
  readonly drainNode: DrainNode;
  /** Applies changed labels and taints of an agent pool to its nodes. */
  readonly markNodes: MarkNodes;
  /** The clock of clients in other processes, by which tokens expire. */
  readonly tokenClock: Clock;
}

export type Services = ReturnType<typeof createServices>;

// Without a return type: `Services` is inferred from the function.
export function createServices(options: ServicesOptions) {
  const { context, credentials } = options;
  const { clock, random, store } = context;
  const owner: Principal = {
    clientId: credentials.clientId,
    clientSecret: credentials.clientSecret,
    objectId: random.uuid(),
    assignments: [{ role: 'Owner', scope: '/' }],
  };
  const principals = new Principals();
  principals.add(owner);
  const imageReader: Principal = {
    clientId: random.uuid(),
    clientSecret: random.uuid(),
    objectId: random.uuid(),
    assignments: [{ role: 'Reader', scope: `/subscriptions/${IMAGE_SUBSCRIPTION}` }],
  };
  principals.add(imageReader);
  linkIdentities(context, principals);
  const tokens = new Tokens(options.tokenClock, credentials.tenantId, random.uuid(), principals);
  const images = new Images(context, tokens, IMAGE_SUBSCRIPTION);
  const addresses = new SubnetAddresses(store);
  const interfaces = new NetworkInterfaces(context, addresses);
  const usages = new Usages(context, options.quota);
  const skus = new Skus(context, options.restrictions);
  const events = new ScheduledEvents(clock, random);
  const machines = new VirtualMachines({ context, skus, images, interfaces, usages, events });
  const clusters = new LocalClusters(context, machines);
  const nodes = new ClusterNodes({
    context,
    machines,
    interfaces,
    faults: options.faults,
    imageToken: () => tokens.issue(imageReader, 'images'),
    imageSubscription: images.sharedSubscription,
    defaultSubnetId: (group) => clusters.networkOf(group).subnetId,
  });
  const machinesApi = new MachinesApi({
    context,
    nodes,
    interfaces,
    isRestricted: (size) => skus.isRestricted(size, undefined),
  });
  const rollouts = new PoolRollouts({ context, nodes: machinesApi, drain: options.drainNode, mark: options.markNodes });
  const pools = new AgentPools(context, nodes, machinesApi, rollouts);
  const kinds = [
    ...networkKinds(addresses),
    interfaces.kind(),
    ...COMPUTE_KINDS,
    ...RESERVATION_KINDS,
    ...IDENTITY_KINDS,
    REGISTRY_KIND,
    ...clusterKinds({
      layOut: (cluster) => clusters.layOut(cluster),
      checkPools: (cluster, write) => clusters.checkPools(pools, cluster, write),
      putPools: (cluster, write) => clusters.putPools(pools, cluster, write),
      tearDown: (group) => clusters.empty(group, true),
      provisioningUse: (cluster) => options.provisioningUse(clusterNameOf(cluster)),
      tenantId: credentials.tenantId,
    }),
  ];
  const types = [...kinds.map(({ type }) => type), VIRTUAL_MACHINES];
  const deployments = new Deployments(context, { tenantId: credentials.tenantId, router: () => router });
  const router: Router = new Router([
    ...subscriptionRoutes(context, credentials.tenantId, types),
    ...resourceGroupRoutes(context, (group) => clusters.empty(group, false)),
    ...featureRoutes(context),
    ...authorizationRoutes(context),
    ...deployments.routes(),
    ...genericResourceRoutes(context),
    ...tagRoutes(context),
    ...operationRoutes(context),
    ...resourceGraphRoutes(context, credentials.tenantId),
    ...kinds.flatMap((kind) => resourceRoutes(context, kind)),
    ...virtualMachineRoutes(context, machines, events),
    ...usages.routes(),
    ...skus.routes(),
    ...images.routes(),
    ...clusterReadRoutes(context, (cluster, pool) => pools.newestImage(cluster, pool.properties)),
    ...clusterPowerRoutes(context, (cluster, state) => clusters.power(cluster, state)),
    ...clusterCredentialRoutes(context, options.kubeconfig),
    ...pools.routes(),
    ...machinesApi.routes(pools),
    ...nodeBootstrappingRoutes(context, tokens),
    ...directoryRoutes(context, tokens, imageReader),
    ...cloudMetadataRoutes(context, credentials.tenantId),
    ...metadataRoutes({
      context,
      tokens,
      events,
      find: (name) => machines.byName(name),
      defaultClientId: owner.clientId,
    }),
  ]);
  return {
    router,
    machines,
    usages,
    skus,
    events,
    images,
    tokens,
    principals,
    /** The principal that is Owner of everything. */
    owner,
    /** Adds the initial cluster. */
    addCluster: (cluster: ClusterName, nodeResourceGroup: string) => clusters.add(pools, cluster, nodeResourceGroup),
    /** Returns the network of a cluster's nodes, by the node resource group. */
    networkOf: (nodeResourceGroup: string) => clusters.networkOf(nodeResourceGroup),
    /** Upgrades a cluster and its agent pools. */
    upgradeCluster: ({ resourceGroup, name }: ClusterName, version: string): void =>
      clusters.upgrade(pools, store.get(resourceGroup, MANAGED_CLUSTERS, name), version),
    /** Writes an agent pool of a cluster and marks it as Succeeded at once, while its nodes boot. */
    addPool: ({ resourceGroup, name: clusterName }: ClusterName, name: string, properties: JsonObject): void => {
      const { id } = pools.write(store.get(resourceGroup, MANAGED_CLUSTERS, clusterName), name, properties);
      pools.settle(id, 'Succeeded');
    },
    /** Resumes unfinished changes after the store was restored. */
    resume: (): void => {
      machines.resume();
      clusters.resume();
      rollouts.resume();
    },
    /** Cancels scheduled events and rollouts. */
    close: (): void => {
      events.close();
      rollouts.close();
    },
    /** The types whose changes `resume` finishes. */
    resumedTypes: new Set([VIRTUAL_MACHINES]) as ReadonlySet<string>,
  };
}
