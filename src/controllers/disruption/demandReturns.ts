import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import { Annotations, Labels } from '../../api/labels.ts';
import type { Clock } from '../../clock/clock.ts';
import type { Command } from '../../disruption/command.ts';
import type { Informer } from '../../kube/informer.ts';

/** Milliseconds after which a new node is unrelated to earlier removals. */
const MEMORY = 60 * 60_000;
/** Weight of the latest return in the estimate. */
const NEWS = 0.5;
/** If demand stays away for this many times the last interval, the estimate is dropped. */
const FORGOTTEN = 10;

/** Removals since demand last returned. */
interface Ebb {
  readonly since: number;
  /** Number of pods when it began. */
  readonly pods: number;
  /** There had been more pods before. If not, nodes were removed while demand grew, and more pods are no return. */
  readonly isFall: boolean;
}

export interface DemandReturnsOptions {
  readonly clock: Clock;
  readonly nodeClaims: Pick<Informer<NodeClaim>, 'subscribe'>;
  /** Number of pods in the cluster, including waiting ones. */
  readonly pods: () => number;
  /** A node was bought soon after others were removed, although there are no more pods than before. */
  readonly onReversal: (pool: string) => void;
  /** There are more pods than when nodes were removed. */
  readonly onReturn: () => void;
}

/**
 * How long savings last, by pool: if demand returns minutes after nodes were removed, pods are moved for nothing.
 * Unknown until it has returned once.
 */
export class DemandReturns {
  private readonly options: DemandReturnsOptions;
  private readonly ebbs = new Map<string, Ebb>();
  /** By pool: the largest number of pods at a purchase since demand last returned. */
  private readonly peaks = new Map<string, number>();
  private readonly returns = new Map<string, { readonly at: number; readonly after: number }>();

  constructor(options: DemandReturnsOptions) {
    this.options = options;
    const startedAt = options.clock.now();
    options.nodeClaims.subscribe(({ type, object }) => {
      if (type !== 'added' || object.metadata.annotations?.[Annotations.disruptionCommand] !== undefined) return;
      if (Date.parse(object.metadata.creationTimestamp ?? '') < startedAt - 1_000) return;
      const pool = object.metadata.labels?.[Labels.nodePool];
      if (pool !== undefined) this.bought(pool);
    });
  }

  /** Records commands that remove nodes. */
  begin(commands: readonly Command[]): void {
    const now = this.options.clock.now();
    for (const pool of new Set(
      commands.flatMap(({ candidates }) => candidates.map((each) => each.pool.metadata.name)),
    )) {
      const ebb = this.ebbs.get(pool);
      if (ebb !== undefined && now - ebb.since <= MEMORY) continue;
      const pods = this.options.pods();
      // A pool without a recorded purchase may have had any demand before.
      this.ebbs.set(pool, { since: now, pods, isFall: pods < (this.peaks.get(pool) ?? Number.POSITIVE_INFINITY) });
    }
  }

  /**
   * Milliseconds for which savings in the pool are expected to last from now on; undefined when unknown. The time
   * already elapsed is subtracted; overdue demand is expected to stay away for as long as it is overdue.
   */
  calmFor(pool: string): number | undefined {
    const last = this.returns.get(pool);
    if (last === undefined) return undefined;
    const now = this.options.clock.now();
    const began = this.ebbs.get(pool)?.since ?? now;
    const quiet = began - last.at;
    const expected = quiet > FORGOTTEN * last.after ? quiet : last.after;
    return Math.abs(expected - (now - began));
  }

  /** Records that a node was bought for waiting pods. */
  private bought(pool: string): void {
    const { clock, onReversal, onReturn } = this.options;
    const pods = this.options.pods();
    this.peaks.set(pool, Math.max(pods, this.peaks.get(pool) ?? 0));
    const ebb = this.ebbs.get(pool);
    const now = clock.now();
    if (ebb === undefined || now - ebb.since > MEMORY) return;
    if (pods <= ebb.pods) {
      onReversal(pool);
      return;
    }
    this.ebbs.delete(pool);
    onReturn();
    if (!ebb.isFall) return;
    this.peaks.set(pool, pods);
    const lasted = now - ebb.since;
    const before = this.returns.get(pool)?.after ?? lasted;
    this.returns.set(pool, { at: now, after: (1 - NEWS) * before + NEWS * lasted });
  }
}
