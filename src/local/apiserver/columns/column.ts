/** The pieces that tables of all kinds share, and the texts in cells as `kubectl get` prints them. */
import { at, fieldsAt, isFields, listAt, textAt, type ApiObject } from '../fields.ts';
import { age } from '../humanTime.ts';
import type { Column } from '../resource.ts';

type Cell = Column['cell'];
/** The columns of each kind. */
export type Tables = Readonly<Record<string, readonly Column[]>>;

export const NONE = '<none>';
export const UNSET = '<unset>';

/** A text at a dotted path, or a computed one. */
export function text(name: string, from: string | Cell, absent = ''): Column {
  if (typeof from !== 'string') return { name, type: 'string', cell: from };
  const path = from.split('.');
  return { name, type: 'string', cell: (object) => textAt(object, ...path) ?? absent };
}
/** Only with `-o wide`. */
export const wide = (name: string, from: string | Cell, absent?: string): Column => ({
  ...text(name, from, absent),
  priority: 1,
});
/** A number at a dotted path, or a computed one; zero while it is not there. */
export const integer = (name: string, from: string | Cell): Column => ({ name, type: 'integer', cell: counted(from) });
/** A number that upstream declares as text. */
export const figure = (name: string, from: string | Cell): Column => ({ name, type: 'string', cell: counted(from) });
/** Whether the flag at a dotted path is set. */
export const flag = (name: string, path: string, absent = false): Column => ({
  name,
  type: 'boolean',
  cell: (object) => at(object, ...path.split('.')) === true || (absent && at(object, ...path.split('.')) !== false),
});

function counted(from: string | Cell): Cell {
  if (typeof from !== 'string') return from;
  const path = from.split('.');
  return (object) => count(object, ...path);
}

export const NAME: Column = { name: 'Name', type: 'string', format: 'name', cell: (object) => object.metadata.name };
export const AGE = text('Age', (object, now) => age(object.metadata.creationTimestamp, now));
/** Kinds that upstream gives no columns of their own show when they were made. */
const CREATED: Column = {
  name: 'Created At',
  type: 'date',
  cell: (object) => object.metadata.creationTimestamp ?? '',
};

export const plainColumns: readonly Column[] = [NAME, AGE];
export const createdColumns: readonly Column[] = [NAME, CREATED];

/** A number that is not there yet counts as zero. */
export function count(object: ApiObject, ...path: string[]): number {
  const value = at(object, ...path);
  return typeof value === 'number' ? value : 0;
}

export function orNone(value: unknown): string {
  return typeof value === 'string' && value !== '' ? value : NONE;
}

/** `a/b` from the texts at two fields of an object inside. */
export function joined(object: unknown, first: string, second: string): string {
  return `${textAt(object, first) ?? ''}/${textAt(object, second) ?? ''}`;
}

export function labelText(labels: unknown): string {
  const entries = isFields(labels) ? Object.entries(labels) : [];
  const texts = entries.map(([key, value]) => `${key}=${String(value)}`);
  return texts.length === 0 ? NONE : texts.sort().join(',');
}

export function conditionOf(object: ApiObject, type: string): unknown {
  return listAt(object, 'status', 'conditions').find((entry) => textAt(entry, 'type') === type);
}

/** `metav1.LabelSelector` in the form that `-l` takes. */
export function selectorText(selector: unknown): string {
  if (!isFields(selector)) return NONE;
  const equal = Object.entries(fieldsAt(selector, 'matchLabels') ?? {}).map(
    ([key, value]) => `${key}=${String(value)}`,
  );
  const others = listAt(selector, 'matchExpressions').map((expression) => {
    const key = textAt(expression, 'key') ?? '';
    const values = listAt(expression, 'values').map(String).sort().join(',');
    switch (textAt(expression, 'operator') ?? '') {
      case 'In':
        return `${key} in (${values})`;
      case 'NotIn':
        return `${key} notin (${values})`;
      case 'Exists':
        return key;
      default:
        return `!${key}`;
    }
  });
  const parts = [...equal.sort(), ...others];
  return parts.length === 0 ? NONE : parts.join(',');
}

/** The wide columns of everything with a pod template. */
export function templateColumns(template: string, selector?: Cell): Column[] {
  const each = (field: string) => (object: ApiObject) =>
    listAt(object, ...template.split('.'), 'spec', 'containers')
      .map((container) => textAt(container, field) ?? '')
      .join(',');
  const columns = [wide('Containers', each('name')), wide('Images', each('image'))];
  return selector === undefined ? columns : [...columns, wide('Selector', selector)];
}

/** The first few of a long list, and how many more there are. */
export function firstOf(all: readonly string[], most: number, absent: string, separator = ','): string {
  if (all.length === 0) return absent;
  const more = all.length > most ? ` + ${all.length - most} more...` : '';
  return all.slice(0, most).join(separator) + more;
}
