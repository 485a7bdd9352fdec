/**
 * The subscription's vCPU quotas: per VM family, of the region and of spot, with launches in progress counted as used.
 * Unknown quotas are treated as unlimited: Azure itself enforces them.
 */
import type { ComputeManagementClient } from '@azure/arm-compute';
import type { Clock } from '../clock/clock.ts';
import { isFamilyQuota } from '../catalogue/offerings.ts';
import type { Sku } from '../catalogue/resourceSku.ts';
import type { QuotaFigure, QuotaNeed } from '../cloud/instanceType.ts';
import { noMetrics, type Gauge, type MetricsRegistry } from '../kube/metrics.ts';

export const QUOTA_INTERVAL = 10 * 60 * 1000;
/** No size has more vCPUs. */
const LARGEST_CPUS = 2048;
/** Older figures are ignored. */
const BELIEVED_FOR = QUOTA_INTERVAL + 5 * 60 * 1000;

/** A launch, from the moment it is decided. */
export interface QuotaHold {
  /** Azure has accepted the instance: it counts until the figures include it. */
  accepted(): void;
  /** The launch failed. */
  release(): void;
}

interface Held {
  readonly need: QuotaNeed;
  readonly claim: string;
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
  /** Azure's figures. */
  private listed: ReadonlyMap<string, QuotaFigure> = new Map();
  /** Launches not yet included in the figures, and their usage by quota. */
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

  /** Increases whenever the result of `allows` may change. */
  get generation(): number {
    this.forgetWhenOld();
    return this.generationNumber;
  }

  allows(sku: Sku): boolean {
    this.forgetWhenOld();
    const left = this.left(sku.family);
    return left === undefined || sku.cpus <= left;
  }

  /** `planned`: the planned quota use of unlaunched claims, by claim name. */
  figures(planned: ReadonlyMap<string, QuotaNeed>): ReadonlyMap<string, QuotaFigure> {
    this.forgetWhenOld();
    const coming = new Map(this.launched);
    const launching = new Set([...this.held].map(({ claim }) => claim));
    for (const [claim, { names, amount }] of planned) {
      if (launching.has(claim)) continue;
      for (const name of names) coming.set(name, (coming.get(name) ?? 0) + amount);
    }
    return new Map(
      [...this.listed].map(([name, { limit, used }]) => [name, { limit, used: used + (coming.get(name) ?? 0) }]),
    );
  }

  /** Counts a launch from now on, so that concurrent launches do not all count on the same vCPUs. */
  hold(need: QuotaNeed, claim: string): QuotaHold {
    const held: Held = { need, claim, acceptedAt: undefined };
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
    const listed = new Map<string, QuotaFigure>();
    const usages = compute.usage.list(location, signal === undefined ? {} : { abortSignal: signal });
    for await (const { name, limit, currentValue } of usages) {
      if (name?.value !== undefined) listed.set(name.value, { limit, used: currentValue });
    }
    this.refreshedAt = clock.now();
    for (const held of this.held) {
      // A launch accepted while the figures were read may be missing from them.
      if (held.acceptedAt !== undefined && held.acceptedAt < began) this.drop(held);
    }
    if (sameFigures(listed, this.listed)) return;
    this.listed = listed;
    this.generationNumber += 1;
    for (const quota of listed.keys()) this.gauge.set({ quota }, this.left(quota) ?? 0);
  }

  private left(quota: string): number | undefined {
    const figure = this.listed.get(quota);
    return figure && figure.limit - figure.used - (this.launched.get(quota) ?? 0);
  }

  private drop(held: Held): void {
    if (this.held.delete(held)) this.count(held, -1);
  }

  private count({ need: { names, amount } }: Held, sign: 1 | -1): void {
    for (const quota of names) {
      const launched = (this.launched.get(quota) ?? 0) + sign * amount;
      if (launched === 0) this.launched.delete(quota);
      else this.launched.set(quota, launched);
      const left = this.left(quota);
      if (left === undefined) continue;
      this.gauge.set({ quota }, left);
      // Far from the limit no result changes, so that cached results stay valid.
      if (left - amount < LARGEST_CPUS && isFamilyQuota(quota)) this.generationNumber += 1;
    }
  }

  private forgetWhenOld(): void {
    if (this.listed.size === 0 || this.options.clock.now() - this.refreshedAt <= BELIEVED_FOR) return;
    for (const quota of this.listed.keys()) this.gauge.delete({ quota });
    this.listed = new Map();
    this.generationNumber += 1;
  }
}

function sameFigures(left: ReadonlyMap<string, QuotaFigure>, right: ReadonlyMap<string, QuotaFigure>): boolean {
  const isSame = (name: string, { limit, used }: QuotaFigure): boolean => {
    const other = right.get(name);
    return other?.limit === limit && other.used === used;
  };
  return left.size === right.size && [...left].every(([name, figure]) => isSame(name, figure));
}
