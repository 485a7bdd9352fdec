import type { DisruptionReason } from '../../api/kinds/nodePool.ts';
import type { Budgets } from '../../disruption/budgets.ts';
import type { Kept, KeptCause } from '../../disruption/kept.ts';
import type { Method } from '../../disruption/method.ts';
import type { World } from '../world/world.ts';
import * as publish from './events.ts';
import type { DisruptionMetrics } from './metrics.ts';

/** How a cause is reported: as that event and in the ledger, only in the ledger, or not at all. */
type Telling = 'blocked' | 'unconsolidatable' | 'recorded' | 'silent';

const TELLING: Readonly<Record<KeptCause['kind'], Telling>> = {
  queued: 'silent',
  'no-node': 'blocked',
  'not-initialized': 'blocked',
  deleting: 'blocked',
  nominated: 'blocked',
  'do-not-disrupt-node': 'blocked',
  'no-pool-label': 'blocked',
  'pool-not-found': 'blocked',
  'do-not-disrupt-pod': 'blocked',
  pdb: 'blocked',
  'static-pool': 'silent',
  'not-static-pool': 'silent',
  'not-drifted': 'silent',
  'not-empty': 'silent',
  empty: 'silent',
  'buffer-pods': 'unconsolidatable',
  'consolidation-disabled': 'unconsolidatable',
  policy: 'unconsolidatable',
  'too-young': 'recorded',
  'unknown-instance-type': 'unconsolidatable',
  'unknown-capacity-type': 'unconsolidatable',
  'unknown-zone': 'unconsolidatable',
  budget: 'recorded',
  'would-strand': 'unconsolidatable',
  'not-cheaper': 'unconsolidatable',
  'unknown-price': 'unconsolidatable',
  'min-values': 'unconsolidatable',
  'spot-to-spot-disabled': 'unconsolidatable',
  'spot-to-spot-flexibility': 'unconsolidatable',
  'balanced-score': 'recorded',
  'no-payback': 'recorded',
  'recent-launch-failure': 'recorded',
  'scale-down-first': 'recorded',
  'node-limit': 'recorded',
  'other-zone-first': 'recorded',
  'next-pass': 'silent',
};

/** Temporary causes while a node is starting or being removed: reported as an event but not in the ledger. */
const PASSING: ReadonlySet<KeptCause['kind']> = new Set([
  'no-node',
  'not-initialized',
  'deleting',
  'nominated',
  'too-young',
]);

interface Said {
  readonly kind: KeptCause['kind'];
  readonly text: string;
}

/** Reports the result of a pass: why nodes are kept, and what budgets allow. Each fact once, until it changes. */
export class Reporter {
  private readonly world: Pick<World, 'events' | 'ledger' | 'log' | 'cluster' | 'informers'>;
  private readonly metrics: DisruptionMetrics;
  /** The last report per claim. */
  private said = new Map<string, Said>();
  private blocked: ReadonlySet<string> = new Set();
  private pools: ReadonlySet<string> = new Set();

  constructor(world: Reporter['world'], metrics: DisruptionMetrics) {
    this.world = world;
    this.metrics = metrics;
  }

  budgets({ pools }: Budgets): void {
    const { events, informers, log } = this.world;
    const blocked = new Set<string>();
    const tellOnce = (key: string, tell: () => void): void => {
      blocked.add(key);
      if (!this.blocked.has(key)) tell();
    };
    for (const { pool: name, nodes, disrupting, limit, complaints } of pools) {
      const pool = informers.nodePools.store.get({ name });
      if (pool === undefined) continue;
      for (const complaint of complaints) {
        tellOnce(`${name} ${complaint.index} ${complaint.field} ${complaint.value}`, () => {
          publish.budgetUnreadable(events, pool, complaint);
          log.error('a disruption budget cannot be read; its NodePool is not disrupted', {
            NodePool: name,
            ...complaint,
          });
        });
      }
      for (const [reason, allowed] of Object.entries(limit) as [DisruptionReason, number][]) {
        this.metrics.allowed.set({ nodepool: name, reason }, allowed);
        this.metrics.consuming.set({ nodepool: name, reason }, disrupting);
        if (nodes > 0 && allowed === 0) {
          tellOnce(`${name} ${reason}`, () => publish.budgetBlocked(events, pool, reason));
        }
      }
    }
    const names = new Set(pools.map(({ pool }) => pool));
    for (const name of this.pools) {
      if (names.has(name)) continue;
      for (const reason of ['Underutilized', 'Empty', 'Drifted']) {
        this.metrics.allowed.delete({ nodepool: name, reason });
        this.metrics.consuming.delete({ nodepool: name, reason });
      }
    }
    this.pools = names;
    this.blocked = blocked;
  }

  /** Nodes kept by a complete pass, each with its most informative cause. */
  kept(all: ReadonlyMap<string, { readonly kept: Kept; readonly method: Method | undefined }>): void {
    const { events, ledger, cluster } = this.world;
    const said = new Map<string, Said>();
    for (const [claim, { kept, method }] of all) {
      const { cause } = kept;
      const now = { kind: cause.kind, text: JSON.stringify(cause) };
      said.set(claim, now);
      const before = this.said.get(claim);
      if (before?.text === now.text) continue;
      const telling = TELLING[cause.kind];
      if (telling === 'silent') continue;
      if (!PASSING.has(cause.kind)) ledger.append({ kind: 'kept', ...kept });
      // The same cause with another pod or price is not published again.
      if (before?.kind === cause.kind || telling === 'recorded') continue;
      const view = cluster.viewOf(claim);
      if (view === undefined) continue;
      if (telling === 'blocked' || method?.reason === 'Drifted') publish.blocked(events, view, kept);
      else publish.unconsolidatable(events, view, kept);
    }
    this.said = said;
  }
}

/** Whether the first of two causes for one node is more informative. */
export function tellsMore(cause: KeptCause, than: KeptCause | undefined): boolean {
  return than === undefined || TELLING[cause.kind] !== 'silent' || TELLING[than.kind] === 'silent';
}
