/** What is left of the subscription's quota, by VM family. What is not known is allowed: Azure refuses by itself. */
import type { ComputeManagementClient } from '@azure/arm-compute';
import type { Clock } from '../clock/clock.ts';
import type { Sku } from '../catalogue/resourceSku.ts';

export const QUOTA_INTERVAL = 10 * 60 * 1000;
/** No size has more vCPUs. */
const LARGEST_CPUS = 2048;
/** Older figures say more about the past than about the quota. */
const BELIEVED_FOR = QUOTA_INTERVAL + 5 * 60 * 1000;

export class Quota {
  private readonly compute: ComputeManagementClient;
  private readonly location: string;
  private readonly clock: Clock;
  private remaining: ReadonlyMap<string, number> = new Map();
  /** vCPUs by family of what was launched since the figures were read. */
  private launched = new Map<string, number>();
  private refreshedAt = Number.NEGATIVE_INFINITY;
  private generationNumber = 0;

  constructor(compute: ComputeManagementClient, location: string, clock: Clock) {
    this.compute = compute;
    this.location = location;
    this.clock = clock;
  }

  /** Grows whenever `allows` may answer differently. */
  get generation(): number {
    this.forgetWhenOld();
    return this.generationNumber;
  }

  allows(sku: Sku): boolean {
    this.forgetWhenOld();
    const remaining = this.remaining.get(sku.family);
    return remaining === undefined || sku.cpus <= remaining - (this.launched.get(sku.family) ?? 0);
  }

  /** Azure has accepted an instance on demand, which the figures do not contain yet. */
  noteLaunch({ family, cpus }: Pick<Sku, 'family' | 'cpus'>): void {
    const remaining = this.remaining.get(family);
    if (remaining === undefined) return;
    const launched = (this.launched.get(family) ?? 0) + cpus;
    this.launched.set(family, launched);
    // Far from the wall no answer changes, and whatever is made of the answers stays valid.
    if (remaining - launched < LARGEST_CPUS) this.generationNumber += 1;
  }

  async refresh(signal?: AbortSignal): Promise<void> {
    const remaining = new Map<string, number>();
    const usages = this.compute.usage.list(this.location, signal === undefined ? {} : { abortSignal: signal });
    for await (const { name, limit, currentValue } of usages) {
      if (name?.value !== undefined) remaining.set(name.value, limit - currentValue);
    }
    this.refreshedAt = this.clock.now();
    const wasLaunched = this.launched.size > 0;
    this.launched = new Map();
    if (!wasLaunched && sameFigures(remaining, this.remaining)) return;
    this.remaining = remaining;
    this.generationNumber += 1;
  }

  private forgetWhenOld(): void {
    if (this.remaining.size === 0 || this.clock.now() - this.refreshedAt <= BELIEVED_FOR) return;
    this.remaining = new Map();
    this.launched = new Map();
    this.generationNumber += 1;
  }
}

function sameFigures(left: ReadonlyMap<string, number>, right: ReadonlyMap<string, number>): boolean {
  return left.size === right.size && [...left].every(([name, figure]) => right.get(name) === figure);
}
