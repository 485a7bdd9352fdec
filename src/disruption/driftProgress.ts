/** Progress of replacing drifted nodes per pool: what blocks it, and when it is expected to end. */
import { NodeClaimConditions } from '../api/conditionTypes.ts';
import { findCondition } from '../api/conditions.ts';
import { calendarOf } from './calendar.ts';
import type { Kept, KeptCause } from './kept.ts';
import type { Pass } from './method.ts';

/** @public */
export interface DriftProgress {
  readonly nodePool: string;
  /** Drifted nodes that still exist, including those being removed. */
  readonly drifted: number;
  readonly underWay: number;
  /** Nodes that the budgets allow at once. */
  readonly allowed: number;
  /** The most frequent blocker, and its number of nodes. */
  readonly blocker?: { readonly cause: KeptCause; readonly nodes: number };
  /** Milliseconds since 1970; absent when it cannot be estimated. */
  readonly expectedEnd?: number;
}

const DAY = 24 * 3_600_000;
/** Causes that only mean that the node waits its turn. */
const IN_TURN: ReadonlySet<KeptCause['kind']> = new Set(['next-pass', 'other-zone-first', 'queued', 'deleting']);

/** Causes that block consolidation but not replacement for drift. */
const OF_CONSOLIDATION: ReadonlySet<KeptCause['kind']> = new Set([
  'not-empty',
  'not-drifted',
  'policy',
  'too-young',
  'consolidation-disabled',
  'not-cheaper',
  'no-payback',
  'balanced-score',
]);

const isOfOthers = (cause: KeptCause): boolean =>
  OF_CONSOLIDATION.has(cause.kind) || (cause.kind === 'budget' && cause.reason !== 'Drifted');

/** `waveTime`: milliseconds per wave of replacements; undefined until one has ended. */
export function driftProgress(
  pass: Pass,
  kept: readonly Kept[],
  waveTime: number | undefined,
): readonly DriftProgress[] {
  const causes = new Map<string | undefined, KeptCause>();
  for (const { nodeClaim, cause } of kept) {
    if (!isOfOthers(cause) && !causes.has(nodeClaim)) causes.set(nodeClaim, cause);
  }
  const pools = new Map<string, { drifted: number; underWay: number; held: Map<KeptCause['kind'], Held> }>();
  for (const { claim, nodePool, deleting } of pass.views) {
    if (claim === undefined || nodePool === undefined) continue;
    if (findCondition(claim, NodeClaimConditions.drifted)?.status !== 'True') continue;
    let own = pools.get(nodePool);
    if (own === undefined) pools.set(nodePool, (own = { drifted: 0, underWay: 0, held: new Map() }));
    own.drifted += 1;
    if (deleting) own.underWay += 1;
    const cause = deleting ? undefined : causes.get(claim.metadata.name);
    if (cause === undefined || IN_TURN.has(cause.kind)) continue;
    const held = own.held.get(cause.kind);
    if (held === undefined) own.held.set(cause.kind, { cause, nodes: 1 });
    else held.nodes += 1;
  }
  return [...pools]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([nodePool, { drifted, underWay, held }]) => {
      const allowed = pass.budgets.of(nodePool)?.limit.Drifted ?? 0;
      const [blocker] = [...held.values()].sort((left, right) => right.nodes - left.nodes);
      const expectedEnd = endOf(pass, nodePool, drifted, waveTime);
      return {
        nodePool,
        drifted,
        underWay,
        allowed,
        ...(blocker && { blocker }),
        ...(expectedEnd !== undefined && { expectedEnd }),
      };
    });
}

interface Held {
  readonly cause: KeptCause;
  nodes: number;
}

/** Estimates wave after wave, using the times in which budgets allow any node. */
function endOf(pass: Pass, pool: string, drifted: number, waveTime: number | undefined): number | undefined {
  const known = pass.pools.get(pool);
  if (known === undefined || waveTime === undefined) return undefined;
  const { views, now } = pass;
  const calendar = calendarOf({ pools: [known.pool], views, from: now, until: now + 7 * DAY });
  let left = drifted;
  for (const { from, until, allowed } of calendar.pools[0]?.periods ?? []) {
    const atOnce = allowed.Drifted ?? drifted;
    if (atOnce === 0) continue;
    const waves = Math.ceil(left / atOnce);
    if (from + waves * waveTime <= until) return from + waves * waveTime;
    left -= Math.floor((until - from) / waveTime) * atOnce;
  }
  return undefined;
}
