/**
 * Levels of a load: per resource, between which two room sizes of the pool's instance types it lies. Loads of the same
 * level fit the same types, so results are computed once per level.
 */
import { floatAt, itemAt } from '../rows.ts';
import type { CompiledPool } from './compiledPool.ts';

export class RoomLevels {
  /** By resource: the distinct rooms of the types, sorted. */
  private readonly rooms: readonly Float64Array[];
  /** Whether there are few enough levels to number them exactly. */
  private readonly isNumbered: boolean;

  private constructor(rooms: readonly Float64Array[], isNumbered: boolean) {
    this.rooms = rooms;
    this.isNumbered = isNumbered;
  }

  static of({ types, room }: CompiledPool): RoomLevels {
    const columns = types.length === 0 ? 0 : room.length / types.length;
    const rooms = Array.from({ length: columns }, (_, column) => distinctIn(room, column, columns));
    const levels = rooms.reduce((product, { length }) => product * (length + 1), 1);
    return new RoomLevels(rooms, levels < Number.MAX_SAFE_INTEGER);
  }

  levelOf(load: Float64Array): number | string {
    return this.isNumbered ? this.numberOf(load) : this.nameOf(load);
  }

  private numberOf(load: Float64Array): number {
    let number = 0;
    for (let column = 0; column < this.rooms.length; column++) {
      const rooms = itemAt(this.rooms, column);
      number = number * (rooms.length + 1) + roomsBelow(rooms, floatAt(load, column));
    }
    return number;
  }

  private nameOf(load: Float64Array): string {
    return this.rooms.map((rooms, column) => roomsBelow(rooms, floatAt(load, column))).join('/');
  }
}

/** Distinct values of a column, sorted. */
function distinctIn(room: Float64Array, column: number, columns: number): Float64Array {
  const values = new Float64Array(room.length / columns);
  for (let type = 0; type < values.length; type++) values[type] = floatAt(room, type * columns + column);
  values.sort();
  let count = 0;
  for (let at = 0; at < values.length; at++) {
    if (at === 0 || floatAt(values, at) !== floatAt(values, at - 1)) values[count++] = floatAt(values, at);
  }
  return values.slice(0, count);
}

function roomsBelow(rooms: Float64Array, amount: number): number {
  let low = 0;
  let high = rooms.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (floatAt(rooms, middle) < amount) low = middle + 1;
    else high = middle;
  }
  return low;
}
