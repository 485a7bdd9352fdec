import type { Pod, PodDisruptionBudget } from '../../api/kinds.ts';
import type { NodePool } from '../../api/kinds/nodePool.ts';
import type { ClusterSnapshot } from '../../cluster/cluster.ts';
import type { Budgets } from '../../disruption/budgets.ts';
import type { Kept, KeptCause } from '../../disruption/kept.ts';
import type { Informer } from '../../kube/informer.ts';

/** Prices and recent failures change without an event, so a result is reused no longer than this. */
const LONGEST = 5 * 60_000;
const RETRY = 10_000;
/** Causes that end by time alone, at an unknown time. */
const PASSING: ReadonlySet<KeptCause['kind']> = new Set<KeptCause['kind']>([
  'nominated',
  'next-pass',
  'other-zone-first',
]);

interface Watched {
  readonly nodePools: Pick<Informer<NodePool>, 'subscribe'>;
  readonly disruptionBudgets: Pick<Informer<PodDisruptionBudget>, 'subscribe'>;
}

/**
 * Remembers that a pass found nothing to do, so that the next one runs only after something has changed: nodes, claims,
 * pods, pools, PodDisruptionBudgets, the pools' budgets, or the end time of a cause.
 */
export class ChangeMemo {
  private changes = 0;
  /** The change count before the running pass: later changes must trigger another pass. */
  private seen = 0;
  private known: { readonly snapshot: ClusterSnapshot; readonly changes: number; readonly until: number } | undefined;
  /** State that is neither in the snapshot nor reported by a watch. */
  private outside = '';

  constructor({ nodePools, disruptionBudgets }: Watched) {
    const note = (): void => {
      this.changes += 1;
    };
    nodePools.subscribe((event) => {
      if (event.type !== 'updated' || isNews(event.old, event.object)) note();
    });
    disruptionBudgets.subscribe(note);
  }

  /** Whether a pass would have the same result as the last one. `virtual`: the pods of buffers. */
  holds(snapshot: ClusterSnapshot, budgets: Budgets, virtual: readonly Pod[], now: number): boolean {
    const { known } = this;
    const outside = JSON.stringify([allowances(budgets), virtual.map(({ metadata }) => metadata.uid)]);
    const isSame = outside === this.outside;
    this.outside = outside;
    this.seen = this.changes;
    if (known === undefined || !isSame) return false;
    return known.snapshot === snapshot && known.changes === this.changes && now < known.until;
  }

  /** Records that a pass over this snapshot found nothing to do, for these reasons. */
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

/** A pool's status changes with each of its nodes; only its conditions matter here. */
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
