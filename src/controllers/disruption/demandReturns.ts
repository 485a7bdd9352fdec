import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import { Annotations, Labels } from '../../api/labels.ts';
import type { Clock } from '../../clock/clock.ts';
import type { Command } from '../../disruption/command.ts';
import type { Informer } from '../../kube/informer.ts';

/** Milliseconds after which a new node has nothing to do with what was taken away before. */
const MEMORY = 60 * 60_000;
/** The part that the latest return has in what is expected. */
const NEWS = 0.5;
/** After so many times the time that demand last stayed away without coming back, it is a thing of the past. */
const FORGOTTEN = 10;

/** What has been taken away since demand last came back. */
interface Ebb {
  readonly since: number;
  /** Pods that there were when it began. */
  readonly pods: number;
  /** There had been more pods before. Where not, nodes went while demand grew, and more pods are no return. */
  readonly isFall: boolean;
}

export interface DemandReturnsOptions {
  readonly clock: Clock;
  readonly nodeClaims: Pick<Informer<NodeClaim>, 'subscribe'>;
  /** Pods of the cluster, also those that wait. */
  readonly pods: () => number;
  /** A node was bought soon after others had been taken away, although there are no more pods than before. */
  readonly onReversal: (pool: string) => void;
  /** There are more pods than when nodes were taken away. */
  readonly onReturn: () => void;
}

/**
 * How long savings last, by pool: where demand comes back minutes after nodes went, pods are moved for nothing. Until it
 * has come back once, nothing is known.
 */
export class DemandReturns {
  private readonly options: DemandReturnsOptions;
  private readonly ebbs = new Map<string, Ebb>();
  /** By pool: the most pods at a purchase since demand last came back. */
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

  /** These commands take nodes away. */
  begin(commands: readonly Command[]): void {
    const now = this.options.clock.now();
    for (const pool of new Set(
      commands.flatMap(({ candidates }) => candidates.map((each) => each.pool.metadata.name)),
    )) {
      const ebb = this.ebbs.get(pool);
      if (ebb !== undefined && now - ebb.since <= MEMORY) continue;
      const pods = this.options.pods();
      // A pool of which no purchase was seen may have had any demand before.
      this.ebbs.set(pool, { since: now, pods, isFall: pods < (this.peaks.get(pool) ?? Number.POSITIVE_INFINITY) });
    }
  }

  /**
   * Milliseconds for which savings in the pool are expected to last from now on; undefined when nothing is known. What has
   * been gone for a while comes back that much sooner, and what is overdue stays away for as long as it is.
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

  /** A node was bought for pods that wait. */
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
