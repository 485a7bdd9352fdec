/**
 * The local world in a terminal. In: what there is, as plain data, and the size of the window. Out: lines of text. Pure,
 * so that what a person sees can be tested.
 */
export interface NodeRow {
  readonly name: string;
  readonly size: string;
  readonly zone: string;
  readonly capacityType: string;
  /** US dollars per hour; undefined when nobody knows. */
  readonly price: number | undefined;
  readonly state: 'ready' | 'joining' | 'leaving' | 'lost';
  /** Shares of what is allocatable that pods have asked for. */
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
  /** Newest last. */
  readonly decisions: readonly string[];
  readonly hints: readonly string[];
}

const BAR = 10;
const SHOWN_WAITING = 4;
const SHOWN_FAULTS = 3;

const bar = (share: number): string => {
  const full = Math.max(0, Math.min(BAR, Math.round(share * BAR)));
  return `${'█'.repeat(full)}${'░'.repeat(BAR - full)} ${String(Math.round(share * 100)).padStart(3)}%`;
};
const dollars = (price: number | undefined): string => (price === undefined ? '?' : price.toFixed(3));
const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;
const cut = (text: string, width: number): string => (text.length <= width ? text : `${text.slice(0, width - 1)}…`);

export function summaryOf({ nodes, running, waiting }: WorldFacts): string {
  const total = nodes.reduce((sum, { price }) => sum + (price ?? 0), 0);
  const waits = waiting.reduce((sum, { count }) => sum + count, 0);
  return `${plural(nodes.length, 'node')}, ${plural(running, 'pod')} running, ${waits} waiting, $${total.toFixed(3)}/h`;
}

export function drawWorld(facts: WorldFacts, width: number, height: number): string[] {
  const head = [`${facts.title}   ${facts.time}`, summaryOf(facts), ''];
  const waiting =
    facts.waiting.length === 0
      ? []
      : [
          'WAITING',
          ...facts.waiting
            .slice(0, SHOWN_WAITING)
            .map(({ owner, count, reason }) => `  ${plural(count, 'pod')} of ${owner}: ${reason}`),
          ...more(facts.waiting.length - SHOWN_WAITING),
          '',
        ];
  const faults =
    facts.faults.length === 0
      ? []
      : [
          'FAULTS',
          ...facts.faults.slice(0, SHOWN_FAULTS).map((fault) => `  ${fault}`),
          ...more(facts.faults.length - SHOWN_FAULTS),
          '',
        ];
  const hints = facts.hints.map((hint) => `  ${hint}`);
  const left = Math.max(6, height - head.length - waiting.length - faults.length - hints.length - 4);
  const nodeRoom = Math.max(3, Math.ceil(left * 0.65));
  const nodes = drawNodes(facts.nodes, nodeRoom);
  const decisionRoom = Math.max(2, left - nodes.length);
  const decisions = ['LAST DECISIONS', ...facts.decisions.slice(-decisionRoom).map((line) => `  ${line}`), ''];
  const lines = [...head, ...nodes, '', ...waiting, ...faults, ...decisions, ...hints];
  return lines.slice(0, height).map((line) => cut(line, width));
}

const more = (count: number): string[] => (count > 0 ? [`  … and ${count} more`] : []);

function drawNodes(nodes: readonly NodeRow[], room: number): string[] {
  if (nodes.length === 0) return ['NODES', '  none: no pod needs one'];
  const shown = nodes.slice(0, nodes.length > room ? room - 1 : room);
  const header = ['NODE', 'SIZE', 'ZONE', 'KIND', 'STATE', '$/H', 'CPU', 'MEMORY', 'PODS'];
  const cells = shown.map((node) => [
    node.name,
    node.size.replace(/^Standard_/, ''),
    node.zone,
    node.capacityType,
    node.state,
    dollars(node.price),
    bar(node.cpu),
    bar(node.memory),
    String(node.pods),
  ]);
  const widths = header.map((title, index) => Math.max(title.length, ...cells.map((row) => row[index]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd();
  return [line(header), ...cells.map(line), ...more(nodes.length - shown.length)];
}
