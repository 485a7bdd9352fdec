/** Renders the local world as lines of text for a window of any size. Pure: plain facts in, text out. */
import { countText } from '../../ledger/countText.ts';

export interface NodeRow {
  readonly name: string;
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: string;
  /** US dollars per hour; undefined when unknown. */
  readonly price: number | undefined;
  readonly state: 'ready' | 'joining' | 'leaving' | 'lost';
  /** Requests of the pods as shares of the allocatable resources. */
  readonly cpu: number;
  readonly memory: number;
  readonly pods: number;
}

export interface WaitingRow {
  readonly owner: string;
  readonly count: number;
  readonly reason: string;
}

export interface WorldFacts {
  readonly title: string;
  readonly time: string;
  readonly nodes: readonly NodeRow[];
  readonly running: number;
  readonly waiting: readonly WaitingRow[];
  readonly faults: readonly string[];
  /** US dollars per hour: saved by commands so far, and possible but blocked. */
  readonly saved?: number;
  readonly held?: number;
  /** Newest last. */
  readonly decisions: readonly string[];
  readonly hints: readonly string[];
}

const SHOWN_WAITING = 4;
const SHOWN_FAULTS = 3;
/** Maximum lines for the reason of one group of pods. */
const REASON_LINES = 2;

const dollars = (price: number | undefined): string => (price === undefined ? '?' : price.toFixed(3));
const cut = (text: string, width: number): string => (text.length <= width ? text : `${text.slice(0, width - 1)}…`);
const more = (count: number): string[] => (count > 0 ? [`  … and ${count} more`] : []);

export function summaryOf({ nodes, running, waiting, saved = 0, held = 0 }: WorldFacts): string {
  const total = nodes.reduce((sum, { price }) => sum + (price ?? 0), 0);
  const waits = waiting.reduce((sum, { count }) => sum + count, 0);
  return `${countText(nodes.length, 'node')}, ${countText(running, 'pod')} running, ${waits} waiting, $${total.toFixed(3)}/h${savedText(saved, held)}`;
}

/** Amounts of up to a tenth of a cent are omitted. */
function savedText(saved: number, held: number): string {
  const parts = [
    ...(saved >= 0.001 ? [`$${saved.toFixed(3)}/h saved`] : []),
    ...(held >= 0.001 ? [`$${held.toFixed(3)}/h ${saved >= 0.001 ? 'more could be' : 'could be saved'}`] : []),
  ];
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}

export function drawWorld(facts: WorldFacts, width: number, height: number): string[] {
  const head = [`${facts.title}   ${facts.time}`, summaryOf(facts), ''];
  const reason = ({ owner, count, reason: why }: WaitingRow): string[] =>
    wrap(`${countText(count, 'pod')} of ${owner}: ${why}`, width - 4, REASON_LINES).map((line, index) =>
      index === 0 ? `  ${line}` : `    ${line}`,
    );
  const waiting = section('WAITING', [
    ...facts.waiting.slice(0, SHOWN_WAITING).flatMap(reason),
    ...more(facts.waiting.length - SHOWN_WAITING),
  ]);
  const faults = section('FAULTS', [
    ...facts.faults.slice(0, SHOWN_FAULTS).map((fault) => `  ${fault}`),
    ...more(facts.faults.length - SHOWN_FAULTS),
  ]);
  const hints = facts.hints.map((hint) => `  ${hint}`);
  const left = Math.max(6, height - head.length - waiting.length - faults.length - hints.length - 4);
  const nodes = drawNodes(facts.nodes, Math.max(3, Math.ceil(left * 0.65)), width);
  const decisionRoom = Math.max(2, left - nodes.length);
  const decisions = ['LAST DECISIONS', ...facts.decisions.slice(-decisionRoom).map((line) => `  ${line}`), ''];
  const lines = [...head, ...nodes, '', ...waiting, ...faults, ...decisions, ...hints];
  return lines.slice(0, height).map((line) => cut(line, width));
}

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [title, ...lines, ''];

/** Breaks between words; cut after `most` lines. */
function wrap(text: string, width: number, most: number): string[] {
  const lines: string[] = [];
  let rest = text;
  while (rest.length > width && lines.length < most - 1) {
    const space = rest.lastIndexOf(' ', width);
    const end = space > 0 ? space : width;
    lines.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  return [...lines, cut(rest, width)];
}

/** Layout of a table; tried from widest to narrowest until it fits the window. */
interface Density {
  /** Characters of a bar; 0: only the percentage. */
  readonly bar: number;
  /** `1` instead of `eastus-1`. */
  readonly shortZone?: true;
  readonly longestName?: number;
}

const DENSITIES: readonly Density[] = [
  { bar: 10 },
  { bar: 4 },
  { bar: 0 },
  { bar: 0, shortZone: true },
  { bar: 0, shortZone: true, longestName: 17 },
];
const HEADER = ['NODE', 'TYPE', 'ZONE', 'KIND', 'STATE', '$/H', 'CPU', 'MEM', 'PODS'];

function drawNodes(nodes: readonly NodeRow[], room: number, width: number): string[] {
  if (nodes.length === 0) return ['NODES', '  none: no pod needs one'];
  const shown = nodes.slice(0, nodes.length > room ? room - 1 : room);
  const tables = DENSITIES.map((density) => table([HEADER, ...shown.map((node) => cells(node, density))]));
  const fitting = tables.find((lines) => lines.every((line) => line.length <= width)) ?? tables.at(-1) ?? [];
  return [...fitting, ...more(nodes.length - shown.length)];
}

function cells(node: NodeRow, { bar, shortZone, longestName }: Density): string[] {
  return [
    longestName === undefined ? node.name : cut(node.name, longestName),
    node.instanceType.replace(/^Standard_/, ''),
    shortZone ? node.zone.replace(/^.*-/, '') : node.zone,
    node.capacityType,
    node.state,
    dollars(node.price),
    filled(node.cpu, bar),
    filled(node.memory, bar),
    String(node.pods),
  ];
}

function filled(share: number, width: number): string {
  const full = Math.max(0, Math.min(width, Math.round(share * width)));
  const percent = `${String(Math.round(share * 100)).padStart(3)}%`;
  return width === 0 ? percent : `${'█'.repeat(full)}${'░'.repeat(width - full)} ${percent}`;
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = HEADER.map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
