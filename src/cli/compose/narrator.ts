/**
 * Displays the local world: on a terminal a live view redrawn every second; otherwise a line per decision and per
 * change of the numbers.
 */
import type { Log } from '../../kube/log.ts';
import type { WorldObserver } from './worldObserver.ts';
import { drawWorld, summaryOf } from './worldPicture.ts';

/** Real milliseconds. */
const INTERVAL = 1_000;
const HOME = '\u001b[H';
const CLEAR_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';
const CLEAR_ALL = '\u001b[2J';
const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';

interface Terminal {
  write(text: string): void;
  /** Absent when the output is not a terminal. */
  readonly size: (() => { readonly columns: number; readonly rows: number }) | undefined;
}

export interface NarratorOptions {
  readonly observer: Pick<WorldObserver, 'run' | 'synced' | 'facts'>;
  readonly terminal: Terminal;
  readonly log: Log;
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** Resolves when the signal aborts; never rejects: a failed view is logged and tried again. */
export async function narrate({ observer, terminal, log, sleep }: NarratorOptions, signal: AbortSignal): Promise<void> {
  const failed = (error: unknown): void => {
    if (!signal.aborted) log.error('cannot draw the picture', { error });
  };
  const following = observer.run(signal).catch(failed);
  await observer.synced(signal).catch(failed);
  const { size } = terminal;
  let last = '';
  const show = (): void => {
    const facts = observer.facts();
    if (size) {
      const { columns, rows } = size();
      const lines = drawWorld(facts, columns, rows - 1);
      terminal.write(HOME + lines.map((line) => `${line}${CLEAR_LINE}\n`).join('') + CLEAR_BELOW);
      return;
    }
    const summary = summaryOf(facts);
    if (summary !== last) terminal.write(`${facts.time}  ${summary}\n`);
    last = summary;
  };
  if (size) terminal.write(CLEAR_ALL + HIDE_CURSOR);
  while (!signal.aborted) {
    try {
      show();
    } catch (error) {
      failed(error);
    }
    await sleep(INTERVAL, signal).catch(() => undefined);
  }
  if (size) terminal.write(SHOW_CURSOR);
  await following;
}
