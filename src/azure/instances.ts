/** The instances of this cluster, both VMs of ours and AKS machines: find, list and remove. */
import { NodewrightError } from '../errors/nodewrightError.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import { Annotations, ManagedTags } from '../api/labels.ts';
import { aksMachineName, machineNameOfVm } from './aksMachineBody.ts';
import type { AksMachinePools } from './aksMachinePools.ts';
import { createsAksMachines, type AzureSettings } from './azureSettings.ts';
import type { InstanceRecord } from './instanceRecord.ts';
import { parseMachineId } from './inPlaceUpdates.ts';
import type { Launcher } from './launcher.ts';
import { vmNameFor, vmNameOf } from './providerId.ts';
import type { VirtualMachines } from './virtualMachines.ts';

export interface InstancesOptions {
  readonly settings: AzureSettings;
  readonly machines: VirtualMachines;
  readonly pools: AksMachinePools;
  readonly virtualMachineLauncher: Launcher;
  readonly aksMachineLauncher: Launcher | undefined;
}

/** Tag with the pool name on the VMs of AKS machines. */
const POOL_TAG = 'aks-managed-poolName';

export class Instances {
  private readonly options: InstancesOptions;

  constructor(options: InstancesOptions) {
    this.options = options;
  }

  async find(providerId: string, signal?: AbortSignal): Promise<InstanceRecord | undefined> {
    const { machines, pools, settings } = this.options;
    const name = vmNameOf(providerId);
    if (name === undefined) return undefined;
    const machine = machineNameOfVm(name, settings.aksMachinesPoolName);
    if (machine !== undefined && pools.own !== undefined) return pools.own.find(machine, signal);
    return machines.find(name, signal);
  }

  /**
   * Always includes AKS machines, so that they are not lost when a cluster is taken over: from AKS if their pool is
   * known, otherwise from their VMs in Resource Graph.
   */
  async list(signal?: AbortSignal): Promise<readonly InstanceRecord[]> {
    const { machines, pools } = this.options;
    const virtualMachines = await machines.list(signal);
    const { own } = pools;
    if (own === undefined) return virtualMachines;
    const ours = virtualMachines.filter(({ tags }) => tags[ManagedTags.machineNodeClaim] === undefined);
    return [...ours, ...(await own.list(signal))];
  }

  /** Starts or continues the removal of everything created for the claim; `gone` once nothing is left. */
  async remove(claim: NodeClaim, signal?: AbortSignal): Promise<'removing' | 'gone'> {
    const { machines, pools, settings } = this.options;
    const machine = parseMachineId(claim.metadata.annotations?.[Annotations.aksMachineResourceId] ?? '');
    if (machine !== undefined) return pools.at(machine).remove(machine.name, signal);
    const vmName = vmNameOf(claim.status?.providerID ?? '');
    const behind = machineNameOfVm(vmName ?? '', settings.aksMachinesPoolName);
    if (behind !== undefined && pools.own !== undefined) return pools.own.remove(behind, signal);
    if (vmName === undefined && createsAksMachines(settings) && pools.own !== undefined) {
      const outcome = await pools.own.remove(aksMachineName(claim.metadata.name), signal);
      if (outcome === 'removing') return outcome;
    }
    const outcome = await machines.remove(vmName ?? vmNameFor(claim.metadata.name), signal);
    return typeof outcome === 'string' ? outcome : this.removeBehindAks(outcome, signal);
  }

  /** Names under which a launch of the claim is tracked. */
  namesOf(claim: NodeClaim): readonly string[] {
    const vmName = vmNameOf(claim.status?.providerID ?? '') ?? vmNameFor(claim.metadata.name);
    if (!createsAksMachines(this.options.settings)) return [vmName];
    const { name } = claim.metadata;
    return [vmName, ...(name.includes('-') || name.length < 35 ? [aksMachineName(name)] : [])];
  }

  launcherOf(record: InstanceRecord): Launcher | undefined {
    const { virtualMachineLauncher, aksMachineLauncher } = this.options;
    if (record.aksMachine !== undefined) return aksMachineLauncher;
    return record.tags[ManagedTags.machineNodeClaim] === undefined ? virtualMachineLauncher : undefined;
  }

  /** AKS's required action for the claim's AKS machine. */
  async driftActionOf(claim: NodeClaim, signal?: AbortSignal): Promise<string | undefined> {
    const machine = parseMachineId(claim.metadata.annotations?.[Annotations.aksMachineResourceId] ?? '');
    if (machine === undefined) return undefined;
    const records = await this.options.pools.at(machine).list(signal);
    return records.find(({ name }) => name === machine.name)?.aksMachine?.driftAction;
  }

  /** Never deletes the VM itself: AKS would recreate it, or keep a machine without a VM. */
  private removeBehindAks(
    { name, tags }: InstanceRecord,
    signal: AbortSignal | undefined,
  ): Promise<'removing' | 'gone'> {
    const { pools, settings } = this.options;
    const pool = tags[POOL_TAG] ?? settings.aksMachinesPoolName;
    const machine = machineNameOfVm(name, pool);
    if (machine === undefined || settings.clusterResourceGroup === '') {
      throw new NodewrightError('AksMachineUnreachable', { vm: name });
    }
    const { clusterResourceGroup, clusterName } = settings;
    return pools.at({ clusterResourceGroup, clusterName, pool }).remove(machine, signal);
  }
}
