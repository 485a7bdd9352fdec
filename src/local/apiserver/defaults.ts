/** Default values of a kind, as a tree of the same structure as its objects. */
import { copyJson, isFields, type Fields } from './fields.ts';

/**
 * By field: a value, a function that computes it from the parent object (undefined: no default), or the defaults of a
 * nested object or list.
 */
export interface Defaults {
  readonly [field: string]: unknown;
}

/** Defaults of a nested object or list; `settle` is called with the object after they have been set. */
class Inside {
  readonly tree: Defaults;
  readonly when: 'always' | 'given' | 'each';
  readonly settle: ((target: Fields) => void) | undefined;

  constructor(tree: Defaults, when: Inside['when'], settle?: (target: Fields) => void) {
    this.tree = tree;
    this.when = when;
    this.settle = settle;
  }
}

/** An object that is created if absent. */
export const always = (tree: Defaults, settle?: (target: Fields) => void): Inside => new Inside(tree, 'always', settle);
/** An object that gets defaults only if present. */
export const given = (tree: Defaults, settle?: (target: Fields) => void): Inside => new Inside(tree, 'given', settle);
/** Every object of a list. */
export const each = (tree: Defaults): Inside => new Inside(tree, 'each');

export function fillDefaults(target: Fields, defaults: Defaults): void {
  for (const [name, value] of Object.entries(defaults)) {
    if (value instanceof Inside) fillInside(target, name, value);
    else if (target[name] === undefined || target[name] === null) {
      const made: unknown =
        typeof value === 'function' ? (value as (parent: Fields) => unknown)(target) : copyJson(value);
      if (made !== undefined) target[name] = made;
    }
  }
}

function fillInside(parent: Fields, name: string, { tree, when, settle }: Inside): void {
  if (when === 'always' && !isFields(parent[name])) parent[name] = {};
  const found = parent[name];
  for (const target of when === 'each' && Array.isArray(found) ? (found as unknown[]) : [found]) {
    if (!isFields(target)) continue;
    fillDefaults(target, tree);
    settle?.(target);
  }
}
