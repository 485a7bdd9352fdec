/** Agent pools: clients create the machines in pools of mode `Machines`; others have as many nodes as their count. */
import { accepted, changed, paged, type ArmContext } from '../armContext.ts';
import type { ArmError } from '../armError.ts';
import { refusal } from '../refusal.ts';
import { listAt, objectAt, textAt, type JsonObject } from '../jsonPath.ts';
import { checkGroup } from '../resources/requestRules.ts';
import { present, type ArmResource } from '../resourceStore.ts';
import { ok, route, type ArmRequest, type ArmResponse, type Route } from '../server/router.ts';
import { aksRefusal, invalidParameter, notOneOf } from './aksRefusal.ts';
import type { ClusterNodes } from './clusterNodes.ts';
import { isFeatureRegistered } from '../resources/features.ts';
import { resolveKubernetes } from './kubernetesVersions.ts';
import { AGENT_POOLS, CLUSTER_PATH, CONTAINER_SERVICE, MANAGED_CLUSTERS } from './managedClusters.ts';
import { defaultMaxPods } from './networkProfile.ts';
import { checkAutomatic, checkStop, isAutomatic } from './nodeProvisioning.ts';
import { checkMarks, checkPoolSize } from './poolRules.ts';
import { MACHINES, type PoolNodes, type PoolRollouts } from './poolRollouts.ts';
import type { Operation } from '../operations.ts';

const POOL_NAME = /^[a-z][a-z0-9]{0,11}$/;
const MODES: readonly string[] = ['System', 'User', 'Gateway', 'Machines', 'ManagedSystem'];
const FIXED: readonly string[] = ['vmSize', 'osType', 'osDiskSizeGB', 'availabilityZones', 'vnetSubnetID'];

export class AgentPools {
  private readonly context: ArmContext;
  private readonly nodes: ClusterNodes;
  private readonly poolNodes: PoolNodes;
  private readonly rollouts: PoolRollouts;

  constructor(context: ArmContext, nodes: ClusterNodes, poolNodes: PoolNodes, rollouts: PoolRollouts) {
    this.context = context;
    this.nodes = nodes;
    this.poolNodes = poolNodes;
    this.rollouts = rollouts;
  }

  routes(): readonly Route[] {
    const pool = `${CLUSTER_PATH}/agentPools/{child}`;
    return [
      route('agentPools.list', 'GET', `${CLUSTER_PATH}/agentPools`, (request) =>
        paged(this.context, request, this.context.store.children(this.cluster(request).id, AGENT_POOLS), show),
      ),
      route('agentPools.get', 'GET', pool, (request) => ok(show(this.find(request)))),
      route('agentPools.createOrUpdate', 'PUT', pool, (request) => this.put(request)),
      route('agentPools.delete', 'DELETE', pool, (request) => this.delete(request)),
      route('agentPools.upgradeNodeImageVersion', 'POST', `${pool}/upgradeNodeImageVersion`, (request) =>
        this.upgradeNodeImage(request),
      ),
      route('agentPools.deleteMachines', 'POST', `${pool}/deleteMachines`, (request) => this.deleteMachines(request)),
    ];
  }

  cluster({ parameters: { group = '', name = '' } }: ArmRequest): ArmResource {
    return this.context.store.get(group, MANAGED_CLUSTERS, name);
  }

  /** Throws AKS's 404 when there is no such pool. */
  find(request: ArmRequest): ArmResource {
    const cluster = this.cluster(request);
    const name = request.parameters['child'] ?? '';
    const found = this.context.store.find(`${cluster.id}/agentPools/${name}`);
    if (found === undefined) throw aksRefusal('NotFound.agentpool', { name });
    return found;
  }

  /** Throws when the cluster cannot have such a pool. */
  check(cluster: ArmResource, name: string, given: JsonObject): void {
    this.propertiesOf(cluster, name, given, this.context.store.find(`${cluster.id}/agentPools/${name}`));
  }

  /** Writes a pool, by itself or as part of its cluster, and begins to change its nodes. */
  write(cluster: ArmResource, name: string, given: JsonObject): ArmResource {
    const existing = this.context.store.find(`${cluster.id}/agentPools/${name}`);
    return this.store(cluster, name, this.propertiesOf(cluster, name, given, existing), existing);
  }

  private store(
    cluster: ArmResource,
    name: string,
    properties: JsonObject,
    existing: ArmResource | undefined,
  ): ArmResource {
    const etag = this.context.random.uuid();
    const pool: ArmResource = {
      id: existing?.id ?? `${cluster.id}/agentPools/${name}`,
      name,
      type: AGENT_POOLS,
      etag,
      properties: { ...properties, eTag: etag, provisioningState: existing === undefined ? 'Creating' : 'Updating' },
    };
    this.context.store.put(pool);
    this.rollouts.bring(cluster, pool);
    if (existing !== undefined) this.rollouts.mark(cluster, existing, pool);
    if (existing !== undefined && powerOf(existing.properties) !== powerOf(properties)) this.turn(cluster, pool);
    return pool;
  }

  /** Turns the VMs of a pool off or on by its power state. */
  private turn(cluster: ArmResource, pool: ArmResource): void {
    const state = powerOf(pool.properties) === 'Stopped' ? 'off' : 'on';
    for (const { hidden } of this.context.store.children(pool.id, MACHINES)) {
      this.nodes.power(cluster, textAt(hidden, 'vmName') ?? '', state);
    }
  }

  /** Sets the provisioning state of a pool; `Succeeded` waits for the end of a rollout. */
  settle(id: string, provisioningState: string): void {
    const found = this.context.store.find(id);
    if (found === undefined) return;
    if (provisioningState === 'Succeeded' && this.rollouts.isUnderWay(id)) {
      this.rollouts.follow(id, (failure) => this.settle(id, failure === undefined ? 'Succeeded' : 'Failed'));
      return;
    }
    this.context.store.put({ ...found, properties: { ...found.properties, provisioningState } });
  }

  private put(request: ArmRequest): ArmResponse {
    const { group = '', child = '' } = request.parameters;
    checkGroup(this.context, group);
    const cluster = this.cluster(request);
    const existing = this.context.store.find(`${cluster.id}/agentPools/${child}`);
    checkEtag(request, existing);
    this.checkProvisioning(cluster, child, objectAt(request.body, 'properties'));
    const pool = this.write(cluster, child, objectAt(request.body, 'properties'));
    return changed(this.context, request, existing === undefined ? 201 : 200, pool, this.operationOn(pool, request));
  }

  /** Begins to replace the nodes of a pool by nodes with the newest image. */
  private upgradeNodeImage(request: ArmRequest): ArmResponse {
    const cluster = this.cluster(request);
    const existing = this.find(request);
    const properties = { ...existing.properties, nodeImageVersion: this.newestImage(cluster, existing.properties) };
    const pool = this.store(cluster, existing.name, properties, existing);
    return accepted(this.context, request, this.operationOn(pool, request), pool);
  }

  /** Returns an operation that lasts until the rollout of the pool has ended. */
  private operationOn(pool: ArmResource, request: ArmRequest): Operation {
    const { operations, durations } = this.context;
    if (this.rollouts.isUnderWay(pool.id) && request.lateFault === undefined) {
      const { operation, end } = operations.open(durations.agentPool);
      this.rollouts.follow(pool.id, (failure) => {
        this.settle(pool.id, failure === undefined ? 'Succeeded' : 'Failed');
        end(failure);
      });
      return operation;
    }
    return operations.beginFor(request, {
      milliseconds: durations.agentPool,
      finish: () => this.settle(pool.id, 'Succeeded'),
      failed: () => this.settle(pool.id, 'Failed'),
    });
  }

  /** Throws when the node auto-provisioning of the cluster forbids such a pool. */
  private checkProvisioning(cluster: ArmResource, name: string, given: JsonObject): void {
    if (!isAutomatic(cluster.properties)) return;
    const others = this.context.store.children(cluster.id, AGENT_POOLS).filter((pool) => pool.name !== name);
    const { identity, properties } = cluster;
    const isRegistered = (feature: string): boolean => isFeatureRegistered(this.context, CONTAINER_SERVICE, feature);
    checkAutomatic({ identity, properties, pools: [given, ...others.map((pool) => pool.properties)], isRegistered });
  }

  private delete(request: ArmRequest): ArmResponse {
    const cluster = this.cluster(request);
    const { store } = this.context;
    const pool = store.find(`${cluster.id}/agentPools/${request.parameters['child'] ?? ''}`);
    if (pool === undefined) return { status: 204 };
    checkEtag(request, pool);
    this.checkRemoval(cluster, pool);
    this.settle(pool.id, 'Deleting');
    const { operation, end } = this.context.operations.open(this.context.durations.agentPool);
    const remove = async (): Promise<void> => {
      const { clock, durations } = this.context;
      await clock.sleep(durations.agentPool + (request.extraTime ?? 0));
      const failure = request.lateFault?.error ?? (await this.rollouts.empty(cluster, pool));
      if (failure === undefined) store.deleteTree(pool.id);
      else this.settle(pool.id, 'Failed');
      end(failure);
    };
    void remove();
    return accepted(this.context, request, operation);
  }

  /** Throws for the last system pool, which cannot be deleted. */
  private checkRemoval(cluster: ArmResource, pool: ArmResource): void {
    if (pool.properties['mode'] !== 'System') return;
    const others = this.context.store.children(cluster.id, AGENT_POOLS).filter(({ id }) => id !== pool.id);
    if (others.some(({ properties }) => properties['mode'] === 'System')) return;
    const hasOthers = others.some(({ properties }) => properties['mode'] !== 'Machines');
    throw aksRefusal('OperationNotAllowed.lastPool', { kind: hasOthers ? 'system ' : '' });
  }

  private deleteMachines(request: ArmRequest): ArmResponse {
    const { store } = this.context;
    const cluster = this.cluster(request);
    const pool = this.find(request);
    const all = store.children(pool.id, MACHINES);
    const names = listAt(request.body, 'machineNames').map((name) => String(name).toLowerCase());
    const chosen = all.filter(({ name }) => names.includes(name.toLowerCase()));
    if (chosen.length === 0 || chosen.length < new Set(names).size) {
      throw refusal('InvalidParameter.machines', { name: pool.name, machines: all.map(({ name }) => name).join(', ') });
    }
    for (const machine of chosen) this.poolNodes.remove(cluster, pool, machine);
    const operation = this.context.operations.beginFor(request, {
      milliseconds: this.context.durations.virtualMachineDelete,
      finish: () => chosen.forEach(({ id }) => store.delete(id)),
      failed: () => chosen.forEach(({ id }) => this.settle(id, 'Failed')),
    });
    return accepted(this.context, request, operation);
  }

  private propertiesOf(
    cluster: ArmResource,
    name: string,
    sent: JsonObject,
    existing: ArmResource | undefined,
  ): JsonObject {
    if (!POOL_NAME.test(name)) throw invalidParameter('agentPoolProfile.name');
    const before = existing?.properties ?? {};
    const given = setMembers(sent);
    for (const member of FIXED) {
      const [old, next] = [before[member], given[member]];
      if (old === undefined || next === undefined || JSON.stringify(old) === JSON.stringify(next)) continue;
      throw aksRefusal('PropertyChangeNotAllowed', { property: `properties.${member}` });
    }
    const mode = textAt(given, 'mode') ?? textAt(before, 'mode') ?? 'User';
    if (!MODES.includes(mode)) throw notOneOf('agentPoolProfile.mode', mode, MODES);
    if (powerOf(given) === 'Stopped') checkPoolStop(cluster, name, mode);
    const version = resolveKubernetes(
      textAt(given, 'orchestratorVersion') ??
        textAt(before, 'orchestratorVersion') ??
        textAt(cluster.properties, 'kubernetesVersion'),
    );
    const merged: JsonObject = {
      ...before,
      ...given,
      mode,
      orchestratorVersion: version,
      currentOrchestratorVersion: version,
    };
    const common = merged['enableAutoScaling'] === true ? merged : withoutBounds(merged);
    if (mode === 'Machines')
      return { type: 'VirtualMachines', osType: 'Linux', ...common, powerState: { code: 'Running' } };
    checkPoolSize(common, mode);
    checkMarks(common);
    const size = textAt(common, 'vmSize') ?? 'Standard_D4ds_v5';
    if (this.context.catalogueAt(cluster.location).find(size) === undefined) throw this.sizeNotSupported(cluster, size);
    return {
      count: 1,
      osDiskSizeGB: 128,
      osDiskType: 'Managed',
      kubeletDiskType: 'OS',
      maxPods: defaultMaxPods(objectAt(cluster.properties, 'networkProfile')),
      type: 'VirtualMachines',
      osType: 'Linux',
      osSKU: 'Ubuntu',
      ...common,
      ...(common['scaleSetPriority'] === 'Spot' && spotMarks(common)),
      vmSize: size,
      // A new version of Kubernetes brings the newest image; else the image stays until it is upgraded.
      nodeImageVersion:
        textAt(before, 'orchestratorVersion') === version && textAt(before, 'nodeImageVersion') !== undefined
          ? before['nodeImageVersion']
          : this.newestImage(cluster, { ...common, vmSize: size }),
      powerState: { code: powerOf(common) },
    };
  }

  newestImage(cluster: ArmResource, properties: JsonObject): string {
    return this.nodes.nodeImage(cluster, {
      hardware: { vmSize: textAt(properties, 'vmSize') },
      operatingSystem: { osSKU: textAt(properties, 'osSKU') ?? 'Ubuntu' },
    });
  }

  sizeNotSupported(cluster: ArmResource, size: string): ArmError {
    const { store, location } = this.context;
    const subscription = store.subscriptionId;
    return aksRefusal('VMSizeNotSupported', { size, subscription, location: cluster.location ?? location });
  }
}

/** Throws `ConditionNotMet`, where other services throw `PreconditionFailed`. */
export function checkEtag({ headers }: ArmRequest, existing: ArmResource | undefined): void {
  const wanted = headers['if-match'];
  if (headers['if-none-match'] === '*' && existing !== undefined) {
    throw aksRefusal('ConditionNotMet.exists', { name: existing.name });
  }
  if (typeof wanted !== 'string' || wanted === '' || wanted === '*') return;
  if (wanted.replaceAll('"', '') === existing?.etag.replaceAll('"', '')) return;
  throw aksRefusal('ConditionNotMet.etag', { wanted });
}

/** Returns the members that are set: some clients send 0, '' and null for unset ones. */
function setMembers(given: JsonObject): JsonObject {
  const isUnset = ([name, value]: [string, unknown]): boolean =>
    value === null || value === '' || (value === 0 && (name === 'osDiskSizeGB' || name === 'maxPods'));
  return Object.fromEntries(Object.entries(given).filter((entry) => !isUnset(entry)));
}

const SPOT = 'kubernetes.azure.com/scalesetpriority';
const SPOT_TAINT = `${SPOT}=spot:NoSchedule`;

/** Returns labels and taints with those of spot nodes, which keep off pods that do not tolerate spot. */
function spotMarks(pool: JsonObject): JsonObject {
  const others = listAt(pool, 'nodeTaints').filter((taint) => taint !== SPOT_TAINT);
  return { nodeLabels: { ...objectAt(pool, 'nodeLabels'), [SPOT]: 'spot' }, nodeTaints: [SPOT_TAINT, ...others] };
}

function powerOf(properties: JsonObject): string {
  return textAt(properties, 'powerState', 'code') ?? 'Running';
}

function checkPoolStop({ properties }: ArmResource, name: string, mode: string): void {
  checkStop(properties, 'agent pool');
  if (mode === 'System') throw aksRefusal('OperationNotAllowed.stopSystemPool', { name });
}

/** Returns the properties without the bounds of the cluster autoscaler. */
function withoutBounds(properties: JsonObject): JsonObject {
  const { minCount: _least, maxCount: _most, ...rest } = properties;
  return rest;
}

function show(pool: ArmResource): object {
  const { etag: _etag, ...shown } = present(pool);
  return shown;
}
