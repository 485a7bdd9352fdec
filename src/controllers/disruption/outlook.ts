import { savingsBacklog, type SavingsBacklog } from '../../disruption/backlog.ts';
import { driftProgress } from '../../disruption/driftProgress.ts';
import type { Kept } from '../../disruption/kept.ts';
import type { Pass } from '../../disruption/method.ts';
import type { World } from '../world/world.ts';
import type { DisruptionMetrics } from './metrics.ts';

/** Minimum milliseconds between two records on the same subject. */
const LEAST_PAUSE = 60_000;
/** Weight of the latest wave in the expected duration. */
const NEWS = 0.5;

/** Reports possible savings and their blockers, and the progress of drift: metrics always, ledger records on change. */
export class Outlook {
  private readonly world: Pick<World, 'ledger'>;
  private readonly metrics: DisruptionMetrics;
  private readonly told = new Map<string, { readonly text: string; readonly at: number }>();
  private series = new Map<string, { readonly nodepool: string; readonly blocker: string }>();
  private waveTime: number | undefined;

  constructor(world: Pick<World, 'ledger'>, metrics: DisruptionMetrics) {
    this.world = world;
    this.metrics = metrics;
  }

  /** Records how many milliseconds a drift command took. */
  driftEnded(milliseconds: number): void {
    this.waveTime = (1 - NEWS) * (this.waveTime ?? milliseconds) + NEWS * milliseconds;
  }

  /** Handles a complete pass; `kept` has one cause for each node kept. */
  passed(pass: Pass, kept: readonly Kept[]): void {
    const backlog = savingsBacklog(pass, kept);
    this.measure(backlog);
    this.tell('savings', pass.now, { kind: 'savings', ...backlog }, backlogText(backlog));
    for (const progress of driftProgress(pass, kept, this.waveTime)) {
      const { nodePool, drifted, underWay, allowed, blocker } = progress;
      const text = JSON.stringify([drifted, underWay, allowed, blocker?.cause.kind, blocker?.nodes]);
      this.tell(`drift ${nodePool}`, pass.now, { kind: 'drift', ...progress }, text);
    }
  }

  private tell(key: string, now: number, record: Parameters<World['ledger']['append']>[0], text: string): void {
    const before = this.told.get(key);
    if (before !== undefined && (before.text === text || now < before.at + LEAST_PAUSE)) return;
    this.told.set(key, { text, at: now });
    this.world.ledger.append(record);
  }

  private measure({ pools }: SavingsBacklog): void {
    const series = new Map<string, { nodepool: string; blocker: string }>();
    for (const { pool, blockers } of pools) {
      for (const { cause, savingsPerHour } of blockers) {
        const labels = { nodepool: pool, blocker: cause };
        series.set(`${pool} ${cause}`, labels);
        this.metrics.backlog.set(labels, savingsPerHour);
      }
    }
    for (const [key, labels] of this.series) if (!series.has(key)) this.metrics.backlog.delete(labels);
    this.series = series;
  }
}

/** Rounded to cents: smaller changes are not reported. */
const backlogText = ({ pools }: SavingsBacklog): string =>
  JSON.stringify(
    pools.map(({ pool, blockers }) => [
      pool,
      blockers.map(({ cause, nodes, savingsPerHour }) => [cause, nodes, savingsPerHour.toFixed(2)]),
    ]),
  );
