/**
 * Strategic merge patches; the shape has the lists that merge and their keys. Directives: `$patch:
 * replace|delete|merge`, `$retainKeys`, `$deleteFromPrimitiveList/<field>`, `$setElementOrder/<field>`.
 */
import { isFields, sameJson, type Fields } from '../fields.ts';
import type { Shape } from '../shape.ts';
import { badRequest, unclassified } from '../status.ts';
import { goText } from './goText.ts';

const DIRECTIVE = '$patch';
const RETAIN = '$retainKeys';
const DELETE_PRIMITIVES = '$deleteFromPrimitiveList/';
const ELEMENT_ORDER = '$setElementOrder/';

export function applyStrategicMerge(shape: Shape, live: Fields, patch: Fields): Fields {
  return mergeObject(shape, live, patch) ?? {};
}

/** Returns the merged object; undefined if the patch deletes it. */
function mergeObject(shape: Shape | undefined, live: Fields, patch: Fields): Fields | undefined {
  const directive = patch[DIRECTIVE];
  if (directive === 'replace') return withoutDirectives(patch);
  if (directive === 'delete') return undefined;
  if (directive !== undefined && directive !== 'merge') {
    throw badRequest(`Unknown patch type found: ${JSON.stringify(directive)}`);
  }
  const result: Fields = { ...live };
  const retained = patch[RETAIN];
  if (Array.isArray(retained)) {
    for (const name of Object.keys(result)) if (!retained.includes(name)) delete result[name];
  }
  const orders = new Map<string, readonly unknown[]>();
  for (const [name, value] of Object.entries(patch)) {
    if (name === DIRECTIVE || name === RETAIN) continue;
    if (name.startsWith(DELETE_PRIMITIVES)) {
      const field = name.slice(DELETE_PRIMITIVES.length);
      const gone = Array.isArray(value) ? (value as unknown[]) : [];
      const current = result[field];
      if (Array.isArray(current)) {
        result[field] = (current as unknown[]).filter((item) => !gone.some((one) => sameJson(one, item)));
      }
    } else if (name.startsWith(ELEMENT_ORDER)) {
      if (Array.isArray(value)) orders.set(name.slice(ELEMENT_ORDER.length), value);
    } else {
      mergeField(shape?.field(name), result, name, value);
    }
  }
  for (const [field, order] of orders) {
    const merged = result[field];
    if (!Array.isArray(merged)) continue;
    const before = live[field];
    result[field] = reorder(merged, Array.isArray(before) ? before : [], order, shape?.field(field)?.mergeKey);
  }
  return result;
}

function mergeField(shape: Shape | undefined, result: Fields, name: string, value: unknown): void {
  if (value === null) {
    delete result[name];
    return;
  }
  const current = result[name];
  let merged: unknown;
  if (isFields(value)) merged = mergeObject(shape, isFields(current) ? current : {}, value);
  else if (Array.isArray(value)) merged = mergeList(shape, Array.isArray(current) ? current : [], value);
  else merged = value;
  if (merged === undefined) delete result[name];
  else result[name] = merged;
}

function mergeList(shape: Shape | undefined, live: readonly unknown[], patch: readonly unknown[]): unknown[] {
  const replaces = patch.some(
    (item) => isFields(item) && item[DIRECTIVE] === 'replace' && Object.keys(item).length === 1,
  );
  if (replaces || shape?.mergesList !== true) {
    return patch
      .filter((item) => !(isFields(item) && item[DIRECTIVE] !== undefined && Object.keys(item).length === 1))
      .map((item) => (isFields(item) ? withoutDirectives(item) : item));
  }
  const key = shape.mergeKey;
  if (key === undefined) {
    const result = [...live];
    for (const item of patch) if (!result.some((one) => sameJson(one, item))) result.push(item);
    return reorder(result, live, patch, undefined);
  }
  return reorder(mergeKeyedList(shape, key, live, patch), live, patch, key);
}

function mergeKeyedList(shape: Shape, key: string, live: readonly unknown[], patch: readonly unknown[]): unknown[] {
  const result = [...live];
  for (const item of patch) {
    if (!isFields(item)) throw badRequest(`a list that merges by ${JSON.stringify(key)} holds objects`);
    const identity = item[key];
    if (identity === undefined) throw unclassified(`map: ${goText(item)} does not contain declared merge key: ${key}`);
    const index = result.findIndex((one) => isFields(one) && sameJson(one[key], identity));
    const current = index < 0 ? {} : (result[index] as Fields);
    const merged = mergeObject(shape.items, current, item);
    if (merged === undefined) {
      // Like upstream, deletes every item with the key.
      for (let at = result.length - 1; at >= 0; at--) {
        const one = result[at];
        if (isFields(one) && sameJson(one[key], identity)) result.splice(at, 1);
      }
    } else if (index < 0) result.push(merged);
    else result[index] = merged;
  }
  return result;
}

/** Sorts the items that are in `order`; the others keep their places among those. */
function reorder(
  merged: readonly unknown[],
  live: readonly unknown[],
  order: readonly unknown[],
  key: string | undefined,
): unknown[] {
  const identity = (item: unknown): unknown => (key !== undefined && isFields(item) ? item[key] : item);
  const indexIn = (list: readonly unknown[], item: unknown): number =>
    list.findIndex((one) => sameJson(identity(one), identity(item)));
  const named = merged
    .filter((item) => indexIn(order, item) >= 0)
    .sort((left, right) => indexIn(order, left) - indexIn(order, right));
  const others = merged.filter((item) => indexIn(order, item) < 0);
  const result: unknown[] = [];
  let next = 0;
  for (const item of named) {
    const place = indexIn(live, item);
    while (next < others.length && place >= 0) {
      const other = indexIn(live, others[next]);
      if (other < 0 || other > place) break;
      result.push(others[next++]);
    }
    result.push(item);
  }
  return [...result, ...others.slice(next)];
}

function withoutDirectives(value: Fields): Fields {
  const result: Fields = {};
  for (const [name, member] of Object.entries(value)) {
    if (name === DIRECTIVE || name === RETAIN || name.startsWith(DELETE_PRIMITIVES) || name.startsWith(ELEMENT_ORDER)) {
      continue;
    }
    if (member === null) continue;
    if (isFields(member)) result[name] = withoutDirectives(member);
    else if (Array.isArray(member)) {
      result[name] = (member as unknown[]).map((item) => (isFields(item) ? withoutDirectives(item) : item));
    } else result[name] = member;
  }
  return result;
}
