import type { Gauge } from '../../kube/metrics.ts';

type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly gauge: Gauge;
  readonly labels: Labels;
  readonly value: number;
  /** Whether `value` is a timestamp, exported as the time since then. */
  readonly since?: boolean;
}

/**
 * Gauge series of objects that appear and disappear (nodes, pools). An owner's series are replaced when its samples
 * change and removed with it.
 */
export class SeriesKeeper {
  private readonly owners = new Map<string, { readonly version: unknown; readonly samples: readonly Sample[] }>();

  /** Does nothing while `version` is unchanged: most owners do not change between two calls. */
  set(owner: string, version: unknown, samples: () => readonly Sample[]): void {
    const known = this.owners.get(owner);
    if (known && known.version === version) return;
    const shown = samples();
    const before = known?.samples ?? [];
    // Usually only values change: no series has to be removed then.
    const sameSeries = shown.length === before.length && shown.every((sample, at) => isSameSeries(sample, before[at]));
    if (!sameSeries && before.length > 0) {
      const kept = new Set(shown.map(keyOf));
      for (const sample of before) if (!kept.has(keyOf(sample))) sample.gauge.delete(sample.labels);
    }
    for (const [at, { gauge, labels, value, since }] of shown.entries()) {
      if (sameSeries && before[at]?.value === value) continue;
      if (since) gauge.setSince(labels, value);
      else gauge.set(labels, value);
    }
    this.owners.set(owner, { version, samples: shown });
  }

  remove(owner: string): void {
    for (const { gauge, labels } of this.owners.get(owner)?.samples ?? []) gauge.delete(labels);
    this.owners.delete(owner);
  }

  /** Removes all owners except these. */
  keepOnly(owners: ReadonlySet<string>): void {
    for (const owner of this.owners.keys()) if (!owners.has(owner)) this.remove(owner);
  }
}

function isSameSeries(sample: Sample, other: Sample | undefined): boolean {
  if (other === undefined || sample.gauge !== other.gauge) return false;
  if (sample.labels === other.labels) return true;
  const names = Object.keys(sample.labels);
  return (
    names.length === Object.keys(other.labels).length &&
    names.every((name) => sample.labels[name] === other.labels[name])
  );
}

/** One number per gauge object, to distinguish gauges with the same labels. */
const gaugeNumbers = new WeakMap<Gauge, number>();
let nextNumber = 0;

function keyOf({ gauge, labels }: Sample): string {
  const number = gaugeNumbers.get(gauge) ?? nextNumber++;
  gaugeNumbers.set(gauge, number);
  return JSON.stringify([number, Object.entries(labels)]);
}
