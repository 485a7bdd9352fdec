/**
 * Server-side apply: sets the applied fields, and removes fields that the applier owned and no longer sets, unless they
 * have another owner.
 */
import { isFields, type ApiObject, type Fields } from '../fields.ts';
import type { Shape } from '../shape.ts';
import { difference, elementText, fieldsOf, isEmpty, isMember, itemElement, union, type FieldSet } from './fieldSet.ts';
import { ownersBeforeApply, withoutUnowned, type Writer } from './managedFields.ts';

export interface Applied {
  readonly object: ApiObject;
  /** The fields of the configuration, which the applier owns now. */
  readonly owned: FieldSet;
}

export function applyConfiguration(
  shape: Shape,
  live: ApiObject | undefined,
  configuration: ApiObject,
  writer: Writer,
): Applied {
  const owned = withoutUnowned(fieldsOf(shape, configuration, true));
  const merged = live === undefined ? configuration : mergeStruct(shape, live, configuration);
  if (live === undefined) return { object: merged as ApiObject, owned };
  const { mine, others } = ownersBeforeApply(live, writer);
  const abandoned = difference(mine, union(owned, others));
  const object = isEmpty(abandoned) ? merged : removeFields(shape, merged, abandoned, union(owned, others));
  return { object: object as ApiObject, owned };
}

function mergeStruct(shape: Shape, live: Fields, applied: Fields): Fields {
  const result: Fields = { ...live };
  for (const [name, value] of Object.entries(applied)) {
    const child = shape.field(name);
    if (value !== undefined && child !== undefined) result[name] = mergeValue(child, live[name], value);
  }
  return result;
}

function mergeValue(shape: Shape, live: unknown, applied: unknown): unknown {
  if (shape.atomic || shape.form === 'scalar' || live === undefined) return applied;
  if (isFields(live) && isFields(applied)) return mergeStruct(shape, live, applied);
  if (Array.isArray(live) && Array.isArray(applied) && shape.listType !== 'atomic') {
    return mergeLists(shape, live, applied);
  }
  return applied;
}

/** Merges two orders: live items keep theirs; new items come after the items before them in either list. */
function mergeLists(shape: Shape, live: readonly unknown[], applied: readonly unknown[]): unknown[] {
  const element = (item: unknown): string => itemElement(shape, item) ?? JSON.stringify(item);
  const left = live.map(element);
  const right = applied.map(element);
  const before = new Map(live.map((item, index) => [left[index] ?? '', item]));
  const wanted = new Map(applied.map((item, index) => [right[index] ?? '', item]));
  const shared = right.filter((one) => before.has(one));
  const result: unknown[] = [];
  const merged = new Set<string>();
  const take = (one: string): void => {
    merged.add(one);
    if (shared[0] === one) shared.shift();
    result.push(mergeValue(shape.items, before.get(one), wanted.get(one)));
  };
  let l = 0;
  let r = 0;
  while (l < left.length || r < right.length) {
    const ours = left[l];
    const theirs = right[r];
    if (ours !== undefined && ours === theirs) {
      take(ours);
      l++;
      r++;
    } else if (ours !== undefined && !wanted.has(ours)) {
      result.push(live[l++]);
    } else if (ours !== undefined && (merged.has(ours) || (theirs !== undefined && shared[0] !== ours))) {
      l++;
    } else if (theirs !== undefined) {
      take(theirs);
      r++;
    }
  }
  return result;
}

/** Removes the fields `gone` from a struct or map, and parents that are empty then, unless `kept` has a field in them. */
function removeFields(shape: Shape, value: Fields, gone: FieldSet, kept: FieldSet): Fields {
  const result: Fields = { ...value };
  for (const [element, node] of Object.entries(gone)) {
    if (!element.startsWith('f:')) continue;
    const name = element.slice(2);
    const child = shape.field(name);
    if (child === undefined || result[name] === undefined) continue;
    // A field of a struct without owners inside is removed with the defaults in it.
    const isAbandoned = shape.form === 'struct' && kept[element] === undefined;
    const remaining = isAbandoned ? undefined : removeValue(child, result[name], node, kept[element]);
    if (remaining === undefined) delete result[name];
    else result[name] = remaining;
  }
  return result;
}

function removeValue(shape: Shape, value: unknown, gone: FieldSet, kept: FieldSet | undefined): unknown {
  if (isMember(gone) && kept === undefined) return undefined;
  if (shape.atomic || shape.form === 'scalar') return isMember(gone) ? undefined : value;
  if (isFields(value)) {
    const result = removeFields(shape, value, gone, kept ?? {});
    return Object.keys(result).length === 0 && kept === undefined ? undefined : result;
  }
  if (!Array.isArray(value)) return value;
  const result = (value as unknown[]).flatMap((item) => {
    const element = itemElement(shape, item) ?? '';
    const node = gone[element];
    if (node === undefined) return [item];
    const remaining = removeValue(shape.items, item, node, kept?.[element]);
    return remaining === undefined ? [] : [remaining];
  });
  return result.length === 0 && kept === undefined ? undefined : result;
}

/** Returns upstream's message about the first duplicate item of lists that merge by key; undefined if there is none. */
export function duplicateItem(shape: Shape, value: unknown, path = ''): string | undefined {
  if (Array.isArray(value)) {
    if (shape.form !== 'list' || shape.listType === 'atomic') return undefined;
    const seen = new Set<string>();
    for (const item of value as unknown[]) {
      const element = itemElement(shape, item);
      if (element !== undefined && seen.has(element)) {
        return `${path}: duplicate entries for key ${elementText(element)}`;
      }
      if (element !== undefined) seen.add(element);
      const inner = duplicateItem(shape.items, item, `${path}${element === undefined ? '' : elementText(element)}`);
      if (inner !== undefined) return inner;
    }
    return undefined;
  }
  if (!isFields(value) || shape.atomic) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const child = shape.field(name);
    const inner = child === undefined ? undefined : duplicateItem(child, member, `${path}.${name}`);
    if (inner !== undefined) return inner;
  }
  return undefined;
}
