/**
 * What is left of the subscription's quota, by VM family, less what is being launched. What is not known is allowed:
 * Azure refuses by itself.
 */
import type { ComputeManagementClient } from '@azure/arm-compute';
import type { Clock } from '../clock/clock.ts';
import type { Sku } from '../catalogue/resourceSku.ts';
import { noMetrics, type Gauge, type MetricsRegistry } from '../kube/metrics.ts';

export const QUOTA_INTERVAL = 10 * 60 * 1000;
/** No size has more vCPUs. */
const LARGEST_CPUS = 2048;
/** Older figures say more about the past than about the quota. */
const BELIEVED_FOR = QUOTA_INTERVAL + 5 * 60 * 1000;

/** A launch on demand, from the moment that it is decided on. */
export interface QuotaHold {
  /** Azure has accepted the instance: it counts until the figures contain it. */
  accepted(): void;
  /** Nothing came of it. */
  release(): void;
}

interface Held {
  readonly family: string;
  readonly cpus: number;
  acceptedAt: number | undefined;
}

export interface QuotaOptions {
  readonly compute: ComputeManagementClient;
  readonly location: string;
  readonly clock: Clock;
  readonly metrics?: MetricsRegistry;
}

export class Quota {
  private readonly options: QuotaOptions;
  private readonly gauge: Gauge;
  private remaining: ReadonlyMap<string, number> = new Map();
  /** Launches that the figures do not contain yet, and their vCPUs by family. */
  private readonly held = new Set<Held>();
  private readonly launched = new Map<string, number>();
  private refreshedAt = Number.NEGATIVE_INFINITY;
  private generationNumber = 0;

  constructor(options: QuotaOptions) {
    this.options = options;
    this.gauge = (options.metrics ?? noMetrics).gauge({
      name: 'nodewright_azure_quota_remaining',
      help: 'What is left of a quota of compute in the region (vCPUs of a family, mostly), less launches in flight.',
      labels: ['quota'],
    });
  }

  /** Grows whenever `allows` may answer differently. */
  get generation(): number {
    this.forgetWhenOld();
    return this.generationNumber;
  }

  allows(sku: Sku): boolean {
    this.forgetWhenOld();
    const left = this.left(sku.family);
    return left === undefined || sku.cpus <= left;
  }

  /** Counts a launch from now on, so that launches side by side do not all count on the same vCPUs. */
  hold({ family, cpus }: Pick<Sku, 'family' | 'cpus'>): QuotaHold {
    const held: Held = { family, cpus, acceptedAt: undefined };
    this.held.add(held);
    this.count(held, 1);
    return {
      accepted: () => {
        held.acceptedAt = this.options.clock.now();
      },
      release: () => this.drop(held),
    };
  }

  async refresh(signal?: AbortSignal): Promise<void> {
    const { compute, location, clock } = this.options;
    const began = clock.now();
    const remaining = new Map<string, number>();
    const usages = compute.usage.list(location, signal === undefined ? {} : { abortSignal: signal });
    for await (const { name, limit, currentValue } of usages) {
      if (name?.value !== undefined) remaining.set(name.value, limit - currentValue);
    }
    this.refreshedAt = clock.now();
    for (const held of this.held) {
      // What was accepted while the figures were read may be missing from them.
      if (held.acceptedAt !== undefined && held.acceptedAt < began) this.drop(held);
    }
    if (sameFigures(remaining, this.remaining)) return;
    this.remaining = remaining;
    this.generationNumber += 1;
    for (const quota of remaining.keys()) this.gauge.set({ quota }, this.left(quota) ?? 0);
  }

  private left(family: string): number | undefined {
    const remaining = this.remaining.get(family);
    return remaining === undefined ? undefined : remaining - (this.launched.get(family) ?? 0);
  }

  private drop(held: Held): void {
    if (this.held.delete(held)) this.count(held, -1);
  }

  private count({ family, cpus }: Held, sign: 1 | -1): void {
    const launched = (this.launched.get(family) ?? 0) + sign * cpus;
    if (launched === 0) this.launched.delete(family);
    else this.launched.set(family, launched);
    const left = this.left(family);
    if (left === undefined) return;
    this.gauge.set({ quota: family }, left);
    // Far from the wall no answer changes, and whatever is made of the answers stays valid.
    if (left - Math.abs(cpus) < LARGEST_CPUS) this.generationNumber += 1;
  }

  private forgetWhenOld(): void {
    if (this.remaining.size === 0 || this.options.clock.now() - this.refreshedAt <= BELIEVED_FOR) return;
    for (const quota of this.remaining.keys()) this.gauge.delete({ quota });
    this.remaining = new Map();
    this.generationNumber += 1;
  }
}

function sameFigures(left: ReadonlyMap<string, number>, right: ReadonlyMap<string, number>): boolean {
  return left.size === right.size && [...left].every(([name, figure]) => right.get(name) === figure);
}
