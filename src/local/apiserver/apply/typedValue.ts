/**
 * Returns upstream's message about the first value of an applied configuration that is not of its declared type. The
 * message shows the value as Go does.
 */
import { isFields } from '../fields.ts';
import { goText } from '../patch/goText.ts';
import type { Shape } from '../shape.ts';
import { elementText, itemElement } from './fieldSet.ts';

export function mistypedField(shape: Shape, value: unknown, path = ''): string | undefined {
  if (value === null || value === undefined) return undefined;
  switch (shape.form) {
    case 'scalar':
      return mistypedScalar(shape, value, path);
    case 'list':
      if (!Array.isArray(value)) return `${path}: expected list, got &{${goText(value)}}`;
      return first(value, (item, index) => mistypedField(shape.items, item, `${path}${place(shape, item, index)}`));
    case 'struct':
    case 'map':
      if (!isFields(value)) return `${path}: expected map, got &{${goText(value)}}`;
      return first(Object.entries(value), ([name, member]) => {
        const child = shape.field(name);
        return child === undefined ? undefined : mistypedField(child, member, `${path}.${name}`);
      });
    case 'open':
      return undefined;
  }
}

/** Returns the path element of a list item: its key, or its index without one. */
function place(shape: Shape, item: unknown, index: number): string {
  const element = shape.listType === 'map' ? itemElement(shape, item) : undefined;
  return element === undefined ? `[${index}]` : elementText(element);
}

function first<T>(items: readonly T[], find: (item: T, index: number) => string | undefined): string | undefined {
  for (const [index, item] of items.entries()) {
    const found = find(item, index);
    if (found !== undefined) return found;
  }
  return undefined;
}

function mistypedScalar(shape: Shape, value: unknown, path: string): string | undefined {
  switch (shape.scalar) {
    case 'integer':
    case 'number':
      return typeof value === 'number' ? undefined : `${path}: expected numeric (int or float), got ${goType(value)}`;
    case 'string':
      return typeof value === 'string'
        ? undefined
        : `${path}: expected string, got &value.valueUnstructured{Value:${goLiteral(value)}}`;
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `${path}: expected boolean, got &{${goText(value)}}`;
    case 'intOrString':
    case 'quantity':
      return typeof value === 'object' ? `${path}: expected any scalar, got &{${goText(value)}}` : undefined;
    case 'any':
      return undefined;
  }
}

function goType(value: unknown): string {
  if (Array.isArray(value)) return '[]interface {}';
  if (isFields(value)) return 'map[string]interface {}';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

function goLiteral(value: unknown): string {
  if (Array.isArray(value)) return `[]interface {}{${value.map(goLiteral).join(', ')}}`;
  if (!isFields(value)) return JSON.stringify(value);
  const members = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  const shown = members.map(([name, member]) => `${JSON.stringify(name)}:${goLiteral(member)}`);
  return `map[string]interface {}{${shown.join(', ')}}`;
}
