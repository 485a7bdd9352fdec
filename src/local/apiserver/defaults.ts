/** What a kind fills in where its writer said nothing: a tree beside the object's own. */
import { copyJson, isFields, type Fields } from './fields.ts';

/** A value, one computed from the object that it is missing in (undefined leaves it out), or an object or list inside. */
export interface Defaults {
  readonly [field: string]: unknown;
}

/** `settle` sees the object after its defaults are in. */
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

/** An object that is there even when it was not written. */
export const always = (tree: Defaults, settle?: (target: Fields) => void): Inside => new Inside(tree, 'always', settle);
/** An object that is filled in only if it was written. */
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
