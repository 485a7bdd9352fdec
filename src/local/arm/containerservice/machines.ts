/** AKS machines of an agent pool: one VM each, created one by one or in batches of up to 50. */
import { changed, paged, timestamp, type ArmContext } from '../armContext.ts';
import { ArmError } from '../armError.ts';
import { listAt, objectAt, textAt, textsAt, type JsonObject } from '../jsonPath.ts';
import type { NetworkInterfaces } from '../network/networkInterfaces.ts';
import { checkGroup, checkTags } from '../resources/requestRules.ts';
import { present, type ArmResource } from '../resourceStore.ts';
import { ok, route, type ArmRequest, type ArmResponse, type Route } from '../server/router.ts';
import { checkEtag, type AgentPools } from './agentPools.ts';
import { MACHINES, type PoolNodes } from './poolRollouts.ts';
import { aksRefusal } from './aksRefusal.ts';
import { batchError, parseBatch, type BatchEntry } from './machineBatch.ts';
import type { ClusterNodes } from './clusterNodes.ts';
import { checkImmutable, profileOfPool, provisioningErrorOf } from './machineProfile.ts';
import { CLUSTER_PATH } from './managedClusters.ts';

const MACHINE_NAME = /^[a-zA-Z0-9][-a-zA-Z0-9]{0,33}[a-zA-Z0-9]?$/;

export interface MachinesApiOptions {
  readonly context: ArmContext;
  readonly nodes: ClusterNodes;
  readonly interfaces: NetworkInterfaces;
  /** Whether the subscription may not use a size. */
  readonly isRestricted: (size: string) => boolean;
}

export class MachinesApi implements PoolNodes {
  private readonly options: MachinesApiOptions;
  private readonly context: ArmContext;

  constructor(options: MachinesApiOptions) {
    this.options = options;
    this.context = options.context;
  }

  routes(pools: AgentPools): readonly Route[] {
    const pool = `${CLUSTER_PATH}/agentPools/{child}`;
    const { store } = this.context;
    return [
      route('machines.list', 'GET', `${pool}/machines`, (request) =>
        paged(this.context, request, store.children(pools.find(request).id, MACHINES), (one) =>
          present(this.show(one)),
        ),
      ),
      route('machines.get', 'GET', `${pool}/machines/{grandchild}`, (request) => {
        const name = request.parameters['grandchild'] ?? '';
        const found = store.find(`${pools.find(request).id}/machines/${name}`);
        if (found === undefined) throw aksRefusal('NotFound.machine', { name });
        return ok(present(this.show(found)));
      }),
      route('machines.createOrUpdate', 'PUT', `${pool}/machines/{grandchild}`, (request) => this.put(pools, request)),
    ];
  }

  /** Creates a node of a pool that has a count. */
  add(cluster: ArmResource, pool: ArmResource, name: string): void {
    const { properties } = pool;
    const zones = listAt(properties, 'availabilityZones').map(String);
    const number = this.context.store.children(pool.id, MACHINES).length;
    const zone = zones[number % Math.max(1, zones.length)];
    this.create(cluster, pool, name, zone === undefined ? [] : [zone], profileOfPool(properties), () => undefined);
  }

  remove(cluster: ArmResource, _pool: ArmResource, machine: ArmResource): void {
    this.write(machine, { provisioningState: 'Deleting' });
    this.options.nodes.remove(cluster, textAt(machine.hidden, 'vmName') ?? '');
  }

  private put(pools: AgentPools, request: ArmRequest): ArmResponse {
    const { group = '', grandchild = '' } = request.parameters;
    checkGroup(this.context, group);
    const cluster = pools.cluster(request);
    const pool = pools.find(request);
    if (pool.properties['mode'] !== 'Machines') {
      throw aksRefusal('OperationNotAllowed.poolMode', { pool: pool.name, mode: String(pool.properties['mode']) });
    }
    const properties = objectAt(request.body, 'properties');
    const size = textAt(properties, 'hardware', 'vmSize') ?? '';
    if (this.context.catalogueAt(cluster.location).find(size) === undefined || this.options.isRestricted(size)) {
      throw pools.sizeNotSupported(cluster, size);
    }
    this.options.nodes.nodeImage(cluster, properties);
    const batch = parseBatch(request.headers['batchputmachine']);
    if (batch !== undefined) return this.putBatch(cluster, pool, request, batch);
    const entry = {
      machineName: grandchild,
      zones: listAt(request.body, 'zones').map(String),
      tags: textsAt(properties, 'tags'),
    };
    const refusal = this.refusal(cluster, pool, request, entry);
    if (refusal !== undefined) throw refusal;
    return this.apply(cluster, pool, request, entry);
  }

  /** Creates the valid machines of a batch and throws an error that lists the refused ones. */
  private putBatch(
    cluster: ArmResource,
    pool: ArmResource,
    request: ArmRequest,
    entries: readonly BatchEntry[],
  ): ArmResponse {
    const refusals: { readonly target: string; readonly error: ArmError }[] = [];
    const good = entries.filter((entry) => {
      const error = this.existing(pool, entry) ?? this.refusal(cluster, pool, request, entry);
      if (error !== undefined) refusals.push({ target: entry.machineName, error });
      return error === undefined;
    });
    const [first] = good.map((entry) => this.apply(cluster, pool, request, entry));
    if (first === undefined || refusals.length > 0) throw batchError(refusals);
    return { ...first, status: 200 };
  }

  /** Returns an error for a machine that exists: a batch only creates machines. */
  private existing(pool: ArmResource, { machineName }: BatchEntry): ArmError | undefined {
    if (this.context.store.find(`${pool.id}/machines/${machineName}`) === undefined) return undefined;
    return aksRefusal('InvalidParameter.batchUpdate', { machineName });
  }

  private refusal(
    cluster: ArmResource,
    pool: ArmResource,
    request: ArmRequest,
    entry: BatchEntry,
  ): ArmError | undefined {
    const { machineName, zones } = entry;
    if (!MACHINE_NAME.test(machineName)) return aksRefusal('InvalidParameter.machineName', { machineName });
    const catalogue = this.context.catalogueAt(cluster.location);
    const size = catalogue.find(textAt(request.body, 'properties', 'hardware', 'vmSize') ?? '');
    const [zone] = zones;
    if (zone !== undefined && size?.zones.includes(zone) !== true) {
      return aksRefusal('AvailabilityZoneNotSupported', { machineName, zone, size: size?.sku.name });
    }
    try {
      checkTags({ tags: entry.tags });
      const existing = this.context.store.find(`${pool.id}/machines/${machineName}`);
      checkEtag(request, existing);
      if (existing !== undefined) checkImmutable(existing, request.body, zones);
    } catch (error) {
      if (error instanceof ArmError) return error;
      throw error;
    }
    return undefined;
  }

  private apply(cluster: ArmResource, pool: ArmResource, request: ArmRequest, entry: BatchEntry): ArmResponse {
    const existing = this.context.store.find(`${pool.id}/machines/${entry.machineName}`);
    const profile = { ...objectAt(request.body, 'properties'), tags: entry.tags };
    const { durations, operations } = this.context;
    const creates = existing === undefined;
    const { operation, end } = operations.open(creates ? durations.virtualMachineCreate : durations.other);
    const late = request.lateFault?.error;
    const machine = creates
      ? this.create(cluster, pool, entry.machineName, entry.zones, profile, (failure) => end(failure ?? late), late)
      : this.update(existing, entry.tags, end);
    return changed(this.context, request, creates ? 201 : 200, this.show(machine), operation);
  }

  private create(
    cluster: ArmResource,
    pool: ArmResource,
    name: string,
    zones: readonly string[],
    profile: JsonObject,
    ended: (failure: ArmError | undefined) => void,
    lateError?: ArmError,
  ): ArmResource {
    const { store, random, clock } = this.context;
    const id = `${pool.id}/machines/${name}`;
    const digits = String(Math.floor(random.next() * 1e8)).padStart(8, '0');
    const counted = pool.properties['mode'] !== 'Machines';
    const vmName = counted ? `aks-${name.replace('-vms', `-${digits}-vms`)}` : `aks-${pool.name}-${name}-${digits}-vm`;
    const { priority, ...rest } = profile;
    const machine: ArmResource = {
      id,
      name,
      type: MACHINES,
      ...(zones.length === 0 ? {} : { zones }),
      etag: `"${random.uuid()}"`,
      properties: {
        ...rest,
        // AKS shows the priority only of spot machines.
        ...(priority === 'Spot' ? { priority } : {}),
        nodeImageVersion: this.options.nodes.nodeImage(cluster, profile),
        kubernetes: {
          ...objectAt(profile, 'kubernetes'),
          nodeName: vmName,
          currentOrchestratorVersion:
            textAt(profile, 'kubernetes', 'orchestratorVersion') ?? textAt(cluster.properties, 'kubernetesVersion'),
        },
        provisioningState: 'Creating',
        status: { creationTimestamp: timestamp(clock.now()), driftAction: 'Synced' },
      },
      hidden: { vmName },
    };
    store.put(machine);
    const finish = (failure: ArmError | undefined): void => {
      this.finished(id, failure);
      ended(failure);
    };
    const vm = this.options.nodes.begin(
      { cluster, pool, vmName, zones, tags: textsAt(profile, 'tags'), profile },
      (failure) => finish(failure ?? lateError),
    );
    if (vm instanceof ArmError) {
      clock.after(this.context.durations.virtualMachineCreate / 2, () => finish(vm));
      return machine;
    }
    return this.write(machine, { resourceId: vm.id });
  }

  private update(
    machine: ArmResource,
    tags: Readonly<Record<string, string>>,
    ended: (failure: undefined) => void,
  ): ArmResource {
    const { store, clock, durations } = this.context;
    const vm = store.find(textAt(machine.properties, 'resourceId') ?? '');
    for (const id of [
      vm?.id,
      ...listAt(vm?.properties, 'networkProfile', 'networkInterfaces').map((nic) => textAt(nic, 'id')),
    ]) {
      const found = store.find(id ?? '');
      if (found !== undefined) store.put({ ...found, tags });
    }
    clock.after(durations.other, () => {
      const found = store.find(machine.id);
      if (found?.properties['provisioningState'] === 'Updating') this.write(found, { provisioningState: 'Succeeded' });
      ended(undefined);
    });
    return this.write(machine, { tags, provisioningState: 'Updating' });
  }

  private finished(id: string, failure: ArmError | undefined): void {
    const machine = this.context.store.find(id);
    if (machine?.properties['provisioningState'] !== 'Creating') return;
    const status = objectAt(machine.properties, 'status');
    if (failure === undefined) {
      this.write(machine, { provisioningState: 'Succeeded', status: { ...status, vmState: 'Running' } });
      return;
    }
    const provisioningError = provisioningErrorOf(failure);
    this.write(machine, { provisioningState: 'Failed', status: { ...status, provisioningError } });
  }

  private show(machine: ArmResource): ArmResource {
    const { etag, properties, ...shown } = machine;
    const vm = this.context.store.find(textAt(properties, 'resourceId') ?? '');
    const nic = textAt(listAt(vm?.properties, 'networkProfile', 'networkInterfaces')[0], 'id') ?? '';
    const ip = this.options.interfaces.primaryAddress(nic);
    return {
      ...shown,
      etag,
      properties: {
        ...properties,
        eTag: etag,
        network: { ...objectAt(properties, 'network'), ipAddresses: ip === undefined ? [] : [{ family: 'IPv4', ip }] },
      },
    };
  }

  private write(machine: ArmResource, changes: JsonObject): ArmResource {
    const written = {
      ...machine,
      etag: `"${this.context.random.uuid()}"`,
      properties: { ...machine.properties, ...changes },
    };
    this.context.store.put(written);
    return written;
  }
}
