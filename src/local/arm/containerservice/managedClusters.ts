/** Managed clusters, their maintenance configurations, and the Kubernetes versions of a location. */
import { listed, type ArmContext } from '../armContext.ts';
import { ArmError } from '../armError.ts';
import { IMAGE_GALLERIES, IMAGE_VERSIONS } from '../compute/imageCatalogue.ts';
import { objectAt, textAt, type JsonObject } from '../jsonPath.ts';
import type { ResourceKind, Wish } from '../resources/resourceKind.ts';
import { withDefaults } from '../resources/resourceRoutes.ts';
import { present, type ArmResource } from '../resourceStore.ts';
import { route, type Route } from '../server/router.ts';
import { aksError } from './aksError.ts';

export const MANAGED_CLUSTERS = 'Microsoft.ContainerService/managedClusters';
export const AGENT_POOLS = 'Microsoft.ContainerService/managedClusters/agentPools';
const MAINTENANCE = 'Microsoft.ContainerService/managedClusters/maintenanceConfigurations';

/** Versions of Kubernetes on sale, and their patches, newest last. */
const KUBERNETES: Readonly<Record<string, readonly string[]>> = {
  '1.32': ['1.32.6', '1.32.9'],
  '1.33': ['1.33.3', '1.33.5'],
  '1.34': ['1.34.1', '1.34.4'],
  '1.35': ['1.35.1', '1.35.3'],
  '1.36': ['1.36.1', '1.36.3'],
};
const DEFAULT_KUBERNETES = '1.36.3';
const SCHEDULES: readonly string[] = ['default', 'aksManagedAutoUpgradeSchedule', 'aksManagedNodeOSUpgradeSchedule'];
const MIN_WINDOW_HOURS = 4;
const MAX_WINDOW_HOURS = 24;

export interface ClusterHooks {
  /** Makes the group and the network of a cluster's nodes, when they are not there. */
  readonly layOut: (cluster: ArmResource) => void;
  /** Brings the agent pools to what the cluster's body says. */
  readonly putPools: (cluster: ArmResource, wish: Wish) => void;
  /** Removes the group with everything in it. */
  readonly tearDown: (nodeResourceGroup: string) => void;
}

export function clusterKinds({ layOut, putPools, tearDown }: ClusterHooks): readonly ResourceKind[] {
  return [
    {
      type: MANAGED_CLUSTERS,
      tracked: true,
      put: 'async',
      patch: 'tags',
      remove: 'accepted',
      duration: 'managedCluster',
      members: ['sku', 'kind'],
      properties: clusterOf,
      afterPut: (_context, cluster, wish) => {
        layOut(cluster);
        putPools(cluster, wish);
      },
      show: showCluster,
      afterDelete: (_context, cluster) => tearDown(textAt(cluster.properties, 'nodeResourceGroup') ?? ''),
    },
    {
      type: MAINTENANCE,
      tracked: false,
      put: 'sync',
      remove: 'sync',
      duration: 'other',
      properties: maintenanceOf,
    },
  ];
}

export function clusterReadRoutes(): readonly Route[] {
  const location = '/subscriptions/{subscription}/providers/Microsoft.ContainerService/locations/{location}';
  return [
    route('nodeImageVersions.list', 'GET', `${location}/nodeImageVersions`, () =>
      listed(
        IMAGE_GALLERIES.flatMap((gallery) =>
          gallery.images.flatMap((image) =>
            IMAGE_VERSIONS.map(({ version }) => ({
              fullName: `${gallery.name}-${image.name}-${version}`,
              os: gallery.name,
              sku: image.name,
              version,
            })),
          ),
        ),
      ),
    ),
    route('managedClusters.listKubernetesVersions', 'GET', `${location}/kubernetesVersions`, () => ({
      status: 200,
      body: {
        values: Object.entries(KUBERNETES).map(([version, patches]) => ({
          version,
          capabilities: { supportPlan: ['KubernetesOfficial'] },
          isPreview: false,
          ...(patches.includes(DEFAULT_KUBERNETES) ? { isDefault: true } : {}),
          patchVersions: Object.fromEntries(
            patches.map((patch, index) => [patch, { upgrades: patches.slice(index + 1) }]),
          ),
        })),
      },
    })),
  ];
}

/** The patch that a version means: `1.34` is the newest of its minor. */
export function resolveKubernetes(version: string | undefined): string {
  if (version === undefined || version === '') return DEFAULT_KUBERNETES;
  const patches = KUBERNETES[version.split('.').slice(0, 2).join('.')];
  const resolved = version.split('.').length === 2 ? patches?.at(-1) : patches?.find((patch) => patch === version);
  if (resolved !== undefined) return resolved;
  throw aksError(
    400,
    'K8sVersionNotSupported',
    `Version '${version}' is not supported in this region. Please use [az aks get-versions] command to get the supported version list in this region.`,
  );
}

function newer(left: string, right: string): boolean {
  const [a, b] = [left, right].map((version) => version.split('.').map(Number));
  for (let index = 0; index < 3; index += 1) {
    const difference = (a?.[index] ?? 0) - (b?.[index] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return false;
}

function clusterOf(wish: Wish): JsonObject {
  const { context, existing, name, id, body } = wish;
  const before = existing?.properties;
  const given = objectAt(body, 'properties');
  const version = resolveKubernetes(textAt(given, 'kubernetesVersion') ?? textAt(before, 'kubernetesVersion'));
  const group = id.split('/')[4] ?? '';
  const wantedGroup = textAt(given, 'nodeResourceGroup');
  const nodeResourceGroup =
    textAt(before, 'nodeResourceGroup') ?? wantedGroup ?? `MC_${group}_${name}_${context.location}`;
  if (
    before !== undefined &&
    wantedGroup !== undefined &&
    wantedGroup.toLowerCase() !== nodeResourceGroup.toLowerCase()
  ) {
    throw aksError(400, 'PropertyChangeNotAllowed', `Changing property 'properties.nodeResourceGroup' is not allowed.`);
  }
  if (before !== undefined && newer(textAt(before, 'kubernetesVersion') ?? '', version)) {
    throw aksError(
      400,
      'OperationNotAllowed',
      `Downgrading of Kubernetes from version ${textAt(before, 'kubernetesVersion') ?? ''} to ${version} is not allowed.`,
    );
  }
  const dnsPrefix = textAt(given, 'dnsPrefix') ?? textAt(before, 'dnsPrefix') ?? name;
  const { agentPoolProfiles: _pools, ...rest } = withDefaults(body, {
    enableRBAC: true,
    supportPlan: 'KubernetesOfficial',
    maxAgentPools: 100,
    disableLocalAccounts: false,
    nodeProvisioningProfile: { mode: 'Manual', defaultNodePools: 'Auto' },
    networkProfile: { networkPlugin: 'azure', networkPluginMode: 'overlay', networkDataplane: 'cilium' },
  });
  return {
    ...rest,
    kubernetesVersion: version,
    currentKubernetesVersion: version,
    dnsPrefix,
    fqdn:
      textAt(before, 'fqdn') ?? `${dnsPrefix}-${context.random.uuid().slice(0, 8)}.hcp.${context.location}.azmk8s.io`,
    nodeResourceGroup,
    resourceUID: textAt(before, 'resourceUID') ?? context.random.uuid(),
    powerState: { code: 'Running' },
  };
}

function showCluster(context: ArmContext, cluster: ArmResource): object {
  const pools = context.store.children(cluster.id, AGENT_POOLS);
  return {
    ...cluster,
    eTag: cluster.etag,
    properties: {
      ...cluster.properties,
      agentPoolProfiles: pools.map((pool) => ({ name: pool.name, ...present(pool).properties })),
    },
  };
}

function maintenanceOf({ name, body }: Wish): JsonObject {
  if (!SCHEDULES.includes(name)) {
    throw aksError(
      400,
      'InvalidParameter',
      `The maintenance configuration name '${name}' is invalid. It must be one of ${SCHEDULES.join(', ')}.`,
    );
  }
  const window = objectAt(body, 'properties', 'maintenanceWindow');
  if (name !== 'default') {
    const hours = window['durationHours'];
    if (typeof hours !== 'number' || hours < MIN_WINDOW_HOURS || hours > MAX_WINDOW_HOURS) {
      throw aksError(
        400,
        'InvalidParameter',
        `The value of parameter maintenanceWindow.durationHours is invalid. It must be between ${MIN_WINDOW_HOURS} and ${MAX_WINDOW_HOURS}.`,
      );
    }
    if (Object.keys(objectAt(window, 'schedule')).length !== 1) {
      throw new ArmError(
        400,
        'InvalidParameter',
        'One and only one of the schedule types must be given: daily, weekly, absoluteMonthly, relativeMonthly.',
        {
          target: 'maintenanceWindow.schedule',
        },
      );
    }
  }
  return {
    ...objectAt(body, 'properties'),
    ...(name === 'default' ? {} : { maintenanceWindow: { utcOffset: '+00:00', ...window } }),
  };
}
