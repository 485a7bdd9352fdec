/** Churn: launches, removals, moved pods, short-lived nodes. */
import type { Ledger } from '../../ledger/ledger.ts';
import type { Frame } from '../feed.ts';
import type { ChurnScreen } from '../screens.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** A node removed sooner than this after its purchase was probably unnecessary. */
const SHORT_LIFE = 30 * MINUTE;
const STEPS = 60;
const MOST_SHORT_LIVES = 100;

const AGES: readonly (readonly [string, number])[] = [
  ['under 10 minutes', 10 * MINUTE],
  ['10 to 60 minutes', HOUR],
  ['1 to 6 hours', 6 * HOUR],
  ['6 to 24 hours', DAY],
  ['1 to 7 days', 7 * DAY],
  ['over 7 days', Number.POSITIVE_INFINITY],
];

export function churnScreen({ time, rows }: Frame, ledger: Ledger): ChurnScreen {
  const entries = ledger.entries();
  const since = entries[0]?.time ?? time;
  const step = Math.max(MINUTE, Math.ceil((time - since) / STEPS));
  const steps = Array.from({ length: Math.max(1, Math.ceil((time - since + 1) / step)) }, (_, at) => ({
    time: since + at * step,
    launches: 0,
    removals: 0,
  }));
  const launchedAt = new Map<string, number>();
  const reasons = new Map<string, { commands: number; nodes: number; pods: number }>();
  const shortLives: { nodeClaim: string; pool: string; minutes: number; reason: string }[] = [];
  let [launches, removals, podsMoved, takenBack] = [0, 0, 0, 0];
  const removed = (
    at: { removals: number } | undefined,
    reason: string,
    claims: readonly { readonly nodeClaim?: string; readonly nodePool: string }[],
    counts: { readonly time: number; readonly nodes: number; readonly pods: number },
  ): void => {
    removals += counts.nodes;
    podsMoved += counts.pods;
    if (at) at.removals += counts.nodes;
    const own = reasons.get(reason) ?? { commands: 0, nodes: 0, pods: 0 };
    own.commands += 1;
    own.nodes += counts.nodes;
    own.pods += counts.pods;
    reasons.set(reason, own);
    for (const { nodeClaim = '', nodePool } of claims) {
      const lived = counts.time - (launchedAt.get(nodeClaim) ?? Number.NEGATIVE_INFINITY);
      if (lived > SHORT_LIFE) continue;
      shortLives.push({ nodeClaim, pool: nodePool, minutes: Math.round(lived / MINUTE), reason });
    }
  };
  for (const entry of entries) {
    const at = steps[Math.floor((entry.time - since) / step)];
    if (entry.kind === 'launch') {
      launches += 1;
      launchedAt.set(entry.nodeClaim, entry.time);
      if (at) at.launches += 1;
    } else if (entry.kind === 'replicas') {
      launches += entry.nodeClaims.count;
      for (const name of entry.nodeClaims.names) launchedAt.set(name, entry.time);
      if (at) at.launches += entry.nodeClaims.count;
    } else if (entry.kind === 'removal') {
      const { nodeClaim, nodePool = '', pods, reason } = entry;
      removed(at, reason, [{ nodeClaim, nodePool }], { time: entry.time, nodes: 1, pods: pods.count });
    } else if (entry.kind === 'disruption-end' && entry.outcome === 'taken-back') takenBack += 1;
    else if (entry.kind === 'disruption') {
      const { time: when, nodeCount, pods, reason } = entry;
      removed(at, reason, entry.nodes, { time: when, nodes: nodeCount, pods: pods.count });
    }
  }
  return {
    time,
    since,
    launches,
    removals,
    podsMoved,
    takenBack,
    reasons: [...reasons]
      .map(([reason, counts]) => ({ reason, ...counts }))
      .sort((left, right) => right.nodes - left.nodes),
    steps,
    lifetimes: AGES.map(([label, most], at) => ({
      label,
      nodes: rows.filter(({ created }) => {
        const age = time - created;
        return age < most && age >= (AGES[at - 1]?.[1] ?? Number.NEGATIVE_INFINITY);
      }).length,
    })),
    shortLives: shortLives.reverse().slice(0, MOST_SHORT_LIVES),
  };
}
