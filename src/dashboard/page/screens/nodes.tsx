import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { NodeRow } from '../../screens.ts';
import { ageOf, counted, dollars, perHour, perMonth, shortType } from '../format.ts';
import { Bar, Empty, Panel, Status } from '../parts/basics.tsx';
import { Table, type Column } from '../parts/table.tsx';
import { NodeLink } from '../router.tsx';
import { useLive } from '../store.ts';

const HOURS_PER_MONTH = 730;

const columnsAt = (now: number): readonly Column<NodeRow>[] => [
  { title: 'Node', cell: ({ name }) => <NodeLink name={name} />, key: ({ name }) => name },
  { title: 'Pool', cell: ({ nodePool }) => nodePool || '–', key: ({ nodePool }) => nodePool },
  { title: 'Type', cell: ({ instanceType }) => shortType(instanceType), key: ({ instanceType }) => instanceType },
  { title: 'Zone', cell: ({ zone }) => zone, key: ({ zone }) => zone },
  { title: 'Capacity', cell: ({ capacityType }) => capacityType, key: ({ capacityType }) => capacityType },
  { title: 'CPU', cell: ({ cpu }) => <Bar share={cpu} label="cpu" />, key: ({ cpu }) => cpu },
  { title: 'Memory', cell: ({ memory }) => <Bar share={memory} label="memory" />, key: ({ memory }) => memory },
  { title: 'Pods', cell: ({ pods, maxPods }) => `${pods}/${maxPods}`, key: ({ pods }) => pods, class: 'number' },
  {
    title: '$/h',
    cell: ({ price }) => (price === 0 ? '?' : dollars(price, 3)),
    key: ({ price }) => price,
    class: 'number',
  },
  { title: 'Age', cell: ({ created }) => ageOf(now - created), key: ({ created }) => -created, class: 'number' },
  { title: 'Status', cell: ({ status }) => <Status status={status} />, key: ({ status }) => status },
];

export function Nodes() {
  const { nodes, time } = useLive();
  const [filter, setFilter] = useState('');
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== '/' || event.target instanceof HTMLInputElement) return;
      event.preventDefault();
      field.current?.focus();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  const shown = useMemo(() => filtered(nodes, filter), [nodes, filter]);
  // Round the time, so that columns with ages change less often.
  const minute = Math.floor(time / 10_000) * 10_000;
  const columns = useMemo(() => columnsAt(minute), [minute]);
  const price = shown.reduce((sum, row) => sum + row.price, 0);
  return (
    <Panel
      title="Nodes"
      class="wide"
      aside={
        <input
          ref={field}
          type="search"
          placeholder="Filter: spot eastus-1 D4 …"
          aria-label="Filter nodes"
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
      }
    >
      <p class="muted totals" role="status">
        {counted(shown.length, 'node')}
        {shown.length === nodes.length ? '' : ` of ${nodes.length}`}, {perHour(price)},{' '}
        {perMonth(price * HOURS_PER_MONTH)}
      </p>
      {shown.length === 0 ? (
        <Empty>{nodes.length === 0 ? 'There is no node: no pod needs one.' : 'No node matches.'}</Empty>
      ) : (
        <Table
          label="Nodes"
          rows={shown}
          columns={columns}
          id={({ name }) => name}
          sort={{ column: 'Node', descending: false }}
        />
      )}
    </Panel>
  );
}

/** Nodes in which every word occurs somewhere. */
function filtered(nodes: readonly NodeRow[], filter: string): readonly NodeRow[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return nodes;
  return nodes.filter((row) => {
    const text = `${row.name} ${row.nodePool} ${row.instanceType} ${row.zone} ${row.capacityType} ${row.status}`;
    const low = text.toLowerCase();
    return words.every((word) => low.includes(word));
  });
}
