/** The ledger as rows, and one entry with all details. */
import { candidatesText, choiceText, rejectedTypeText } from '../../ledger/choiceText.ts';
import type { Ledger, LedgerEntry } from '../../ledger/ledger.ts';
import { instanceTypesText, recordText } from '../../ledger/recordText.ts';
import { reasonLines } from '../../ledger/reasonText.ts';
import type { DecisionDetail, DecisionRow, DecisionsScreen } from '../screens.ts';

const PAGE = 200;
/** Frequent kinds, shown only on request. */
const QUIET: ReadonlySet<LedgerEntry['kind']> = new Set(['nomination', 'hint', 'kept', 'savings', 'instance']);

export const rowOf = (entry: LedgerEntry): DecisionRow => ({
  sequence: entry.sequence,
  time: entry.time,
  kind: entry.kind,
  text: recordText(entry),
});

/** Newest first. */
export function latestDecisions(ledger: Ledger, most: number): readonly DecisionRow[] {
  const found: DecisionRow[] = [];
  const entries = ledger.entries();
  for (let at = entries.length - 1; at >= 0 && found.length < most; at--) {
    const entry = entries[at];
    if (entry !== undefined && !QUIET.has(entry.kind)) found.push(rowOf(entry));
  }
  return found;
}

export interface DecisionQuery {
  /** Only entries before this one. */
  readonly before?: number;
  /** Only of these kinds; empty: all except the quiet ones. */
  readonly kinds: readonly string[];
  /** Only entries whose text contains this. */
  readonly text: string;
}

export function decisionsScreen(ledger: Ledger, query: DecisionQuery, time: number): DecisionsScreen {
  const { before = Number.POSITIVE_INFINITY, kinds, text } = query;
  const wanted = text.toLowerCase();
  const entries = ledger.entries();
  const decisions: DecisionRow[] = [];
  for (let at = entries.length - 1; at >= 0; at--) {
    const entry = entries[at];
    if (entry === undefined || entry.sequence >= before) continue;
    if (kinds.length === 0 ? QUIET.has(entry.kind) : !kinds.includes(entry.kind)) continue;
    const row = rowOf(entry);
    if (wanted !== '' && !row.text.toLowerCase().includes(wanted)) continue;
    if (decisions.length === PAGE) return { time, decisions, more: true };
    decisions.push(row);
  }
  return { time, decisions, more: false };
}

/** Newest first: entries that name the node or its claim. */
export function decisionsAbout(ledger: Ledger, names: readonly string[], most: number): readonly DecisionRow[] {
  const wanted = names.filter((name) => name !== '').map((name) => JSON.stringify(name));
  return ledger
    .entries()
    .filter((entry) => {
      const text = JSON.stringify(entry);
      return wanted.some((name) => text.includes(name));
    })
    .slice(-most)
    .reverse()
    .map(rowOf);
}

export function decisionDetail(ledger: Ledger, sequence: number): DecisionDetail | undefined {
  const entry = ledger.entries(sequence).find((each) => each.sequence === sequence);
  return entry && { ...rowOf(entry), ...detailOf(entry) };
}

type Detail = Omit<DecisionDetail, keyof DecisionRow>;

const NOTHING: Detail = { lines: [], ladder: [], rejected: [], pods: [], podCount: 0, nodes: [] };

function detailOf(entry: LedgerEntry): Detail {
  switch (entry.kind) {
    case 'launch': {
      const { requests, chosen, ladder = [], choice, pods, nodePool, nodeClaim } = entry;
      const asked = Object.entries(requests).map(([name, amount]) => `${name} ${amount}`);
      return {
        lines: [
          `NodePool ${nodePool}, NodeClaim ${nodeClaim}`,
          `Requests of its pods: ${asked.join(', ')}`,
          `Suitable instance types: ${instanceTypesText(entry)}`,
          ...(choice?.candidates === undefined ? [] : [candidatesText(choice.candidates)]),
          ...(choice === undefined ? [] : [choiceText(choice)]),
        ],
        ladder: ladder.length === 0 ? [chosen] : ladder,
        rejected: (choice?.others ?? []).map((other) => ({
          instanceType: other.instanceType,
          ...(other.pricePerHour !== undefined && { price: other.pricePerHour }),
          why: rejectedTypeText(other),
        })),
        pods: pods.names,
        podCount: pods.count,
        nodes: [],
      };
    }
    case 'refusal':
      return { ...NOTHING, lines: reasonLines(entry.reason), pods: entry.pods.names, podCount: entry.pods.count };
    case 'disruption': {
      const { nodes, replacements, pods, consolidationType, decision, nodeCount } = entry;
      const method = consolidationType === '' ? '' : `, ${consolidationType} consolidation`;
      return {
        ...NOTHING,
        lines: [`${decision}${method}: ${nodeCount} out, ${entry.replacementCount} in`],
        ladder: replacements.flatMap(({ instanceType, zone = '', capacityType = '', pricePerHour }) =>
          instanceType === undefined
            ? []
            : [{ instanceType, zone, capacityType, ...(pricePerHour !== undefined && { pricePerHour }) }],
        ),
        pods: pods.names,
        podCount: pods.count,
        nodes: nodes.flatMap(({ node }) => (node === undefined ? [] : [node])),
      };
    }
    case 'disruption-end':
      return { ...NOTHING, nodes: entry.nodes };
    case 'removal': {
      const { node, pods } = entry;
      return { ...NOTHING, pods: pods.names, podCount: pods.count, nodes: node === undefined ? [] : [node] };
    }
    case 'repair-held':
      return { ...NOTHING, nodes: [entry.node] };
    case 'kept':
      return { ...NOTHING, nodes: entry.node === undefined ? [] : [entry.node] };
    case 'nomination':
    case 'hint':
    case 'objection':
      return { ...NOTHING, pods: entry.pods.names, podCount: entry.pods.count };
    case 'plan':
    case 'launch-failure':
    case 'instance':
    case 'replicas':
    case 'images':
    case 'edit':
    case 'savings':
    case 'drift':
      return NOTHING;
  }
}
