/** Resources as rows of numbers with one column per resource. */
import { itemAt } from '../rows.ts';
import { quantityOf, type Resources } from '../../units/resources.ts';

/** Columns that always exist, at these indexes. */
export const CPU = 0;
export const MEMORY = 1;
export const PODS = 2;
const ALWAYS = ['cpu', 'memory', 'pods'];

/**
 * Cpu is counted in millicores and everything else in units, as in the scheduler. Requests round up and offers round
 * down, so that a plan that fits here also fits in reality.
 */
export class ResourceTable {
  /** By column. */
  readonly names: readonly string[];
  /** Resources that something offers. */
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

  /** A requested resource that nothing offers: the pod cannot be placed. */
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
