/** Resources as rows of numbers with a column per resource, so that they compare. */
import { itemAt } from '../rows.ts';
import { quantityOf, type Resources } from '../../units/resources.ts';

/** Columns that are always there, in this place. */
export const CPU = 0;
export const MEMORY = 1;
export const PODS = 2;
const ALWAYS = ['cpu', 'memory', 'pods'];

/**
 * Processors count in thousandths and everything else in units, as the scheduler counts. What is asked for rounds
 * up and what is offered rounds down, so that a plan that fits here fits in truth.
 */
export class ResourceTable {
  /** By column. */
  readonly names: readonly string[];
  /** Resources of which something is offered. */
  readonly available: ReadonlySet<string>;
  readonly size: number;

  private constructor(names: readonly string[], available: ReadonlySet<string>) {
    this.names = names;
    this.available = available;
    this.size = names.length;
  }

  static of(offered: Iterable<string>): ResourceTable {
    const available = new Set(offered);
    const others = new Set(available);
    for (const name of ALWAYS) others.delete(name);
    return new ResourceTable([...ALWAYS, ...[...others].sort()], available);
  }

  /** A resource that nothing offers: a pod that asks for it has no place. */
  unknown(resources: Resources): string | undefined {
    return Object.keys(resources).find((name) => quantityOf(resources, name).sign() > 0 && !this.names.includes(name));
  }

  asked(resources: Resources): Float64Array {
    const row = new Float64Array(this.size);
    for (let column = 0; column < row.length; column++) {
      const amount = quantityOf(resources, itemAt(this.names, column));
      row[column] = column === CPU ? amount.milliValue() : amount.value();
    }
    return row;
  }

  offered(resources: Resources): Float64Array {
    const row = new Float64Array(this.size);
    for (let column = 0; column < row.length; column++) {
      const amount = quantityOf(resources, itemAt(this.names, column));
      row[column] = column === CPU ? amount.milliFloor() : amount.floor();
    }
    return row;
  }
}
