/** Resources as rows of numbers. In: every resource that is offered; out: a column per resource, rows that compare. */
import { quantityOf, type Resources } from '../../units/resources.ts';

const NANO = 1_000_000_000n;
const MICRO = 1_000_000n;

/** Columns that are always there, in this place. */
export const CPU = 0;
export const MEMORY = 1;
export const PODS = 2;

/**
 * Processors count in thousandths and everything else in units, as the scheduler counts. What is asked for rounds
 * up and what is offered rounds down, so that a plan that fits here fits in truth.
 */
export class ResourceTable {
  readonly names: readonly string[];
  readonly size: number;

  constructor(offered: Iterable<Resources>) {
    const others = new Set<string>();
    for (const resources of offered) {
      for (const [name, amount] of Object.entries(resources)) if (amount.sign() > 0) others.add(name);
    }
    for (const name of ['cpu', 'memory', 'pods']) others.delete(name);
    this.names = ['cpu', 'memory', 'pods', ...[...others].sort()];
    this.size = this.names.length;
  }

  /** A resource that nobody offers: whoever asks for it has no place. */
  unknown(resources: Resources): string | undefined {
    return Object.keys(resources).find((name) => quantityOf(resources, name).sign() > 0 && !this.names.includes(name));
  }

  asked(resources: Resources): Float64Array {
    return Float64Array.from(this.names, (name, column) => {
      const amount = quantityOf(resources, name);
      return column === CPU ? amount.milliValue() : amount.value();
    });
  }

  offered(resources: Resources): Float64Array {
    return Float64Array.from(this.names, (name, column) => {
      const nano = quantityOf(resources, name).nanoValue();
      const divisor = column === CPU ? MICRO : NANO;
      const whole = nano / divisor;
      return Number(nano < 0n && whole * divisor !== nano ? whole - 1n : whole);
    });
  }
}
