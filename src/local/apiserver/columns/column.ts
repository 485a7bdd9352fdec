/** Makes table columns, as `kubectl get` prints them, from rows of data; has the cells that several kinds share. */
import { InvariantError } from '../../../errors/invariantError.ts';
import { at, fieldsAt, isFields, listAt, numberAt, textAt, type ApiObject } from '../fields.ts';
import { age } from '../humanTime.ts';
import type { Column } from '../resource.ts';

/** Computes a cell. `now`: milliseconds; `given`: the arguments in parentheses in the row. */
type Cell = (object: ApiObject, now: number, ...given: readonly string[]) => unknown;
export type Cells = Readonly<Record<string, Cell>>;

/** `Name`, `Age`, or: name; type, with `wide` if only for `-o wide`; a path or `cell(given,…)`; text if absent. */
export type ColumnRow = string | readonly string[];

export const NONE = '<none>';
export const UNSET = '<unset>';

export const NAME: Column = { name: 'Name', type: 'string', format: 'name', cell: (object) => object.metadata.name };
export const AGE: Column = {
  name: 'Age',
  type: 'string',
  cell: (object, now) => age(object.metadata.creationTimestamp, now),
};

/** Other types are strings; `figure` is a number in a column that upstream declares as string. */
const TYPES: Readonly<Record<string, Column['type']>> = { integer: 'integer', boolean: 'boolean', date: 'date' };

export function columnOf(row: ColumnRow, cells: Cells): Column {
  if (typeof row === 'string') return row === 'Age' ? AGE : NAME;
  const [name = '', how = '', from = '', absent = ''] = row;
  const [type = '', wide] = how.split(' ');
  return {
    name,
    type: TYPES[type] ?? 'string',
    ...(type === 'name' && { format: 'name' }),
    ...(wide && { priority: 1 }),
    cell: cellOf(type, from, absent, cells),
  };
}

function cellOf(type: string, from: string, absent: string, cells: Cells): Column['cell'] {
  const [, called, given = ''] = /^(\w+)\((.*)\)$/.exec(from) ?? [];
  if (called !== undefined) {
    const cell = cells[called];
    if (cell === undefined) throw new InvariantError(`a table names the cell ${called}, which does not exist`);
    return (object, now) => cell(object, now, ...given.split(','));
  }
  const path = from.split('.');
  if (type === 'integer' || type === 'figure') return (object) => count(object, ...path);
  if (type !== 'boolean') return (object) => textAt(object, ...path) ?? absent;
  return (object) => at(object, ...path) === true || (absent === 'true' && at(object, ...path) !== false);
}

/** Cells of fields at dotted paths, for any kind. */
export const sharedCells: Cells = {
  filled: (object, _now, path = '') => orNone(textAt(object, ...path.split('.'))),
  labels: (object, _now, path = '') => labelTexts(at(object, ...path.split('.'))).join(',') || NONE,
  selector: (object, _now, path = '') => selectorText(at(object, ...path.split('.'))),
  length: (object, _now, path = '') => listAt(object, ...path.split('.')).length,
  list: (object, _now, path = '') =>
    listAt(object, ...path.split('.'))
      .map(String)
      .join(','),
  trimmed: (object, _now, path = '') => (textAt(object, ...path.split('.')) ?? '').trim(),
  size: (object, _now, ...fields) =>
    fields.reduce((sum, field) => sum + Object.keys(fieldsAt(object, field) ?? {}).length, 0),
  joined: (object, _now, path = '', first = '', second = '') => joined(at(object, ...path.split('.')), first, second),
  shown: (object, _now, path = '', absent = '') =>
    String(numberAt(object, ...path.split('.')) ?? textAt(object, ...path.split('.')) ?? absent),
  condition: (object, _now, type = '', absent = '') => textAt(conditionOf(object, type), 'status') ?? absent,
  containers: (object, _now, template = '', field = '') =>
    listAt(object, ...template.split('.'), 'spec', 'containers')
      .map((container) => textAt(container, field) ?? '')
      .join(','),
};

/** Returns the number at a path; 0 if absent. */
export function count(object: ApiObject, ...path: string[]): number {
  const value = at(object, ...path);
  return typeof value === 'number' ? value : 0;
}

export function orNone(value: unknown): string {
  return typeof value === 'string' && value !== '' ? value : NONE;
}

/** Returns `a/b` of the texts of two fields. */
export function joined(object: unknown, first: string, second: string): string {
  return `${textAt(object, first) ?? ''}/${textAt(object, second) ?? ''}`;
}

function labelTexts(labels: unknown): readonly string[] {
  const entries = isFields(labels) ? Object.entries(labels) : [];
  return entries.map(([key, value]) => `${key}=${String(value)}`).sort();
}

export function conditionOf(object: ApiObject, type: string): unknown {
  return listAt(object, 'status', 'conditions').find((entry) => textAt(entry, 'type') === type);
}

/** Returns a LabelSelector in the format of `-l`. */
export function selectorText(selector: unknown): string {
  if (!isFields(selector)) return NONE;
  const others = listAt(selector, 'matchExpressions').map((expression) => {
    const [key, operator] = [textAt(expression, 'key') ?? '', textAt(expression, 'operator')];
    const values = listAt(expression, 'values').map(String).sort().join(',');
    if (operator === 'In' || operator === 'NotIn') return `${key} ${operator.toLowerCase()} (${values})`;
    return operator === 'Exists' ? key : `!${key}`;
  });
  const parts = [...labelTexts(selector['matchLabels']), ...others];
  return parts.length === 0 ? NONE : parts.join(',');
}

/** Returns the first items of a long list and the number of the others. */
export function firstOf(all: readonly string[], most: number, absent: string, separator = ','): string {
  if (all.length === 0) return absent;
  const more = all.length > most ? ` + ${all.length - most} more...` : '';
  return all.slice(0, most).join(separator) + more;
}
