/** A table of any length: only visible rows are in the document. */
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Sort key; a column without one is not sortable. */
  readonly key?: (row: Row) => string | number;
  readonly class?: string;
}

interface TableProps<Row> {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly id: (row: Row) => string;
  readonly sort?: { readonly column: string; readonly descending: boolean };
  /** Pixels; absent: the height of all rows. */
  readonly height?: number;
}

/** Row height in pixels; the same as in page.css. */
const ROW = 34;
const BEYOND = 8;
/** Up to this many rows, all are rendered. */
const FEW = 60;

export function Table<Row>({ label, rows, columns, id, sort, height = 620 }: TableProps<Row>) {
  const [order, setOrder] = useState(sort);
  const [top, setTop] = useState(0);
  const [room, setRoom] = useState(height);
  const box = useRef<HTMLDivElement>(null);
  const sorted = useMemo(() => inOrder(rows, columns, order), [rows, columns, order]);
  const isLong = sorted.length > FEW;
  useEffect(() => {
    const element = box.current;
    if (element !== null && isLong) setRoom(element.clientHeight);
  }, [isLong]);
  const first = isLong ? Math.max(0, Math.floor(top / ROW) - BEYOND) : 0;
  const last = isLong ? Math.min(sorted.length, Math.ceil((top + room) / ROW) + BEYOND) : sorted.length;
  return (
    <div
      class={isLong ? 'table-box long' : 'table-box'}
      style={isLong ? { height: `${height}px` } : {}}
      ref={box}
      // Makes the scrolling area reachable by keyboard.
      tabIndex={0}
      role="region"
      aria-label={label}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    >
      <table aria-rowcount={sorted.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map((column) => (
              <Head key={column.title} column={column} order={order} onOrder={setOrder} />
            ))}
          </tr>
        </thead>
        <tbody>
          {first > 0 && <tr class="spacer" aria-hidden="true" style={{ height: `${first * ROW}px` }} />}
          {sorted.slice(first, last).map((row, at) => (
            <tr key={id(row)} aria-rowindex={first + at + 2}>
              {columns.map((column) => (
                <td key={column.title} class={column.class}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
          {last < sorted.length && (
            <tr class="spacer" aria-hidden="true" style={{ height: `${(sorted.length - last) * ROW}px` }} />
          )}
        </tbody>
      </table>
    </div>
  );
}

type Order = TableProps<unknown>['sort'];

function Head<Row>(props: {
  readonly column: Column<Row>;
  readonly order: Order;
  readonly onOrder: (order: Order) => void;
}) {
  const { column, order, onOrder } = props;
  const { title, key } = column;
  const isOwn = order?.column === title;
  if (key === undefined) {
    return (
      <th scope="col" class={column.class}>
        {title}
      </th>
    );
  }
  return (
    <th scope="col" class={column.class} aria-sort={isOwn ? (order.descending ? 'descending' : 'ascending') : 'none'}>
      <button type="button" onClick={() => onOrder({ column: title, descending: isOwn ? !order.descending : false })}>
        {title}
        <span aria-hidden="true" class="arrow">
          {isOwn ? (order.descending ? '↓' : '↑') : ''}
        </span>
      </button>
    </th>
  );
}

function inOrder<Row>(rows: readonly Row[], columns: readonly Column<Row>[], order: Order): readonly Row[] {
  const key = columns.find(({ title }) => title === order?.column)?.key;
  if (key === undefined || order === undefined) return rows;
  const sign = order.descending ? -1 : 1;
  const keyed = rows.map((row) => ({ row, by: key(row) }));
  keyed.sort((left, right) => (left.by < right.by ? -sign : left.by > right.by ? sign : 0));
  return keyed.map(({ row }) => row);
}
