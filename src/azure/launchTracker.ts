/**
 * Tracks instances from acceptance by Azure until they run and have their extensions. In the background, so that the
 * claim can proceed. After a crash, tracking is resumed from Azure's data.
 */
import type { Clock } from '../clock/clock.ts';
import type { Log } from '../kube/log.ts';
import type { Extension, VirtualMachines } from './virtualMachines.ts';

export interface TrackedLaunch {
  readonly name: string;
  /** Waits until the instance runs; false when it is gone or being deleted, throws when its creation failed. */
  readonly finish: (signal: AbortSignal) => Promise<boolean>;
  /** Starts the removal of an instance whose creation failed. */
  readonly remove: () => Promise<void>;
  /** Installed in order once the instance runs. With `isResumed`, existing ones are left unchanged. */
  readonly extensions: readonly Extension[];
  /** Started by an earlier process. */
  readonly isResumed: boolean;
  /** The creation failed and the VM is being removed. Not called after `forget`. */
  readonly onFailure?: (error: unknown) => void;
}

export interface LaunchTrackerOptions {
  readonly machines: VirtualMachines;
  readonly clock: Clock;
  readonly log: Log;
}

/** VMs polled concurrently; others are created too and wait to be polled. */
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

  /** Does nothing for a VM already tracked. `signal` ends the process, not the VM. */
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

  /** Call when the VM is about to be deleted: the result of its creation no longer matters. */
  forget(name: string): void {
    this.stops.get(name)?.abort();
    this.stops.delete(name);
  }

  private async run(launch: TrackedLaunch, signal: AbortSignal): Promise<void> {
    const { log } = this.options;
    const { name, onFailure } = launch;
    if (signal.aborted) return;
    try {
      if (!(await launch.finish(signal))) return;
      for (const extension of launch.extensions) await this.extend(launch, extension, signal);
    } catch (error) {
      if (signal.aborted) return;
      log.error('the creation of an instance failed after it was accepted; removing it', { name, error });
      onFailure?.(error);
      await launch.remove();
    }
  }

  /** A failure is retried; it fails the launch only if the VM cannot become a node without the extension. */
  private async extend({ name, isResumed }: TrackedLaunch, extension: Extension, signal: AbortSignal): Promise<void> {
    const { machines, clock, log } = this.options;
    // An earlier process may have installed the extension.
    if (isResumed && (await machines.hasExtension(name, extension.name, signal))) return;
    for (let attempt = 1; ; attempt += 1) {
      try {
        await machines.ensureExtension(name, extension, signal);
        return;
      } catch (error) {
        if (signal.aborted) return;
        log.error('an extension of a VM failed', { name, extension: extension.name, attempt, error });
        if (attempt >= EXTENSION_ATTEMPTS) {
          if (extension.isRequired) throw error;
          return;
        }
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
