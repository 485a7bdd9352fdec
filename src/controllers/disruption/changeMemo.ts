import type { Pod } from '../../api/kinds.ts';
import type { ClusterSnapshot } from '../../cluster/cluster.ts';
import type { Budgets } from '../../disruption/budgets.ts';
import type { Kept, KeptCause } from '../../disruption/kept.ts';
import type { World } from '../world/world.ts';

/** Prices and what failed lately change without a word: nothing is taken for settled longer than this. */
const LONGEST = 5 * 60_000;
const RETRY = 10_000;
/** Causes that end by time alone, at a moment that they do not name. */
const PASSING: ReadonlySet<KeptCause['kind']> = new Set<KeptCause['kind']>([
  'nominated',
  'next-pass',
  'other-zone-first',
]);

/**
 * Remembers that a pass found nothing to do, so that the next one is not made before something has changed: nodes,
 * claims, pods, pools, budgets of pods, what budgets of pools allow, or the time for which something held.
 */
export class ChangeMemo {
  private changes = 0;
  /** Changes before the pass that is under way: what changes during it is news for the next. */
  private seen = 0;
  private known: { readonly snapshot: ClusterSnapshot; readonly changes: number; readonly until: number } | undefined;
  /** What is neither in the snapshot nor told by a watch. */
  private outside = '';

  constructor({ nodePools, disruptionBudgets }: Pick<World['informers'], 'nodePools' | 'disruptionBudgets'>) {
    const note = (): void => {
      this.changes += 1;
    };
    nodePools.subscribe((event) => {
      if (event.type !== 'updated' || isNews(event.old, event.object)) note();
    });
    disruptionBudgets.subscribe(note);
  }

  /** Whether a pass would find what the last one found. `virtual` are the pods that buffers keep room for. */
  holds(snapshot: ClusterSnapshot, budgets: Budgets, virtual: readonly Pod[], now: number): boolean {
    const { known } = this;
    const outside = JSON.stringify([allowances(budgets), virtual.map(({ metadata }) => metadata.uid)]);
    const isSame = outside === this.outside;
    this.outside = outside;
    this.seen = this.changes;
    if (known === undefined || !isSame) return false;
    return known.snapshot === snapshot && known.changes === this.changes && now < known.until;
  }

  /** A pass over this snapshot found nothing to do, for these reasons. */
  nothingToDo(snapshot: ClusterSnapshot, kept: Iterable<Kept>, now: number): void {
    let until = now + LONGEST;
    for (const { cause } of kept) {
      if (PASSING.has(cause.kind)) until = Math.min(until, now + RETRY);
      else if ('until' in cause && cause.until !== undefined) until = Math.min(until, cause.until);
    }
    this.known = { snapshot, changes: this.seen, until };
  }
}

const allowances = ({ pools }: Budgets): readonly unknown[] =>
  pools.map(({ pool, limit, disrupting }) => [pool, limit, disrupting]);

/** The status of a pool changes with each of its nodes, but for its conditions that does not matter here. */
function isNews(old: PoolLike, object: PoolLike): boolean {
  return (
    old.metadata.generation !== object.metadata.generation ||
    old.metadata.deletionTimestamp !== object.metadata.deletionTimestamp ||
    JSON.stringify(old.status?.conditions) !== JSON.stringify(object.status?.conditions)
  );
}

interface PoolLike {
  readonly metadata: { readonly generation?: number; readonly deletionTimestamp?: string };
  readonly status?: { readonly conditions?: unknown };
}
