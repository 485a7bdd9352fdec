/**
 * A gauge whose series are stored by label text. A cluster has a hundred thousand series that rarely change: each line
 * then costs one concatenation, whatever its labels.
 */
import { InvariantError } from '../errors/invariantError.ts';
import type { Gauge, MetricOptions } from '../kube/metrics.ts';

type Labels = Readonly<Record<string, string>>;

const UNSAFE = /[\\"\n]/;
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' };

export class TextGauge implements Gauge {
  private readonly name: string;
  private readonly help: string;
  private readonly labels: readonly string[];
  private readonly values = new Map<string, number>();
  /** Start times, in milliseconds since the epoch, of gauges with elapsed seconds. */
  private readonly moments = new Map<string, number>();

  constructor({ name, help, labels = [] }: MetricOptions) {
    this.name = name;
    this.help = help;
    this.labels = labels;
  }

  set(labels: Labels, value: number): void {
    const series = this.series(labels);
    this.moments.delete(series);
    this.values.set(series, value);
  }

  setSince(labels: Labels, moment: number): void {
    const series = this.series(labels);
    this.values.delete(series);
    this.moments.set(series, moment);
  }

  delete(labels: Labels): void {
    const series = this.series(labels);
    this.values.delete(series);
    this.moments.delete(series);
  }

  /** The text format; only the header when there are no series. */
  *lines(now: number): Generator<string, void, void> {
    yield `# HELP ${this.name} ${this.help.replaceAll(/[\\\n]/g, (one) => ESCAPES[one] ?? one)}\n# TYPE ${this.name} gauge\n`;
    for (const [series, value] of this.values) yield `${series} ${textOf(value)}\n`;
    for (const [series, moment] of this.moments) yield `${series} ${textOf(Math.max(0, now - moment) / 1000)}\n`;
  }

  /** The name with the given labels, in the order of their declaration. */
  private series(labels: Labels): string {
    let text = '';
    let count = 0;
    for (const name of this.labels) {
      const value = labels[name];
      if (value === undefined) continue;
      count++;
      text += text === '' ? `{${name}="${escaped(value)}"` : `,${name}="${escaped(value)}"`;
    }
    for (const name in labels) if (labels[name] !== undefined) count--;
    if (count !== 0) throw new InvariantError(`${this.name} has no label ${undeclared(labels, this.labels)}`);
    return text === '' ? this.name : `${this.name}${text}}`;
  }
}

const undeclared = (labels: Labels, known: readonly string[]): string =>
  Object.keys(labels)
    .filter((name) => !known.includes(name))
    .join(', ');

const escaped = (value: string): string =>
  UNSAFE.test(value) ? value.replaceAll(/[\\"\n]/g, (one) => ESCAPES[one] ?? one) : value;

function textOf(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value);
}
