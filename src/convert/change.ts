/** A field that a conversion could not take over unchanged. */
export interface Change {
  /** `NodePool default`. */
  readonly object: string;
  /** Path of the field in the source. */
  readonly field: string;
  /**
   * `changed`: replaced by something similar. `dropped`: Azure has no equivalent. `left`: kept, although it will not
   * work.
   */
  readonly outcome: 'changed' | 'dropped' | 'left';
  /** The old value. */
  readonly from: string;
  /** The new value; absent when there is none. */
  readonly to?: string;
  readonly why: string;
}

/** Records the changes of one object. */
export type Note = (change: Omit<Change, 'object'>) => void;

export function changeText({ object, field, outcome, from, to, why }: Change): string {
  const what = `${outcome} ${object}: ${field}${from === '' ? '' : `: ${from}`}`;
  return `${what}${to === undefined ? '' : ` → ${to}`} (${why})`;
}

const MAX_SHOWN = 120;

/** A manifest value, shortened to fit in a line. */
export function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN - 1)}…` : text;
}
