/** AKS machines: created one by one or in batches, found by name, updated, removed and listed. */
import { NodewrightError } from '../errors/nodewrightError.ts';
import { RestError } from '@azure/core-rest-pipeline';
import { ManagedTags } from '../api/labels.ts';
import type { Clock } from '../clock/clock.ts';
import type { AksMachineBody } from './aksMachineBody.ts';
import type { ArmRest, RestRequest } from './armRest.ts';
import type { InstanceRecord } from './instanceRecord.ts';
import { describeFailure, isNotFound } from './launchErrors.ts';
import { batchHeader, MachineBatcher, type BatchEntry, type MachineBatcherOptions } from './machineBatcher.ts';
import { finishOperation, type Operation } from './operations.ts';

interface AksMachine {
  readonly id?: string;
  readonly name?: string;
  readonly etag?: string;
  readonly zones?: readonly string[];
  readonly properties?: {
    readonly resourceId?: string;
    readonly eTag?: string;
    readonly provisioningState?: string;
    readonly hardware?: { readonly vmSize?: string };
    /** Absent for machines of regular priority. */
    readonly priority?: string;
    readonly nodeImageVersion?: string;
    readonly tags?: Readonly<Record<string, string>>;
    readonly status?: {
      readonly creationTimestamp?: string;
      readonly driftAction?: string;
      readonly provisioningError?: ProvisioningError;
    };
  };
}

interface ProvisioningError {
  readonly code?: string;
  readonly message?: string;
  readonly details?: readonly ProvisioningError[];
}

export interface AksMachinesOptions {
  readonly rest: ArmRest;
  readonly subscriptionId: string;
  readonly clusterResourceGroup: string;
  readonly clusterName: string;
  readonly pool: string;
  readonly clock: Clock;
  /** Absent: one request per machine. */
  readonly batch?: Omit<MachineBatcherOptions, 'send' | 'clock'> | undefined;
}

const API_VERSION = '2025-10-02-preview';
/** AKS refuses spot machines in system mode without this header. */
const HEADERS: Readonly<Record<string, string>> = { AllowSpotVMSystemNode: 'true' };
const UNSETTLED: ReadonlySet<string> = new Set(['Creating', 'Updating']);
const MADE: ReadonlySet<string> = new Set(['Creating', 'Succeeded']);
const POLL_INTERVAL = 5_000;
const SETTLE_TIMEOUT = 15 * 60 * 1000;
/** AKS names the VM soon after it has accepted the machine. */
const NAMED_WITHIN = 60_000;
const MISSING_MACHINES = /cannot find any valid machines/i;

export class AksMachines {
  private readonly options: AksMachinesOptions;
  private readonly batcher: MachineBatcher | undefined;
  private listing: { readonly at: number; readonly machines: Promise<readonly AksMachine[]> } | undefined;

  constructor(options: AksMachinesOptions) {
    this.options = options;
    const { batch, clock } = options;
    this.batcher = batch && new MachineBatcher({ ...batch, clock, send: (...parts) => this.putBatch(...parts) });
  }

  async find(name: string, signal?: AbortSignal): Promise<InstanceRecord | undefined> {
    const machine = await this.get(name, signal);
    return machine && recordOf(machine);
  }

  /** Why the machine failed, with compute's message; undefined when it has not failed. */
  async failureOf(name: string, signal?: AbortSignal): Promise<Error | undefined> {
    const { provisioningState, status } = (await this.get(name, signal))?.properties ?? {};
    return provisioningState === 'Failed' ? failure(status?.provisioningError) : undefined;
  }

  /** Resolves when AKS has accepted the machine and named its VM; throws the reason if the machine fails before. */
  async begin(
    name: string,
    body: AksMachineBody,
    signal?: AbortSignal,
  ): Promise<{ readonly record: InstanceRecord; readonly operation: Operation<unknown> | undefined }> {
    const { clock } = this.options;
    let operation: Operation<unknown> | undefined;
    if (this.batcher === undefined) {
      operation = await this.options.rest.begin(this.request('PUT', `/machines/${name}`, body, HEADERS), signal);
    } else {
      await this.addToBatch(this.batcher, name, body, signal);
    }
    const deadline = clock.now() + NAMED_WITHIN;
    for (;;) {
      const machine = await this.get(name, signal);
      if (machine?.properties?.provisioningState === 'Failed') {
        throw failure(machine.properties.status?.provisioningError);
      }
      if (machine?.properties?.resourceId !== undefined) return { record: recordOf(machine), operation };
      if (clock.now() >= deadline) {
        throw new NodewrightError('AzureInstanceBroken', { instance: name, state: 'without a VM', minutes: 1 });
      }
      await clock.sleep(POLL_INTERVAL, signal);
    }
  }

  /**
   * Waits until the machine runs. False when it is gone or being deleted; throws compute's error when its creation
   * failed.
   */
  async finish(name: string, operation: Operation<unknown> | undefined, signal?: AbortSignal): Promise<boolean> {
    const { clock } = this.options;
    if (operation !== undefined) {
      try {
        await finishOperation(clock, operation, `AKS machine ${name}`, signal);
        return true;
      } catch (error) {
        if (signal?.aborted === true) throw error;
        throw (await this.failureOf(name, signal)) ?? error;
      }
    }
    const deadline = clock.now() + SETTLE_TIMEOUT;
    for (;;) {
      const listed = (await this.shared(signal)).find((one) => one.name === name);
      const machine = listed ?? (await this.get(name, signal));
      const state = machine?.properties?.provisioningState ?? 'Deleting';
      if (state === 'Succeeded') return true;
      if (state === 'Failed') throw failure(machine?.properties?.status?.provisioningError);
      if (!UNSETTLED.has(state)) return false;
      if (clock.now() >= deadline) {
        throw new NodewrightError('AzureInstanceBroken', { instance: name, state, minutes: SETTLE_TIMEOUT / 60_000 });
      }
      await clock.sleep(POLL_INTERVAL, signal);
    }
  }

  /** Starts or continues the removal; `gone` once nothing is left. */
  async remove(name: string, signal?: AbortSignal): Promise<'removing' | 'gone'> {
    const machine = await this.get(name, signal);
    if (machine === undefined) return 'gone';
    if (machine.properties?.provisioningState === 'Deleting') return 'removing';
    try {
      await this.options.rest.begin(this.request('POST', '/deleteMachines', { machineNames: [name] }), signal);
      return 'removing';
    } catch (error) {
      if (isMissing(error)) return 'gone';
      throw error;
    }
  }

  /** Machines with a claim tag; empty if the pool does not exist. */
  async list(signal?: AbortSignal): Promise<readonly InstanceRecord[]> {
    const machines = await this.shared(signal);
    const ours = machines.filter(({ properties }) => properties?.tags?.[ManagedTags.machineNodeClaim] !== undefined);
    // A machine without a VM is not ready for management; its creation is reported to the claim.
    return ours.filter(({ properties }) => properties?.resourceId !== undefined).map(recordOf);
  }

  /** Replaces the tags of a machine; fails when it has changed in the meantime. */
  async setTags(name: string, tags: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<void> {
    const { clock, rest } = this.options;
    const machine = await this.get(name, signal);
    if (machine === undefined) return;
    const etag = machine.etag ?? machine.properties?.eTag;
    const body = { ...machine, properties: { ...machine.properties, tags } };
    const headers = { ...HEADERS, ...(etag === undefined ? {} : { 'If-Match': etag }) };
    await finishOperation(
      clock,
      await rest.begin(this.request('PUT', `/machines/${name}`, body, headers), signal),
      `AKS machine ${name}`,
      signal,
    );
  }

  /** One list request for all concurrent callers. */
  private shared(signal: AbortSignal | undefined): Promise<readonly AksMachine[]> {
    const now = this.options.clock.now();
    if (this.listing !== undefined && now < this.listing.at + POLL_INTERVAL) return this.listing.machines;
    const machines = this.options.rest
      .list<AksMachine>(this.request('GET', '/machines'), signal)
      .catch((error: unknown) => {
        this.listing = undefined;
        if (isMissing(error)) return [];
        throw error;
      });
    this.listing = { at: now, machines };
    return machines;
  }

  private async get(name: string, signal: AbortSignal | undefined): Promise<AksMachine | undefined> {
    try {
      return await this.options.rest.send<AksMachine>(this.request('GET', `/machines/${name}`), signal);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /**
   * A batch whose answer was lost is sent again, and AKS then refuses the machines that it has already created, because
   * a batch cannot change machines. Those machines are used anyway.
   */
  private async addToBatch(
    batcher: MachineBatcher,
    name: string,
    body: AksMachineBody,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    try {
      await batcher.add(name, body);
    } catch (error) {
      const { provisioningState = '', tags } = (await this.get(name, signal))?.properties ?? {};
      const isOurs = tags?.[ManagedTags.machineNodeClaim] === body.properties.tags[ManagedTags.machineNodeClaim];
      if (!isOurs || !MADE.has(provisioningState)) throw error;
    }
  }

  private async putBatch(template: unknown, entries: readonly BatchEntry[]): Promise<void> {
    const [first] = entries;
    const headers = { ...HEADERS, BatchPutMachine: batchHeader(entries) };
    await this.options.rest.begin(this.request('PUT', `/machines/${first?.machineName ?? ''}`, template, headers));
  }

  private request(
    method: RestRequest['method'],
    rest: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): RestRequest {
    const { subscriptionId, clusterResourceGroup, clusterName, pool } = this.options;
    return {
      method,
      path: `/subscriptions/${subscriptionId}/resourceGroups/${clusterResourceGroup}/providers/Microsoft.ContainerService/managedClusters/${clusterName}/agentPools/${pool}${rest}`,
      apiVersion: API_VERSION,
      ...(body === undefined ? {} : { body }),
      ...(headers === undefined ? {} : { headers }),
    };
  }
}

function isMissing(error: unknown): boolean {
  const { code, message } = describeFailure(error);
  return isNotFound(error) || (code === 'InvalidParameter' && MISSING_MACHINES.test(message));
}

/** Compute's error is in the details; AKS wraps it in a code of its own. */
function failure(error: ProvisioningError | undefined): Error {
  const { code = 'UnknownError', message = 'the creation of the AKS machine failed' } =
    error?.details?.[0] ?? error ?? {};
  return new RestError(message, { code });
}

function recordOf(machine: AksMachine): InstanceRecord {
  const { id, name, zones, properties } = machine;
  if (id === undefined || name === undefined || properties === undefined) {
    throw new NodewrightError('AzureAnswerUnusable', {
      source: 'AKS',
      problem: 'a machine has no id, name or properties',
    });
  }
  const { status, tags = {} } = properties;
  const created = status?.creationTimestamp;
  return {
    id: properties.resourceId ?? '',
    name,
    size: properties.hardware?.vmSize ?? '',
    zone: zones?.[0],
    spot: properties.priority === 'Spot',
    tags,
    imageId: properties.nodeImageVersion,
    state: properties.provisioningState ?? '',
    // AKS rounds fractions inconsistently: drop them, so that two reads of one machine are equal.
    createdAt: created === undefined ? undefined : Math.floor(Date.parse(created) / 10) * 10,
    claimName: tags[ManagedTags.machineNodeClaim],
    aksMachine: { id, driftAction: status?.driftAction },
  };
}
