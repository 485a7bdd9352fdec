/** Resources as rows of numbers. In: every resource that is offered; out: a column per resource, rows that compare. */
import { quantityOf, type Resources } from '../../units/resources.ts';

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
      for (const name of Object.keys(resources)) {
        if (!others.has(name) && quantityOf(resources, name).sign() > 0) others.add(name);
      }
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
    const row = new Float64Array(this.size);
    for (let column = 0; column < row.length; column++) {
      const amount = quantityOf(resources, this.names[column]!);
      row[column] = column === CPU ? amount.milliValue() : amount.value();
    }
    return row;
  }

  offered(resources: Resources): Float64Array {
    const row = new Float64Array(this.size);
    for (let column = 0; column < row.length; column++) {
      const amount = quantityOf(resources, this.names[column]!);
      row[column] = column === CPU ? amount.milliFloor() : amount.floor();
    }
    return row;
  }
}
