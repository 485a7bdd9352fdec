/** What is left of the subscription's quota, by VM family. What is not known is allowed: Azure refuses by itself. */
import type { ComputeManagementClient } from '@azure/arm-compute';
import type { Clock } from '../clock/clock.ts';
import type { Sku } from '../catalogue/resourceSku.ts';

export const QUOTA_INTERVAL = 10 * 60 * 1000;
/** Older figures say more about the past than about the quota. */
const BELIEVED_FOR = QUOTA_INTERVAL + 5 * 60 * 1000;

export class Quota {
  private readonly compute: ComputeManagementClient;
  private readonly location: string;
  private readonly clock: Clock;
  private remaining: ReadonlyMap<string, number> = new Map();
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
    return remaining === undefined || sku.cpus <= remaining;
  }

  async refresh(signal?: AbortSignal): Promise<void> {
    const remaining = new Map<string, number>();
    const usages = this.compute.usage.list(this.location, signal === undefined ? {} : { abortSignal: signal });
    for await (const { name, limit, currentValue } of usages) {
      if (name?.value !== undefined) remaining.set(name.value, limit - currentValue);
    }
    this.refreshedAt = this.clock.now();
    if (sameFigures(remaining, this.remaining)) return;
    this.remaining = remaining;
    this.generationNumber += 1;
  }

  private forgetWhenOld(): void {
    if (this.remaining.size === 0 || this.clock.now() - this.refreshedAt <= BELIEVED_FOR) return;
    this.remaining = new Map();
    this.generationNumber += 1;
  }
}

function sameFigures(left: ReadonlyMap<string, number>, right: ReadonlyMap<string, number>): boolean {
  return left.size === right.size && [...left].every(([name, figure]) => right.get(name) === figure);
}
