/**
 * The latest frame: rows, totals and charts of the cluster, computed at most once a second and only while a page is
 * open. Charts get a point periodically in any case, so that they have a history when the first page is opened.
 */
import type { Picture, DashboardSource } from './picture.ts';
import type { ControllerState, HistoryPoint, NodeRow, PendingScreen, Totals } from './screens.ts';
import { nodeRowsOf } from './views/nodeRows.ts';
import { pendingScreen } from './views/pending.ts';
import { totalsOf } from './views/totals.ts';

export interface Frame {
  readonly version: number;
  readonly time: number;
  readonly state: ControllerState;
  readonly picture: Picture;
  readonly rows: readonly NodeRow[];
  readonly pending: PendingScreen;
  readonly totals: Totals;
}

/** Real milliseconds. */
const FRAME_HOLDS = 900;
const POINT_EVERY = 2_000;
const MOST_POINTS = 900;
/** Maximum share of the time between two frames that computing one may take. */
const SHARE = 0.1;

export class DashboardFeed {
  private readonly source: DashboardSource;
  private readonly points: HistoryPoint[] = [];
  private latest: Frame | undefined;
  private making: Promise<Frame | undefined> | undefined;
  /** Real time before which no new frame is computed. */
  private nextAt = 0;
  private version = 0;

  constructor(source: DashboardSource) {
    this.source = source;
  }

  get history(): readonly HistoryPoint[] {
    return this.points;
  }

  /** Undefined while the cluster is unknown. */
  frame(): Promise<Frame | undefined> {
    if (this.latest !== undefined && performance.now() < this.nextAt) return Promise.resolve(this.latest);
    this.making ??= this.make().finally(() => {
      this.making = undefined;
    });
    return this.making;
  }

  /** Adds points to the charts until the signal aborts. */
  async run(sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const frame = await this.frame();
      if (frame !== undefined) this.addPoint(frame);
      await sleep(POINT_EVERY, signal).catch(() => undefined);
    }
  }

  private async make(): Promise<Frame | undefined> {
    const picture = await this.source.picture();
    if (picture === undefined) return this.latest && { ...this.latest, state: this.source.state() };
    const began = performance.now();
    const { ledger } = this.source;
    const rows = nodeRowsOf(picture);
    const pending = pendingScreen(picture, ledger);
    const waiting = pending.groups.reduce((sum, { counted }) => sum + counted, 0);
    const totals = totalsOf(rows, waiting, ledger);
    this.version += 1;
    const { time } = picture;
    this.latest = { version: this.version, time, state: this.source.state(), picture, rows, pending, totals };
    const took = performance.now() - began;
    this.nextAt = performance.now() + Math.max(FRAME_HOLDS, took / SHARE);
    return this.latest;
  }

  private addPoint({ time, totals }: Frame): void {
    const last = this.points.at(-1);
    if (last !== undefined && last.time >= time) return;
    const { pricePerHour: price, nodes, pending, pods } = totals;
    this.points.push({ time, price, nodes, pending, pods });
    if (this.points.length > MOST_POINTS) this.thinOut();
  }

  /** Drops every second point of the older half: charts cover a longer time at a lower resolution. */
  private thinOut(): void {
    const half = Math.floor(this.points.length / 2);
    const older = this.points.splice(0, half).filter((_, at) => at % 2 === 0);
    this.points.unshift(...older);
  }
}
