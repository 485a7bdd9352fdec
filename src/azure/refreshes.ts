/** Refreshes the data about Azure's offer: each source on its own schedule, whether anything is planned or not. */
import type { Clock } from '../clock/clock.ts';
import type { Random } from '../clock/random.ts';
import type { Log } from '../kube/log.ts';
import type { Controller } from '../kube/runtime/controller.ts';

export interface RefreshedSource {
  readonly name: string;
  /** Milliseconds between refreshes, also after a failed one. */
  readonly interval: number;
  readonly retry: number;
  refresh(signal?: AbortSignal): Promise<void>;
}

export interface RefreshesOptions {
  readonly sources: readonly RefreshedSource[];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** So that processes started together do not stay in step: each wait is shortened by up to this share. */
const JITTER = 0.1;

export class Refreshes implements Controller {
  readonly name = 'azure.refresh';
  private readonly options: RefreshesOptions;
  private readonly due = new Map<RefreshedSource, number>();

  constructor(options: RefreshesOptions) {
    this.options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.options.sources.map((source) => this.keepFresh(source, signal)));
  }

  /** Throws when the refresh fails. */
  async refresh(source: RefreshedSource, signal?: AbortSignal): Promise<void> {
    const { clock } = this.options;
    this.due.set(source, clock.now() + this.jittered(source.retry));
    await source.refresh(signal);
    this.due.set(source, clock.now() + this.jittered(source.interval));
  }

  private jittered(milliseconds: number): number {
    return milliseconds * (1 - JITTER * this.options.random.next());
  }

  private async keepFresh(source: RefreshedSource, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.options;
    while (!signal.aborted) {
      try {
        await clock.sleep(Math.max(0, (this.due.get(source) ?? 0) - clock.now()), signal);
        await this.refresh(source, signal);
      } catch (error) {
        if (!signal.aborted) log.error(`cannot refresh ${source.name}; what was known stays`, { error });
      }
    }
  }
}
