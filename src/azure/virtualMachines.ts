/** VMs and their network interfaces: created, found by name, removed, and listed for this cluster. */
import { NodewrightError } from '../errors/nodewrightError.ts';
import type { VirtualMachine, VirtualMachineExtension } from '@azure/arm-compute';
import { ManagedTags } from '../api/labels.ts';
import type { Clock } from '../clock/clock.ts';
import type { Log } from '../kube/log.ts';
import type { AzureClients } from './clients.ts';
import { describeFailure, isNotFound } from './launchErrors.ts';
import type { InstanceRecord } from './instanceRecord.ts';
import { claimNameOf } from './providerId.ts';
import { beginOperation, finishOperation, type Operation } from './operations.ts';
import { queryGraph, type GraphRow } from './resourceGraph.ts';
import { networkInterfaceOf, type ClusterNetwork, type InterfaceWish } from './network.ts';

export interface VirtualMachineRequest {
  readonly name: string;
  readonly network: Omit<InterfaceWish, 'name' | 'backendPools'>;
  /** The body of the VM for a given interface id. */
  readonly machine: (interfaceId: string) => VirtualMachine;
}

export interface Extension {
  readonly name: string;
  readonly body: VirtualMachineExtension;
  /** Without it the VM does not become a node. */
  readonly isRequired: boolean;
}

/** Changes possible on a running VM. */
export interface InPlaceChange {
  readonly tags: Readonly<Record<string, string>>;
  /** Resource ids of identities that the VM must have; others are kept. */
  readonly identities: readonly string[];
  /** Names of the extensions that also have the tags. */
  readonly extensions: readonly string[];
}

/** A VM accepted by ARM. */
export interface StartedVirtualMachine {
  readonly record: InstanceRecord;
  readonly operation: Operation<unknown>;
}

export interface VirtualMachinesOptions {
  readonly clients: AzureClients;
  readonly clusterNetwork: ClusterNetwork;
  readonly subscriptionId: string;
  readonly nodeResourceGroup: string;
  readonly clusterName: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Reasons for which Azure does not delete an interface yet. */
const HELD: ReadonlySet<string> = new Set(['NicInUse', 'NicReservedForAnotherVm']);
const UNSETTLED: ReadonlySet<string> = new Set(['Creating', 'Updating']);
const SETTLE_INTERVAL = 5_000;
const SETTLE_TIMEOUT = 20 * 60 * 1000;

export class VirtualMachines {
  private readonly options: VirtualMachinesOptions;

  constructor(options: VirtualMachinesOptions) {
    this.options = options;
  }

  async find(name: string, signal?: AbortSignal): Promise<InstanceRecord | undefined> {
    const { clients, nodeResourceGroup } = this.options;
    try {
      return fromSdk(await clients.compute.virtualMachines.get(nodeResourceGroup, name, abort(signal)));
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /**
   * Creates the interface and starts creating the VM; resolves when ARM has accepted it. Can be repeated after a
   * refusal or a crash, because both names are the same. What a refused attempt leaves is removed with the claim.
   */
  async begin(wish: VirtualMachineRequest, signal?: AbortSignal): Promise<StartedVirtualMachine> {
    const { clients, subscriptionId, nodeResourceGroup, clock } = this.options;
    const { name } = wish;
    const body = wish.machine(await this.createInterface(wish, signal));
    const operation = await beginOperation(async () => {
      const poller = clients.compute.virtualMachines.createOrUpdate(nodeResourceGroup, name, body, abort(signal));
      await poller.submitted();
      return { poller };
    });
    const id = `/subscriptions/${subscriptionId}/resourceGroups/${nodeResourceGroup}/providers/Microsoft.Compute/virtualMachines/${name}`;
    const begun = { id, name, state: 'Creating', createdAt: clock.now(), claimName: claimNameOf(name) };
    return { record: { ...fromSdk(body), ...begun }, operation };
  }

  /** Waits until the VM runs. False when it is gone or being deleted; throws Azure's error when its creation failed. */
  async finish(name: string, operation: Operation<unknown> | undefined, signal?: AbortSignal): Promise<boolean> {
    if (operation !== undefined) {
      await finishOperation(this.options.clock, operation, `VM ${name}`, signal);
      return true;
    }
    const settled = await this.settled(name, signal);
    if (settled === undefined || settled.state === 'Deleting') return false;
    if (settled.state === 'Succeeded') return true;
    throw new NodewrightError('AzureInstanceBroken', { instance: name, state: settled.state });
  }

  /** Waits for a VM whose creation an earlier process started. */
  private async settled(name: string, signal?: AbortSignal): Promise<InstanceRecord | undefined> {
    const { clock } = this.options;
    const deadline = clock.now() + SETTLE_TIMEOUT;
    for (;;) {
      const found = await this.find(name, signal);
      if (found === undefined || !UNSETTLED.has(found.state)) return found;
      if (clock.now() >= deadline)
        throw new NodewrightError('AzureInstanceBroken', {
          instance: name,
          state: found.state,
          minutes: SETTLE_TIMEOUT / 60_000,
        });
      await clock.sleep(SETTLE_INTERVAL, signal);
    }
  }

  /**
   * Starts or continues the removal of the VM and its interface; `gone` once neither is left. The VM of an AKS machine
   * must be removed by AKS: it is left alone and returned. The interface is normally deleted with its VM; one that
   * Azure still reserves does not keep the VM from counting as gone.
   */
  async remove(name: string, signal?: AbortSignal): Promise<'removing' | 'gone' | InstanceRecord> {
    const { clients, nodeResourceGroup, log } = this.options;
    const machine = await this.find(name, signal);
    if (machine?.tags[ManagedTags.machineNodeClaim] !== undefined) return machine;
    if (machine !== undefined) {
      if (machine.state !== 'Deleting') {
        const poller = clients.compute.virtualMachines.delete(nodeResourceGroup, name, {
          ...abort(signal),
          forceDeletion: true,
        });
        await poller.submitted();
      }
      return 'removing';
    }
    if (!(await this.interfaceExists(name, signal))) return 'gone';
    if (await this.removeInterface(name, signal)) return 'removing';
    log.info('Azure still holds the network interface of a VM that is gone', { name });
    return 'gone';
  }

  /** Every VM of this cluster from Resource Graph, including those of AKS machines. */
  async list(signal?: AbortSignal): Promise<readonly InstanceRecord[]> {
    return (await this.query('microsoft.compute/virtualmachines', signal)).map(fromGraph);
  }

  /** Names of this cluster's interfaces; a VM's interface has the VM's name. */
  async listInterfaces(signal?: AbortSignal): Promise<readonly string[]> {
    const rows = await this.query('microsoft.network/networkinterfaces', signal);
    const ours = rows.filter(({ tags }) => tags?.[ManagedTags.machineNodeClaim] === undefined);
    return ours.map(({ name }) => {
      if (name === undefined)
        throw new NodewrightError('AzureAnswerUnusable', {
          source: 'Resource Graph',
          problem: 'a network interface has no name',
        });
      return name.toLowerCase();
    });
  }

  /** False when Azure still reserves the interface, as it does for minutes after a refused launch. */
  async removeInterface(name: string, signal?: AbortSignal): Promise<boolean> {
    const { clients, nodeResourceGroup } = this.options;
    try {
      await clients.network.networkInterfaces.beginDelete(nodeResourceGroup, name, abort(signal));
      return true;
    } catch (error) {
      if (isNotFound(error)) return true;
      if (!HELD.has(describeFailure(error).code)) throw error;
      return false;
    }
  }

  private async query(type: string, signal: AbortSignal | undefined): Promise<readonly GraphRow[]> {
    const { clients, subscriptionId, nodeResourceGroup, clusterName } = this.options;
    // By the cluster's tag, not the pool's: standalone claims have no pool, and their VMs must not leak.
    return queryGraph(
      clients.rest,
      subscriptionId,
      [
        'Resources',
        `where type == "${type}"`,
        `where resourceGroup == "${nodeResourceGroup.toLowerCase()}"`,
        `where tags['${ManagedTags.cluster}'] == "${clusterName}"`,
      ].join(' | '),
      signal,
    );
  }

  private async createInterface(wish: VirtualMachineRequest, signal: AbortSignal | undefined): Promise<string> {
    const { clusterNetwork } = this.options;
    const pools = await clusterNetwork.backendPools(signal);
    try {
      return await this.putInterface(wish, pools, signal);
    } catch (error) {
      const { code, message } = describeFailure(error);
      const text = message.toLowerCase();
      const stale = code === 'InvalidResourceReference' && pools.some((pool) => text.includes(pool.toLowerCase()));
      if (!stale) throw error;
      clusterNetwork.forgetBackendPools();
      return this.putInterface(wish, await clusterNetwork.backendPools(signal), signal);
    }
  }

  private async putInterface(
    wish: VirtualMachineRequest,
    backendPools: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<string> {
    const { clients, nodeResourceGroup, clock } = this.options;
    const body = networkInterfaceOf({ ...wish.network, name: wish.name, backendPools });
    const operation = await beginOperation(async () => ({
      poller: await clients.network.networkInterfaces.beginCreateOrUpdate(
        nodeResourceGroup,
        wish.name,
        body,
        abort(signal),
      ),
    }));
    const made = await finishOperation(clock, operation, `network interface ${wish.name}`, signal, async () => {
      const found = await clients.network.networkInterfaces.get(nodeResourceGroup, wish.name, abort(signal));
      return found.provisioningState === 'Succeeded' ? found : undefined;
    });
    if (made?.id === undefined)
      throw new NodewrightError('AzureAnswerUnusable', {
        source: 'ARM',
        problem: `network interface ${wish.name} has no id`,
      });
    return made.id;
  }

  /** Adds identities and replaces tags: on the interface, on the extensions, and on the VM last. */
  async change(name: string, change: InPlaceChange, signal?: AbortSignal): Promise<void> {
    const { clients, nodeResourceGroup, clock } = this.options;
    const { compute, network } = clients;
    const tags = { ...change.tags };
    await network.networkInterfaces.updateTags(nodeResourceGroup, name, { tags }, abort(signal));
    await Promise.all(change.extensions.map((extension) => this.tagExtension(name, extension, tags, signal)));
    const identities = Object.fromEntries(change.identities.map((id) => [id, {}]));
    const operation = await beginOperation(async () => {
      const poller = compute.virtualMachines.update(
        nodeResourceGroup,
        name,
        {
          tags,
          ...(change.identities.length === 0
            ? {}
            : { identity: { type: 'UserAssigned', userAssignedIdentities: identities } }),
        },
        abort(signal),
      );
      await poller.submitted();
      return { poller };
    });
    await finishOperation(clock, operation, `VM ${name}`, signal);
  }

  /** Missing when the extension failed. */
  private async tagExtension(
    machine: string,
    extension: string,
    tags: Record<string, string>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { clients, nodeResourceGroup, clock } = this.options;
    try {
      const operation = await beginOperation(async () => {
        const poller = clients.compute.virtualMachineExtensions.update(
          nodeResourceGroup,
          machine,
          extension,
          { tags },
          abort(signal),
        );
        await poller.submitted();
        return { poller };
      });
      await finishOperation(clock, operation, `extension ${extension} of VM ${machine}`, signal);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  async hasExtension(machine: string, extension: string, signal?: AbortSignal): Promise<boolean> {
    const { clients, nodeResourceGroup } = this.options;
    try {
      await clients.compute.virtualMachineExtensions.get(nodeResourceGroup, machine, extension, abort(signal));
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  /** Idempotent: an existing extension is left unchanged. */
  async ensureExtension(machine: string, { name, body }: Extension, signal: AbortSignal | undefined): Promise<void> {
    const { clients, nodeResourceGroup, clock } = this.options;
    const { virtualMachineExtensions } = clients.compute;
    const operation = await beginOperation(async () => {
      const poller = virtualMachineExtensions.createOrUpdate(nodeResourceGroup, machine, name, body, abort(signal));
      await poller.submitted();
      return { poller };
    });
    await finishOperation(clock, operation, `extension ${name} of VM ${machine}`, signal);
  }

  private async interfaceExists(name: string, signal: AbortSignal | undefined): Promise<boolean> {
    const { clients, nodeResourceGroup } = this.options;
    try {
      await clients.network.networkInterfaces.get(nodeResourceGroup, name, abort(signal));
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  /** After a failed launch: starts the removal. Failures are logged and left to garbage collection. */
  async removeFailed(name: string): Promise<void> {
    try {
      await this.remove(name);
    } catch (error) {
      this.options.log.error('cannot remove a VM whose creation failed', { name, error });
    }
  }
}

function fromSdk(machine: VirtualMachine): InstanceRecord {
  const image = machine.storageProfile?.imageReference;
  const { publisher, offer, sku, version } = image ?? {};
  return {
    id: machine.id ?? '',
    name: (machine.name ?? '').toLowerCase(),
    size: machine.hardwareProfile?.vmSize ?? '',
    zone: machine.zones?.[0],
    spot: machine.priority === 'Spot',
    ...(machine.capacityReservation?.capacityReservationGroup === undefined ? {} : { reserved: true }),
    tags: machine.tags ?? {},
    imageId:
      image?.id ??
      image?.communityGalleryImageId ??
      image?.sharedGalleryImageId ??
      (publisher === undefined ? undefined : `${publisher}:${offer}:${sku}:${version}`),
    state: machine.provisioningState ?? '',
    createdAt: machine.timeCreated?.getTime(),
    claimName: claimOf(machine.name ?? '', machine.tags),
  };
}

/** Rows have the resource as stored by ARM, not flattened as by the SDK. */
function fromGraph(row: GraphRow): InstanceRecord {
  if (row.id === undefined || row.name === undefined)
    throw new NodewrightError('AzureAnswerUnusable', { source: 'Resource Graph', problem: 'a VM has no id or name' });
  const properties = (row.properties ?? {}) as {
    readonly hardwareProfile?: { readonly vmSize?: string };
    readonly priority?: string;
    readonly provisioningState?: string;
    readonly timeCreated?: string;
    readonly storageProfile?: { readonly imageReference?: Readonly<Record<string, string | undefined>> };
    readonly capacityReservation?: { readonly capacityReservationGroup?: object };
  };
  const image = properties.storageProfile?.imageReference;
  return {
    id: row.id,
    name: row.name.toLowerCase(),
    size: properties.hardwareProfile?.vmSize ?? '',
    zone: row.zones?.[0],
    spot: properties.priority === 'Spot',
    ...(properties.capacityReservation?.capacityReservationGroup === undefined ? {} : { reserved: true }),
    tags: row.tags ?? {},
    imageId: image?.['id'] ?? image?.['communityGalleryImageId'] ?? image?.['sharedGalleryImageId'],
    state: properties.provisioningState ?? '',
    createdAt: properties.timeCreated === undefined ? undefined : Date.parse(properties.timeCreated),
    claimName: claimOf(row.name, row.tags),
  };
}

/** From the tag of AKS machines, or from the name: they agree. */
function claimOf(name: string, tags: Readonly<Record<string, string>> | null | undefined): string | undefined {
  return tags?.[ManagedTags.machineNodeClaim] ?? claimNameOf(name.toLowerCase());
}

function abort(signal: AbortSignal | undefined): { abortSignal?: AbortSignal } {
  return signal === undefined ? {} : { abortSignal: signal };
}
