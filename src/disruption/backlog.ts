/**
 * What could be saved now, and what blocks it: dollars per hour of each pool by the cause that keeps its nodes. Counts
 * what nodes cost beyond the value of their pods, so that a full node counts as nothing.
 */
import type { Kept, KeptCause } from './kept.ts';
import type { Pass } from './method.ts';
import { Worth } from './worth.ts';

/** @public */
export interface SavingsBacklog {
  /** Milliseconds since 1970. */
  readonly time: number;
  /**
   * US dollars per hour: the price of all our nodes, the least that their pods could cost, and the possible savings.
   */
  readonly pricePerHour: number;
  readonly leastPricePerHour: number;
  readonly savingsPerHour: number;
  /** Sorted by pool name. */
  readonly pools: readonly PoolBacklog[];
}

interface PoolBacklog {
  readonly pool: string;
  readonly nodes: number;
  readonly pricePerHour: number;
  readonly savingsPerHour: number;
  /** Largest amount first. */
  readonly blockers: readonly Blocker[];
}

interface Blocker {
  readonly cause: BlockerKind;
  readonly nodes: number;
  /** Dollars per hour that could be saved on these nodes without the blocker. */
  readonly savingsPerHour: number;
  /** One of the nodes. */
  readonly example: string;
}

/** What blocks savings, grouped by what a user could change. */
type BlockerKind =
  | 'pdb'
  | 'do-not-disrupt'
  | 'budget'
  | 'window'
  | 'policy'
  | 'consolidate-after'
  | 'scheduling'
  | 'not-cheaper'
  | 'spot-to-spot'
  | 'launch-failure'
  | 'under-way'
  | 'next';

const KINDS: Readonly<Record<KeptCause['kind'], BlockerKind>> = {
  pdb: 'pdb',
  'do-not-disrupt-pod': 'do-not-disrupt',
  'do-not-disrupt-node': 'do-not-disrupt',
  budget: 'budget',
  policy: 'policy',
  'consolidation-disabled': 'policy',
  'static-pool': 'policy',
  'balanced-score': 'policy',
  'too-young': 'consolidate-after',
  'would-strand': 'scheduling',
  'min-values': 'scheduling',
  'node-limit': 'scheduling',
  'not-cheaper': 'not-cheaper',
  'no-payback': 'not-cheaper',
  'unknown-price': 'not-cheaper',
  'unknown-instance-type': 'not-cheaper',
  'unknown-capacity-type': 'not-cheaper',
  'unknown-zone': 'not-cheaper',
  'spot-to-spot-disabled': 'spot-to-spot',
  'spot-to-spot-flexibility': 'spot-to-spot',
  'recent-launch-failure': 'launch-failure',
  queued: 'under-way',
  deleting: 'under-way',
  nominated: 'under-way',
  'no-node': 'under-way',
  'not-initialized': 'under-way',
  'buffer-pods': 'under-way',
  'scale-down-first': 'under-way',
  'no-pool-label': 'next',
  'pool-not-found': 'next',
  'not-static-pool': 'next',
  'not-drifted': 'next',
  'not-empty': 'next',
  empty: 'next',
  'other-zone-first': 'next',
  'next-pass': 'next',
};

/** `kept`: the causes from a complete pass, one per node; a node without one is about to be removed. */
export function savingsBacklog(pass: Pass, kept: readonly Kept[]): SavingsBacklog {
  // A pod that may not leave its node is worth what it would cost elsewhere, too.
  const candidates = pass.candidates.map((each) => ({ ...each, movable: each.pods }));
  const worth = new Worth(candidates, pass);
  const causes = new Map(kept.map((each) => [each.nodeClaim ?? '', each.cause]));
  const pools = new Map<string, { nodes: number; price: number; savings: number; blockers: Map<BlockerKind, Open> }>();
  let least = 0;
  for (const candidate of candidates) {
    const { pool, view, pricePerHour } = candidate;
    const { name } = pool.metadata;
    const own = pools.get(name) ?? { nodes: 0, price: 0, savings: 0, blockers: new Map<BlockerKind, Open>() };
    pools.set(name, own);
    const savings = Math.max(0, pricePerHour - worth.of(candidate));
    least += pricePerHour - savings;
    own.nodes += 1;
    own.price += pricePerHour;
    own.savings += savings;
    if (savings === 0) continue;
    const kind = kindOf(candidate.heldBy ?? causes.get(view.claim.metadata.name));
    const blocker = own.blockers.get(kind) ?? { nodes: 0, savings: 0, example: view.name };
    blocker.nodes += 1;
    blocker.savings += savings;
    own.blockers.set(kind, blocker);
  }
  const rows = [...pools].sort(([left], [right]) => (left < right ? -1 : 1));
  const price = rows.reduce((sum, [, own]) => sum + own.price, 0);
  return {
    time: pass.now,
    pricePerHour: price,
    leastPricePerHour: least,
    savingsPerHour: price - least,
    pools: rows.map(([pool, own]) => ({
      pool,
      nodes: own.nodes,
      pricePerHour: own.price,
      savingsPerHour: own.savings,
      blockers: [...own.blockers]
        .map(([cause, { nodes, savings, example }]) => ({ cause, nodes, savingsPerHour: savings, example }))
        .sort((left, right) => right.savingsPerHour - left.savingsPerHour || (left.cause < right.cause ? -1 : 1)),
    })),
  };
}

interface Open {
  nodes: number;
  savings: number;
  readonly example: string;
}

function kindOf(cause: KeptCause | undefined): BlockerKind {
  if (cause === undefined) return 'under-way';
  return cause.kind === 'budget' && cause.window ? 'window' : KINDS[cause.kind];
}
