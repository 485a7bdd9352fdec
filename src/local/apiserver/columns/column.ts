/** The pieces that tables of all kinds share. In: objects. Out: columns and cell texts as `kubectl get` prints them. */
import { at, fieldsAt, isFields, listAt, textAt, type ApiObject } from '../fields.ts';
import { age } from '../humanTime.ts';
import type { Column } from '../resource.ts';

type Cell = Column['cell'];

export const NONE = '<none>';
export const UNSET = '<unset>';

export const text = (name: string, cell: Cell): Column => ({ name, type: 'string', cell });
export const integer = (name: string, cell: Cell): Column => ({ name, type: 'integer', cell });
/** Numbers that upstream declares as text. */
export const figure = (name: string, cell: Cell): Column => ({ name, type: 'string', cell });
export const boolean = (name: string, cell: Cell): Column => ({ name, type: 'boolean', cell });
export const wide = (name: string, cell: Cell): Column => ({ name, type: 'string', priority: 1, cell });

export const nameColumn: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  cell: (object) => object.metadata.name,
};

export const ageColumn: Column = {
  name: 'Age',
  type: 'string',
  cell: (object, now) => age(object.metadata.creationTimestamp, now),
};

/** Kinds that upstream gives no columns of their own show when they were made. */
export const createdColumn: Column = {
  name: 'Created At',
  type: 'date',
  cell: (object) => object.metadata.creationTimestamp ?? '',
};

export const plainColumns: readonly Column[] = [nameColumn, ageColumn];

/** A number that is not there yet counts as zero. */
export function count(object: ApiObject, ...path: string[]): number {
  const value = at(object, ...path);
  return typeof value === 'number' ? value : 0;
}

export function orNone(value: unknown): string {
  return typeof value === 'string' && value !== '' ? value : NONE;
}

export function labelText(labels: unknown): string {
  const entries = isFields(labels) ? Object.entries(labels) : [];
  return entries.length === 0
    ? NONE
    : entries
        .map(([key, value]) => `${key}=${String(value)}`)
        .sort()
        .join(',');
}

/** `metav1.LabelSelector` in the form that `-l` takes. */
export function selectorText(selector: unknown): string {
  if (!isFields(selector)) return NONE;
  const parts = Object.entries(fieldsAt(selector, 'matchLabels') ?? {})
    .map(([key, value]) => `${key}=${String(value)}`)
    .sort();
  for (const expression of listAt(selector, 'matchExpressions')) {
    const key = textAt(expression, 'key') ?? '';
    const values = listAt(expression, 'values').map(String).sort().join(',');
    switch (textAt(expression, 'operator') ?? '') {
      case 'In':
        parts.push(`${key} in (${values})`);
        break;
      case 'NotIn':
        parts.push(`${key} notin (${values})`);
        break;
      case 'Exists':
        parts.push(key);
        break;
      default:
        parts.push(`!${key}`);
    }
  }
  return parts.length === 0 ? NONE : parts.join(',');
}

function containers(spec: unknown): readonly unknown[] {
  return listAt(spec, 'containers');
}

/** The three wide columns of everything with a pod template. */
export function templateColumns(templatePath: readonly string[], selector: Cell | undefined): Column[] {
  const names = wide('Containers', (object) =>
    containers(at(object, ...templatePath, 'spec'))
      .map((container) => textAt(container, 'name') ?? '')
      .join(','),
  );
  const images = wide('Images', (object) =>
    containers(at(object, ...templatePath, 'spec'))
      .map((container) => textAt(container, 'image') ?? '')
      .join(','),
  );
  return selector === undefined ? [names, images] : [names, images, wide('Selector', selector)];
}
