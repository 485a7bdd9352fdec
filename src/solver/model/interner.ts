/** Gives each distinct key a number, counted from zero, and keeps one value per key. */
export class Interner<Value> {
  readonly values: Value[] = [];
  private readonly ids = new Map<string, number>();

  /** The number of `key`; `make` is called only the first time. */
  intern(key: string, make: (id: number) => Value): number {
    const known = this.ids.get(key);
    if (known !== undefined) return known;
    const id = this.values.length;
    this.ids.set(key, id);
    this.values.push(make(id));
    return id;
  }

  at(id: number): Value {
    const value = this.values[id];
    if (value === undefined) throw new RangeError(`nothing is numbered ${id}`);
    return value;
  }
}
