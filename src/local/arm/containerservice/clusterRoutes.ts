/** Routes of clusters besides reading and writing them: versions, upgrades, stop and start. */
import { accepted, type ArmContext } from '../armContext.ts';
import { imageReleaseRoutes } from '../compute/imageReleases.ts';
import { textAt } from '../jsonPath.ts';
import type { ArmResource } from '../resourceStore.ts';
import { ok, route, type ArmRequest, type ArmResponse, type Route } from '../server/router.ts';
import { aksRefusal } from './aksRefusal.ts';
import { isNewer, listKubernetesVersions, listOrchestrators, upgradesOf } from './kubernetesVersions.ts';
import { AGENT_POOLS, CLUSTER_PATH as CLUSTER, MANAGED_CLUSTERS } from './managedClusters.ts';
import { checkStop } from './nodeProvisioning.ts';

const LOCATION = '/subscriptions/{subscription}/providers/Microsoft.ContainerService/locations/{location}';

/** Turns the VMs of a cluster's pools off or on. */
export type Power = (cluster: ArmResource, state: 'off' | 'on') => void;

/** Returns the newest image for the nodes of a pool. */
export type NewestImage = (cluster: ArmResource, pool: ArmResource) => string;

export function clusterReadRoutes(context: ArmContext, newestImage: NewestImage): readonly Route[] {
  return [
    ...imageReleaseRoutes(context),
    route('managedClusters.listKubernetesVersions', 'GET', `${LOCATION}/kubernetesVersions`, () =>
      ok(listKubernetesVersions()),
    ),
    route('containerServices.listOrchestrators', 'GET', `${LOCATION}/orchestrators`, ({ path }) =>
      ok({ id: path, name: 'default', properties: { orchestrators: listOrchestrators() } }),
    ),
    route('managedClusters.getUpgradeProfile', 'GET', `${CLUSTER}/upgradeProfiles/default`, (request) =>
      upgradeProfile(context, request),
    ),
    route('agentPools.getUpgradeProfile', 'GET', `${CLUSTER}/agentPools/{child}/upgradeProfiles/default`, (request) =>
      poolUpgradeProfile(context, request, newestImage),
    ),
    route('agentPools.listVersions', 'GET', `${CLUSTER}/availableAgentPoolVersions`, (request) =>
      poolVersions(context, request),
    ),
  ];
}

export function clusterPowerRoutes(context: ArmContext, power: Power): readonly Route[] {
  const change =
    (code: 'Stopped' | 'Running'): Route['handle'] =>
    (request): ArmResponse => {
      const cluster = find(context, request);
      if (code === 'Stopped') checkStop(cluster.properties, 'cluster');
      checkPower(cluster, code);
      const operation = context.operations.beginFor(request, {
        milliseconds: context.durations.managedCluster,
        finish: () => {
          const now = context.store.find(cluster.id);
          if (now === undefined) return;
          power(now, code === 'Stopped' ? 'off' : 'on');
          context.store.put({ ...now, properties: { ...now.properties, powerState: { code } } });
        },
        failed: () => undefined,
      });
      return accepted(context, request, operation);
    };
  return [
    route('managedClusters.stop', 'POST', `${CLUSTER}/stop`, change('Stopped')),
    route('managedClusters.start', 'POST', `${CLUSTER}/start`, change('Running')),
  ];
}

/** Throws when the cluster is in the wanted power state already. */
function checkPower({ properties }: ArmResource, code: 'Stopped' | 'Running'): void {
  if (textAt(properties, 'powerState', 'code') !== code) return;
  const state = textAt(properties, 'provisioningState') ?? '';
  const what = code === 'Stopped' ? 'stopping' : 'starting';
  throw aksRefusal('BadRequest.power', { state, code, what });
}

function find({ store }: ArmContext, { parameters: { group = '', name = '' } }: ArmRequest): ArmResource {
  return store.get(group, MANAGED_CLUSTERS, name);
}

function upgradeProfile(context: ArmContext, request: ArmRequest): ArmResponse {
  const cluster = find(context, request);
  const version = textAt(cluster.properties, 'kubernetesVersion') ?? '';
  const pools = context.store.children(cluster.id, AGENT_POOLS);
  const profile = (name: string, from: string, osType = 'Linux'): object => ({
    ...(name === '' ? {} : { name }),
    kubernetesVersion: from,
    osType,
    upgrades: upgradesOf(from).map((each) => ({ kubernetesVersion: each })),
  });
  return ok({
    id: `${cluster.id}/upgradeprofiles/default`,
    name: 'default',
    type: `${MANAGED_CLUSTERS}/upgradeprofiles`,
    properties: {
      controlPlaneProfile: profile('', version),
      agentPoolProfiles: pools.map(({ name, properties }) =>
        profile(name, textAt(properties, 'orchestratorVersion') ?? version, textAt(properties, 'osType')),
      ),
    },
  });
}

function poolUpgradeProfile(context: ArmContext, request: ArmRequest, newestImage: NewestImage): ArmResponse {
  const cluster = find(context, request);
  const name = request.parameters['child'] ?? '';
  const pool = context.store.find(`${cluster.id}/agentPools/${name}`);
  if (pool === undefined) throw aksRefusal('NotFound.agentpool', { name });
  const from = textAt(pool.properties, 'orchestratorVersion') ?? '';
  const most = textAt(cluster.properties, 'kubernetesVersion') ?? '';
  return {
    status: 200,
    body: {
      id: `${pool.id}/upgradeProfiles/default`,
      name: 'default',
      type: `${AGENT_POOLS}/upgradeProfiles`,
      properties: {
        kubernetesVersion: from,
        osType: textAt(pool.properties, 'osType') ?? 'Linux',
        latestNodeImageVersion: newestImage(cluster, pool),
        // A pool may not be newer than its control plane.
        upgrades: upgradesOf(from)
          .filter((each) => !isNewer(each, most))
          .map((each) => ({ kubernetesVersion: each })),
      },
    },
  };
}

function poolVersions(context: ArmContext, request: ArmRequest): ArmResponse {
  const cluster = find(context, request);
  const version = textAt(cluster.properties, 'kubernetesVersion') ?? '';
  return ok({
    id: `${cluster.id}/availableagentpoolversions`,
    name: 'default',
    properties: { agentPoolVersions: [{ default: true, kubernetesVersion: version }] },
  });
}
