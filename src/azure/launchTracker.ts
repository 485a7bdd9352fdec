/**
 * Follows VMs from the moment that ARM has accepted them: until they run, and until their billing extension is on. In
 * the background, so that the claim goes on meanwhile. Lost in a crash, it is taken up again from what Azure has.
 */
import type { Clock } from '../clock/clock.ts';
import type { Log } from '../kube/log.ts';
import type { Extension, VirtualMachines } from './virtualMachines.ts';
import type { Operation } from './operations.ts';

export interface TrackedLaunch {
  readonly name: string;
  /** The VM's creation; absent for a VM that an earlier process has begun. */
  readonly operation?: Operation<unknown>;
  readonly extension: Extension | undefined;
  /** The creation failed and the VM is being removed. Not called when the launch was forgotten. */
  readonly onFailure?: (error: unknown) => void;
}

export interface LaunchTrackerOptions {
  readonly machines: VirtualMachines;
  readonly clock: Clock;
  readonly log: Log;
}

/** VMs that are polled at once; the others are created all the same and wait to be looked at. */
const CONCURRENCY = 200;
const EXTENSION_ATTEMPTS = 5;
const EXTENSION_RETRY = 30_000;

export class LaunchTracker {
  private readonly options: LaunchTrackerOptions;
  private readonly stops = new Map<string, AbortController>();
  private readonly queue: (() => void)[] = [];
  private active = 0;

  constructor(options: LaunchTrackerOptions) {
    this.options = options;
  }

  /** Does nothing for a VM that is followed already. `signal` ends the process, not the VM. */
  follow(launch: TrackedLaunch, signal?: AbortSignal): void {
    if (this.stops.has(launch.name) || signal?.aborted === true) return;
    const stop = new AbortController();
    this.stops.set(launch.name, stop);
    const until = signal === undefined ? stop.signal : AbortSignal.any([stop.signal, signal]);
    this.inTurn(() => this.run(launch, until))
      .catch((error: unknown) => {
        if (!until.aborted) this.options.log.error('cannot follow the launch of a VM', { name: launch.name, error });
      })
      .finally(() => {
        if (this.stops.get(launch.name) === stop) this.stops.delete(launch.name);
      });
  }

  /** The VM is about to be deleted: whatever becomes of its creation is of no interest any more. */
  forget(name: string): void {
    this.stops.get(name)?.abort();
    this.stops.delete(name);
  }

  private async run({ name, operation, extension, onFailure }: TrackedLaunch, signal: AbortSignal): Promise<void> {
    const { machines, log } = this.options;
    if (signal.aborted) return;
    try {
      if (!(await machines.finish(name, operation, signal))) return;
    } catch (error) {
      if (signal.aborted) return;
      log.error('the creation of a VM failed after ARM had accepted it; removing it', { name, error });
      onFailure?.(error);
      await machines.removeFailed(name);
      return;
    }
    // An earlier process may have come as far as the extension.
    if (extension === undefined) return;
    if (operation === undefined && (await machines.hasExtension(name, extension.name, signal))) return;
    await this.extend(name, extension, signal);
  }

  /** A VM without its extension is a healthy node: a failure is logged and tried again, and the VM stays. */
  private async extend(name: string, extension: Extension, signal: AbortSignal): Promise<void> {
    const { machines, clock, log } = this.options;
    for (let attempt = 1; ; attempt += 1) {
      try {
        await machines.ensureExtension(name, extension, signal);
        return;
      } catch (error) {
        if (signal.aborted) return;
        log.error('the billing extension of a VM failed', { name, attempt, error });
        if (attempt >= EXTENSION_ATTEMPTS) return;
      }
      await clock.sleep(EXTENSION_RETRY * 2 ** (attempt - 1), signal);
    }
  }

  private async inTurn(work: () => Promise<void>): Promise<void> {
    if (this.active >= CONCURRENCY) await new Promise<void>((resolve) => this.queue.push(resolve));
    this.active += 1;
    try {
      await work();
    } finally {
      this.active -= 1;
      this.queue.shift()?.();
    }
  }
}
