/**
 * Sets of fields in the format of `managedFields` (FieldsV1): union, difference, intersection, and readable paths.
 *
 * A node maps path elements (`f:name`, `k:{"name":"a"}`, `v:"x"`) to nodes. A field is a member of the set if its node
 * is empty or has the element `.`; other nodes are only parents of members.
 */
import { isFields, type Fields } from '../fields.ts';
import type { Shape } from '../shape.ts';

export interface FieldSet {
  readonly [element: string]: FieldSet;
}

const SELF = '.';
const EMPTY: FieldSet = Object.freeze({});

export function isEmpty(set: FieldSet): boolean {
  for (const _element in set) return false;
  return true;
}

const MAX_DEPTH = 200;

/** Whether a value from a request is a valid set: nested objects with valid path elements. */
export function isFieldSet(value: unknown, depth = 0): value is FieldSet {
  if (!isFields(value) || depth > MAX_DEPTH) return false;
  return Object.entries(value).every(([element, node]) => isElement(element) && isFieldSet(node, depth + 1));
}

function isElement(element: string): boolean {
  if (element === SELF || element.startsWith('f:')) return true;
  if (!/^[kvi]:/.test(element)) return false;
  try {
    const parsed: unknown = JSON.parse(element.slice(2));
    return !element.startsWith('k:') || isFields(parsed);
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

/** Whether the path of a node is itself a member. */
export function isMember(node: FieldSet): boolean {
  return SELF in node || isEmpty(node);
}

/** Returns the node of a member with these children. */
export function memberNode(children: FieldSet): FieldSet {
  return isEmpty(children) ? EMPTY : { [SELF]: EMPTY, ...children };
}

function childrenOf(node: FieldSet): [string, FieldSet][] {
  return Object.entries(node).filter(([element]) => element !== SELF);
}

/** Returns the node of a path with these children; undefined if it is no member and has none. */
function build(member: boolean, children: FieldSet): FieldSet | undefined {
  if (member) return memberNode(children);
  return isEmpty(children) ? undefined : children;
}

export function union(left: FieldSet, right: FieldSet): FieldSet {
  if (isEmpty(right)) return left;
  if (isEmpty(left)) return right;
  const result: Record<string, FieldSet> = { ...left };
  for (const [element, node] of Object.entries(right)) {
    const other = result[element];
    if (other === undefined || element === SELF) result[element] = node;
    else {
      const children = union(withoutSelf(other), withoutSelf(node));
      result[element] = build(isMember(other) || isMember(node), children) ?? EMPTY;
    }
  }
  return result;
}

function withoutSelf(node: FieldSet): FieldSet {
  if (!(SELF in node)) return node;
  const { [SELF]: _self, ...children } = node;
  return children;
}

/** Returns the members of `left` that are not members of `right`. */
export function difference(left: FieldSet, right: FieldSet): FieldSet {
  const result: Record<string, FieldSet> = {};
  for (const [element, node] of childrenOf(left)) {
    const other = right[element];
    if (other === undefined) {
      result[element] = node;
      continue;
    }
    const kept = build(isMember(node) && !isMember(other), difference(node, other));
    if (kept !== undefined) result[element] = kept;
  }
  return result;
}

export function intersection(left: FieldSet, right: FieldSet): FieldSet {
  const result: Record<string, FieldSet> = {};
  for (const [element, node] of childrenOf(left)) {
    const other = right[element];
    if (other === undefined) continue;
    const kept = build(isMember(node) && isMember(other), intersection(node, other));
    if (kept !== undefined) result[element] = kept;
  }
  return result;
}

/** Returns the paths of the members as in conflicts: `.spec.containers[name="a"].image`. */
export function pathsOf(set: FieldSet, prefix = ''): string[] {
  const result: string[] = [];
  for (const [element, node] of childrenOf(set)) {
    const path = `${prefix}${elementText(element)}`;
    if (isMember(node)) result.push(path);
    result.push(...pathsOf(node, path));
  }
  return result;
}

/** Returns the text of a path element: `.name`, `[name="a"]`, `[="v"]`. */
export function elementText(element: string): string {
  const rest = element.slice(2);
  if (element.startsWith('f:')) return `.${rest}`;
  if (element.startsWith('v:')) return `[=${rest}]`;
  const key: unknown = JSON.parse(rest);
  const parts = isFields(key) ? Object.entries(key) : [];
  return `[${parts.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(',')}]`;
}

/** Returns the path element of a list item; undefined for items of an atomic list. */
export function itemElement(shape: Shape, item: unknown): string | undefined {
  if (shape.listType === 'set') return `v:${JSON.stringify(item)}`;
  if (shape.listType !== 'map' || !isFields(item)) return undefined;
  const [only, another] = shape.listKeys;
  const value = only === undefined ? undefined : item[only];
  // Shortcut for nearly all lists: one key with a string value.
  if (another === undefined && typeof value === 'string') return `k:{${JSON.stringify(only)}:${JSON.stringify(value)}}`;
  const key: Fields = {};
  for (const name of [...shape.listKeys].sort()) {
    const value = item[name] ?? shape.items.field(name)?.defaultValue;
    if (value !== undefined) key[name] = value;
  }
  return `k:${JSON.stringify(key)}`;
}

/**
 * Returns the fields that a value sets. `applied`: only those that server-side apply owns, without the structs around
 * them; otherwise all.
 */
export function fieldsOf(shape: Shape, value: Fields, applied: boolean): FieldSet {
  const result: Record<string, FieldSet> = {};
  for (const [name, member] of Object.entries(value)) {
    const child = member === undefined ? undefined : shape.field(name);
    if (child === undefined) continue;
    const nested = nestedFields(child, member, applied);
    const isStruct = applied && shape.form === 'struct' && child.form !== 'open';
    if (nested === undefined || !isStruct || (isFields(member) && Object.keys(member).length === 0)) {
      result[`f:${name}`] = memberNode(nested ?? EMPTY);
    } else if (!isEmpty(nested)) result[`f:${name}`] = nested;
  }
  return result;
}

/** Returns the fields inside a value; undefined if it is owned as one value. */
export function nestedFields(shape: Shape, value: unknown, applied: boolean): FieldSet | undefined {
  if (shape.atomic || shape.form === 'scalar' || value === null) return undefined;
  if (isFields(value)) return fieldsOf(shape, value, applied);
  if (!Array.isArray(value) || shape.listType === 'atomic') return undefined;
  const result: Record<string, FieldSet> = {};
  for (const item of value as unknown[]) {
    const element = itemElement(shape, item) ?? (applied ? undefined : '');
    if (element !== undefined) result[element] = memberNode(nestedFields(shape.items, item, applied) ?? EMPTY);
  }
  return result;
}
