/** The screen of `top` as text: totals, then one line per node with bars of requested resources. */
import { countText, groupedText } from '../ledger/countText.ts';
import { tableLines } from '../ledger/tableLines.ts';
import type { NodeRow } from '../rehearsal/nodeRows.ts';

export const COLUMNS = [
  'name',
  'pool',
  'cpu',
  'memory',
  'pods',
  'type',
  'zone',
  'capacity',
  'price',
  'age',
  'status',
] as const;
type Column = (typeof COLUMNS)[number];

export interface TopView {
  /** A column, or a label, which is then added as a column. */
  readonly sort: string;
  readonly reverse: boolean;
  /** Words that must all occur: in a cell, as `column=text`, or as `label=value`. */
  readonly filter: string;
  /** Index of the first row shown. */
  readonly offset: number;
  /** Number of rows that fit; absent: all. */
  readonly height?: number;
  /** Columns of the terminal; absent: unlimited. */
  readonly width?: number;
}

const isColumn = (name: string): name is Column => COLUMNS.some((column) => column === name);
/** Labels are shown without change. */
const titleOf = (column: string): string => (isColumn(column) ? column.toUpperCase() : column);

const HOURS_PER_MONTH = 730;
const BAR = 10;
/** Bar lengths to try: in narrow windows only numbers. */
const BARS: readonly number[] = [BAR, 5, 0];

export function topScreen(rows: readonly NodeRow[], view: TopView): string {
  const shown = visibleRows(rows, view);
  const window = view.height === undefined ? shown : shown.slice(view.offset, view.offset + view.height);
  const price = shown.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
  const pods = shown.reduce((sum, row) => sum + row.pods, 0);
  const mean = (field: 'cpu' | 'memory'): number =>
    shown.length === 0 ? 0 : shown.reduce((sum, row) => sum + row[field], 0) / shown.length;
  // Next to the names, so that a narrow terminal shows it too.
  const columns = isColumn(view.sort) ? COLUMNS : ['name', view.sort, ...COLUMNS.slice(1)];
  const of = shown.length === rows.length ? '' : ` of ${groupedText(rows.length)}`;
  const lines = [
    `${countText(shown.length, 'node')}${of}  ${countText(pods, 'pod')}  $${price.toFixed(4)}/h  $${groupedText(Math.round(price * HOURS_PER_MONTH))}/month`,
    `cpu ${bar(mean('cpu'))}  memory ${bar(mean('memory'))}`,
    '',
    ...fitting(view.width, (size) =>
      tableLines(
        columns.map((column) => `${titleOf(column)}${column === view.sort ? (view.reverse ? ' v' : ' ^') : ''}`),
        window.map((row) => columns.map((column) => cellOf(row, column, size))),
      ),
    ),
  ];
  const hidden = shown.length - view.offset - window.length;
  if (hidden > 0) lines.push(`… ${countText(hidden, 'more node')}`);
  return `${lines.map((line) => line.slice(0, view.width)).join('\n')}\n`;
}

/** With the longest bars that leave room for all columns, or without bars. */
function fitting(width: number | undefined, table: (bars: number) => readonly string[]): readonly string[] {
  for (const size of BARS) {
    const lines = table(size);
    if (width === undefined || lines.every(({ length }) => length <= width)) return lines;
  }
  return table(0);
}

/** Rows that match the filter, sorted. */
export function visibleRows(rows: readonly NodeRow[], { filter, sort, reverse }: TopView): readonly NodeRow[] {
  const words = filter.split(/\s+/).filter((word) => word !== '');
  const left = rows.filter((row) => words.every((word) => matches(row, word)));
  const sign = reverse ? -1 : 1;
  return left.sort(
    (one, other) => sign * compare(keyOf(one, sort), keyOf(other, sort)) || compare(one.name, other.name),
  );
}

function matches(row: NodeRow, word: string): boolean {
  const at = word.indexOf('=');
  if (at < 0) return COLUMNS.some((column) => cellOf(row, column).includes(word));
  const [key, value] = [word.slice(0, at), word.slice(at + 1)];
  const column = COLUMNS.find((each) => each === key);
  return column === undefined ? row.labels[key] === value : cellOf(row, column).includes(value);
}

function compare(one: string | number, other: string | number): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** Sort key: numbers as numbers. */
function keyOf(row: NodeRow, column: string): string | number {
  if (column === 'price') return row.pricePerHour;
  if (column === 'cpu' || column === 'memory' || column === 'pods' || column === 'age') return row[column];
  return cellOf(row, column);
}

function cellOf(row: NodeRow, column: string, bars = BAR): string {
  if (!isColumn(column)) return row.labels[column] ?? '';
  switch (column) {
    case 'name':
      return row.name;
    case 'pool':
      return row.nodePool;
    case 'cpu':
    case 'memory':
      return bar(row[column], bars);
    case 'pods':
      return `${blocks(row.maxPods === 0 ? 0 : row.pods / row.maxPods, bars)}${row.pods}/${row.maxPods}`;
    case 'type':
      return row.instanceType.replace(/^Standard_/, '');
    case 'zone':
      return row.zone;
    case 'capacity':
      return row.capacityType;
    case 'price':
      return row.pricePerHour === 0 ? '?' : `$${row.pricePerHour.toFixed(4)}`;
    case 'age':
      return ageText(row.age);
    case 'status':
      return row.status;
  }
}

const bar = (share: number, size = BAR): string =>
  `${blocks(share, size)}${String(Math.round(share * 100)).padStart(3)}%`;

function blocks(share: number, size: number): string {
  const full = Math.min(size, Math.max(0, Math.round(share * size)));
  return size === 0 ? '' : `${'█'.repeat(full)}${'░'.repeat(size - full)} `;
}

function ageText(milliseconds: number): string {
  const minutes = Math.floor(milliseconds / 60_000);
  if (minutes < 60) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours}h` : `${Math.floor(hours / 24)}d`;
}
