/** What a conversion did to a field that could not be taken over as it was. */
export interface Change {
  /** `NodePool default`. */
  readonly object: string;
  /** Path of the field in the source. */
  readonly field: string;
  /**
   * `changed`: something that means nearly the same stands in its place. `dropped`: Azure has no equivalent. `left`:
   * it is as it was, and will not work.
   */
  readonly outcome: 'changed' | 'dropped' | 'left';
  /** What was there. */
  readonly from: string;
  /** What is there now; absent when nothing is. */
  readonly to?: string;
  readonly why: string;
}

/** Notes the changes of one object. */
export type Note = (change: Omit<Change, 'object'>) => void;

export function changeText({ object, field, outcome, from, to, why }: Change): string {
  const what = `${outcome} ${object}: ${field}${from === '' ? '' : `: ${from}`}`;
  return `${what}${to === undefined ? '' : ` → ${to}`} (${why})`;
}

const MAX_SHOWN = 120;

/** A value of a manifest, short enough for a line. */
export function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN - 1)}…` : text;
}
