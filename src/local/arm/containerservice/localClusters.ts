/** Clusters with their node resource groups, networks and pools, and the removal of everything in a group. */
import type { ArmContext } from '../armContext.ts';
import { listAt, objectAt, textAt } from '../jsonPath.ts';
import { layOutClusterNetwork, type ClusterNetwork } from '../network/clusterNetwork.ts';
import { SUBNETS } from '../network/networkKinds.ts';
import type { ResourceWrite } from '../resources/resourceKind.ts';
import type { ArmResource } from '../resourceStore.ts';
import { VIRTUAL_MACHINES, type VirtualMachines } from '../virtualMachines.ts';
import type { AgentPools } from './agentPools.ts';
import { resolveKubernetes } from './kubernetesVersions.ts';
import type { ClusterName } from './managedCluster.ts';
import { AGENT_POOLS, CLUSTER_DEFAULTS, MANAGED_CLUSTERS } from './managedClusters.ts';
import { networkProfile } from './networkProfile.ts';
import { isAutomatic } from './nodeProvisioning.ts';

/** Node auto-provisioning keeps its machines in a pool of this name. */
const MACHINES_POOL = 'aksmanagedap';
/** AKS ends the names of a cluster's resources with a number of eight digits. */
const FIRST_CLUSTER_ID = 10_000_000;

export class LocalClusters {
  private readonly context: ArmContext;
  private readonly machines: VirtualMachines;

  constructor(context: ArmContext, machines: VirtualMachines) {
    this.context = context;
    this.machines = machines;
  }

  /** Adds a ready cluster in mode Auto unless it exists, and returns its network. */
  add(pools: AgentPools, { resourceGroup, name }: ClusterName, nodeResourceGroup: string): ClusterNetwork {
    const { store, location, random } = this.context;
    if (store.findGroup(resourceGroup) === undefined) {
      store.putGroup({ name: resourceGroup, location, provisioningState: 'Succeeded' });
    }
    const id = store.idOf(resourceGroup, MANAGED_CLUSTERS, name);
    const existing = store.find(id);
    if (existing !== undefined) return this.layOut(existing);
    const version = resolveKubernetes(undefined);
    const principalId = random.uuid();
    const cluster: ArmResource = {
      id,
      name,
      type: MANAGED_CLUSTERS,
      location,
      tags: {},
      identity: { type: 'SystemAssigned', principalId },
      sku: { name: 'Base', tier: 'Standard' },
      etag: random.uuid(),
      properties: {
        ...CLUSTER_DEFAULTS,
        kubernetesVersion: version,
        currentKubernetesVersion: version,
        dnsPrefix: name,
        fqdn: `${name}-${random.uuid().slice(0, 8)}.hcp.${location}.azmk8s.io`,
        nodeResourceGroup,
        resourceUID: principalId,
        identityProfile: {
          kubeletidentity: {
            resourceId: `${store.groupId(nodeResourceGroup)}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/${name}-agentpool`,
            clientId: principalId,
            objectId: principalId,
          },
        },
        nodeProvisioningProfile: { mode: 'Auto', defaultNodePools: 'Auto' },
        networkProfile: networkProfile({}, {}),
        powerState: { code: 'Running' },
        provisioningState: 'Succeeded',
      },
    };
    store.put(cluster);
    const network = this.layOut(cluster);
    this.addMachinesPool(pools, cluster);
    return network;
  }

  private addMachinesPool(pools: AgentPools, cluster: ArmResource): void {
    const pool = pools.write(cluster, MACHINES_POOL, { mode: 'Machines' });
    pools.settle(pool.id, 'Succeeded');
  }

  /** Upgrades the control plane, then the pools, whose nodes are replaced. */
  upgrade(pools: AgentPools, cluster: ArmResource, version: string): void {
    const { store } = this.context;
    const upgraded = {
      ...cluster,
      properties: { ...cluster.properties, kubernetesVersion: version, currentKubernetesVersion: version },
    };
    store.put(upgraded);
    for (const pool of store.children(cluster.id, AGENT_POOLS)) {
      pools.write(upgraded, pool.name, { orchestratorVersion: version });
      pools.settle(pool.id, 'Succeeded');
    }
  }

  /** Turns the VMs of all nodes of a cluster off or on. */
  power(cluster: ArmResource, state: 'off' | 'on'): void {
    const group = textAt(cluster.properties, 'nodeResourceGroup') ?? '';
    for (const { id } of this.context.store.list(VIRTUAL_MACHINES, group)) this.machines.turn(id, state);
  }

  /** Creates the group and the network of a cluster's nodes unless they exist, and returns the network. */
  layOut(cluster: ArmResource): ClusterNetwork {
    const { store } = this.context;
    const location = cluster.location ?? this.context.location;
    const group = textAt(cluster.properties, 'nodeResourceGroup') ?? '';
    if (store.findGroup(group) === undefined) {
      store.putGroup({ name: group, location, managedBy: cluster.id, provisioningState: 'Succeeded' });
    }
    if (store.list(SUBNETS, group).length > 0) return this.networkOf(group);
    const number = FIRST_CLUSTER_ID + store.list(MANAGED_CLUSTERS).length - 1;
    return layOutClusterNetwork(this.context, group, String(number));
  }

  /** Resumes the deletion of groups that an earlier process had begun. */
  resume(): void {
    const { store, operations, durations } = this.context;
    for (const { name, provisioningState } of store.allGroups()) {
      if (provisioningState !== 'Deleting') continue;
      operations.begin({ milliseconds: durations.resourceGroupDelete, finish: () => this.empty(name, true) });
    }
  }

  networkOf(nodeResourceGroup: string): ClusterNetwork {
    const subnetId = this.context.store.list(SUBNETS, nodeResourceGroup)[0]?.id ?? '';
    return { subnetId, virtualNetworkId: subnetId.split('/').slice(0, -2).join('/') };
  }

  checkPools(pools: AgentPools, cluster: ArmResource, { body }: ResourceWrite): void {
    for (const profile of listAt(body, 'properties', 'agentPoolProfiles')) {
      const { name, ...given } = objectAt(profile);
      pools.check(cluster, typeof name === 'string' ? name : '', given);
    }
  }

  /** Writes the pools in the cluster's body; others stay. */
  putPools(pools: AgentPools, cluster: ArmResource, { body, context }: ResourceWrite): void {
    for (const profile of listAt(body, 'properties', 'agentPoolProfiles')) {
      const { name, ...given } = objectAt(profile);
      const pool = pools.write(cluster, typeof name === 'string' ? name : '', given);
      context.clock.after(context.durations.agentPool, () => pools.settle(pool.id, 'Succeeded'));
    }
    const hasMachines = context.store.find(`${cluster.id}/agentPools/${MACHINES_POOL}`) !== undefined;
    if (isAutomatic(cluster.properties) && !hasMachines) this.addMachinesPool(pools, cluster);
  }

  /** Deletes all resources of a group, VMs first, so that their kubelets stop. */
  empty(group: string, withGroup: boolean): void {
    const { store } = this.context;
    if (store.findGroup(group) === undefined) return;
    for (const cluster of store.list(MANAGED_CLUSTERS, group)) {
      for (const pool of store.children(cluster.id, AGENT_POOLS)) {
        for (const machine of store.children(pool.id)) store.delete(machine.id);
      }
      this.empty(textAt(cluster.properties, 'nodeResourceGroup') ?? '', true);
    }
    for (const machine of store.list(VIRTUAL_MACHINES, group)) this.machines.destroy(machine.id);
    for (const resource of store.all(group)) store.delete(resource.id);
    if (withGroup) store.deleteGroup(group);
  }
}
