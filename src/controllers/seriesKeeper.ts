import type { Gauge } from '../kube/metrics.ts';

type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly gauge: Gauge;
  readonly labels: Labels;
  readonly value: number;
}

/**
 * Keeps the series of things that come and go. In: the samples of each owner (a node, a pool). Out: gauges that show
 * them, and show nothing of an owner any more that has none or is gone.
 */
export class SeriesKeeper {
  readonly #owners = new Map<string, { readonly version: unknown; readonly series: ReadonlyMap<string, Sample> }>();

  /** Does nothing while `version` is the one of before: most things do not change from one look to the next. */
  set(owner: string, version: unknown, samples: () => readonly Sample[]): void {
    const known = this.#owners.get(owner);
    if (known && known.version === version) return;
    const series = new Map(samples().map((sample) => [keyOf(sample), sample]));
    for (const [key, { gauge, labels }] of known?.series ?? []) if (!series.has(key)) gauge.delete(labels);
    for (const { gauge, labels, value } of series.values()) gauge.set(labels, value);
    this.#owners.set(owner, { version, series });
  }

  /** Forgets all owners but these. */
  keepOnly(owners: ReadonlySet<string>): void {
    for (const [owner, { series }] of this.#owners) {
      if (owners.has(owner)) continue;
      for (const { gauge, labels } of series.values()) gauge.delete(labels);
      this.#owners.delete(owner);
    }
  }
}

/** One number per gauge object, so that two gauges with the same labels are kept apart. */
const gaugeNumbers = new WeakMap<Gauge, number>();
let nextNumber = 0;

function keyOf({ gauge, labels }: Sample): string {
  const number = gaugeNumbers.get(gauge) ?? nextNumber++;
  gaugeNumbers.set(gauge, number);
  return JSON.stringify([number, Object.entries(labels)]);
}
