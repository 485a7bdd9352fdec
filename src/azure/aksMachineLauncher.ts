/** Launches AKS machines: AKS creates the VM, configures it and joins it to the cluster. */
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import { ManagedTags } from '../api/labels.ts';
import { LaunchError } from '../cloud/errors.ts';
import { launchDetail } from '../errors/launchProblems.ts';
import type { Clock } from '../clock/clock.ts';
import type { Log } from '../kube/log.ts';
import { aksMachineName, aksMachineOf } from './aksMachineBody.ts';
import type { AksMachines } from './aksMachines.ts';
import type { AzureSettings } from './azureSettings.ts';
import type { InstanceRecord } from './instanceRecord.ts';
import type { Launcher, LaunchOrder } from './launcher.ts';
import type { LaunchTracker } from './launchTracker.ts';
import type { Operation } from './operations.ts';

export interface AksMachineLauncherOptions {
  readonly settings: AzureSettings;
  readonly machines: AksMachines;
  readonly tracker: LaunchTracker;
  readonly clock: Clock;
  readonly log: Log;
}

const CLEARING_INTERVAL = 3_000;
const CLEARED_WITHIN = 2 * 60_000;

export class AksMachineLauncher implements Launcher {
  private readonly options: AksMachineLauncherOptions;

  constructor(options: AksMachineLauncherOptions) {
    this.options = options;
  }

  async find(claim: NodeClaim, signal?: AbortSignal): Promise<InstanceRecord | undefined> {
    const name = aksMachineName(claim.metadata.name);
    const found = await this.options.machines.find(name, signal);
    const owner = found?.tags[ManagedTags.machineNodeClaim];
    if (found === undefined || owner === claim.metadata.name) return found;
    throw new LaunchError('CreateInstanceFailed', launchDetail('ForeignMachine', { machine: name, owner }));
  }

  resume({ name }: InstanceRecord, signal?: AbortSignal): void {
    this.follow(name, undefined, undefined, signal);
  }

  async launch({ choice, sku, image, shape, onFailure }: LaunchOrder, signal?: AbortSignal): Promise<InstanceRecord> {
    const { settings, machines } = this.options;
    const name = aksMachineName(choice.claim.metadata.name);
    const body = aksMachineOf({ choice, settings, sku, imageId: image.id, osDiskSizeGB: shape.osDiskSizeGB });
    try {
      const { record, operation } = await machines.begin(name, body, signal);
      this.follow(name, operation, onFailure, signal);
      return record;
    } catch (error) {
      // A machine that failed at once stays in the pool and would block the next attempt.
      if (signal?.aborted !== true) await this.cleared(name, signal);
      throw error;
    }
  }

  async discard({ name }: InstanceRecord, signal?: AbortSignal): Promise<void> {
    await this.options.machines.remove(name, signal);
  }

  private follow(
    name: string,
    operation: Operation<unknown> | undefined,
    onFailure: LaunchOrder['onFailure'] | undefined,
    signal: AbortSignal | undefined,
  ): void {
    const { machines, tracker } = this.options;
    tracker.follow(
      {
        name,
        finish: (until) => machines.finish(name, operation, until),
        remove: () => this.removeFailed(name),
        extensions: [],
        isResumed: onFailure === undefined,
        ...(onFailure === undefined ? {} : { onFailure }),
      },
      signal,
    );
  }

  /** Resolves when the name is free again, or after a timeout. */
  private async cleared(name: string, signal: AbortSignal | undefined): Promise<void> {
    const { machines, clock, log } = this.options;
    try {
      for (let waited = 0; waited < CLEARED_WITHIN; waited += CLEARING_INTERVAL) {
        if ((await machines.remove(name, signal)) === 'gone') return;
        await clock.sleep(CLEARING_INTERVAL, signal);
      }
    } catch (error) {
      log.error('cannot remove an AKS machine whose creation failed', { name, error });
    }
  }

  /** Failures are logged and left to garbage collection. */
  private async removeFailed(name: string): Promise<void> {
    try {
      await this.options.machines.remove(name);
    } catch (error) {
      this.options.log.error('cannot remove an AKS machine whose creation failed', { name, error });
    }
  }
}
