/** Compares an object before and after a write: returns the fields added, modified and removed, to update ownership. */
import { isFields, sameJson, type Fields } from '../fields.ts';
import type { Shape } from '../shape.ts';
import { isEmpty, itemElement, memberNode, nestedFields, type FieldSet } from './fieldSet.ts';

export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

const EMPTY: FieldSet = Object.freeze({});
const SAME: Comparison = { added: EMPTY, modified: EMPTY, removed: EMPTY };

export function compare(shape: Shape, before: Fields, after: Fields): Comparison {
  if (before === after) return SAME;
  if (isNothing(before)) return { ...SAME, added: nestedFields(shape, after, false) ?? EMPTY };
  const collected = nothing();
  const takeField = (name: string): void => {
    const [old, current] = [before[name], after[name]];
    if (old === current) return;
    const child = shape.field(name);
    if (child !== undefined) take(collected, `f:${name}`, compareValues(child, old, current));
  };
  for (const name of Object.keys(before)) takeField(name);
  for (const name of Object.keys(after)) if (!Object.hasOwn(before, name)) takeField(name);
  return collected;
}

type Outcome = Comparison | 'added' | 'modified' | 'removed' | 'same';
type Collected = Record<keyof Comparison, Record<string, FieldSet>>;

const nothing = (): Collected => ({ added: {}, modified: {}, removed: {} });

function take(collected: Collected, element: string, outcome: Outcome): void {
  if (outcome === 'same') return;
  if (typeof outcome === 'string') collected[outcome][element] = EMPTY;
  else {
    for (const name of ['added', 'modified', 'removed'] as const) {
      if (!isEmpty(outcome[name])) collected[name][element] = outcome[name];
    }
  }
}

function compareValues(shape: Shape, before: unknown, after: unknown): Outcome {
  if (before === after) return 'same';
  if (after === undefined) return wholly('removed', shape, before);
  if (before === undefined) return wholly('added', shape, after);
  const whole = shape.atomic || shape.form === 'scalar';
  if (!whole && isFields(before ?? {}) && isFields(after ?? {})) {
    return compare(shape, (before ?? {}) as Fields, (after ?? {}) as Fields);
  }
  // An empty list may be null, which is not an absent list.
  if (!whole && Array.isArray(before ?? []) && Array.isArray(after ?? []) && shape.listType !== 'atomic') {
    return compareLists(shape, (before ?? []) as unknown[], (after ?? []) as unknown[]);
  }
  return sameJson(before, after) ? 'same' : 'modified';
}

/** Returns the outcome for a value that was added or removed with all fields in it. */
function wholly(change: 'added' | 'removed', shape: Shape, value: unknown): Outcome {
  const children = nestedFields(shape, value, false);
  if (children === undefined || isEmpty(children)) return change;
  return { ...SAME, [change]: memberNode(children) };
}

function isNothing(fields: Fields): boolean {
  for (const _name in fields) return false;
  return true;
}

function compareLists(shape: Shape, before: readonly unknown[], after: readonly unknown[]): Comparison {
  if (before.length === 0) return { ...SAME, added: nestedFields(shape, after, false) ?? EMPTY };
  const collected = nothing();
  const old = new Map(before.map((item) => [itemElement(shape, item) ?? '', item]));
  const current = new Map(after.map((item) => [itemElement(shape, item) ?? '', item]));
  for (const element of new Set([...old.keys(), ...current.keys()])) {
    take(collected, element, compareValues(shape.items, old.get(element), current.get(element)));
  }
  return collected;
}
