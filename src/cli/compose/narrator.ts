/**
 * Shows the local world to whoever started it. In: an observer and where to write. Out: a picture that is redrawn every
 * second on a terminal; elsewhere a line for each decision and whenever the numbers change.
 */
import type { WorldObserver } from './worldObserver.ts';
import { drawWorld, summaryOf } from './worldPicture.ts';

/** Real time: this is for people. */
const INTERVAL = 1_000;
const HOME = '\u001b[H';
const CLEAR_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';
const CLEAR_ALL = '\u001b[2J';
const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';

export interface Terminal {
  write(text: string): void;
  /** Absent for what is no terminal. */
  readonly size: (() => { readonly columns: number; readonly rows: number }) | undefined;
}

export class WorldNarrator {
  private readonly observer: WorldObserver;
  private readonly terminal: Terminal;
  private readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  private last = '';

  constructor(
    observer: WorldObserver,
    terminal: Terminal,
    sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>,
  ) {
    this.observer = observer;
    this.terminal = terminal;
    this.sleep = sleep;
  }

  async run(signal: AbortSignal): Promise<void> {
    const following = this.observer.run(signal);
    const { size } = this.terminal;
    try {
      await this.observer.synced(signal);
      if (size) this.terminal.write(CLEAR_ALL + HIDE_CURSOR);
      while (!signal.aborted) {
        const facts = await this.observer.facts(signal);
        if (size) {
          const { columns, rows } = size();
          const lines = drawWorld(facts, columns, rows - 1);
          this.terminal.write(HOME + lines.map((line) => `${line}${CLEAR_LINE}\n`).join('') + CLEAR_BELOW);
        } else this.say(facts.time, summaryOf(facts));
        await this.sleep(INTERVAL, signal).catch(() => undefined);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      if (size) this.terminal.write(SHOW_CURSOR);
    }
    await following;
  }

  private say(time: string, summary: string): void {
    if (summary === this.last) return;
    this.last = summary;
    this.terminal.write(`${time}  ${summary}\n`);
  }
}
