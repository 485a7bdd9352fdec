/** `top` on a terminal: redraws after each read of the cluster, each key, and each change of the window. */
import { emitKeypressEvents, type Key } from 'node:readline';
import type { ReadStream, WriteStream } from 'node:tty';
import { messageOf } from '../errors/thrown.ts';
import type { NodeRow } from '../rehearsal/nodeRows.ts';
import { COLUMNS, topScreen, visibleRows, type TopView } from './topScreen.ts';

export interface TopTerminal {
  readonly look: () => Promise<readonly NodeRow[]>;
  /** Nodes without requested resources, which take longer to read: shown until the first complete read. */
  readonly glance?: () => Promise<readonly NodeRow[]>;
  readonly view: TopView;
  /** Milliseconds between two reads. */
  readonly interval: number;
  readonly input?: Pick<ReadStream, 'on' | 'off' | 'setRawMode' | 'resume' | 'pause'>;
  readonly output?: Pick<WriteStream, 'write' | 'rows' | 'columns' | 'on' | 'off'>;
}

const ENTER = '\u001B[?1049h\u001B[?25l';
const LEAVE = '\u001B[?25h\u001B[?1049l';
const HOME = '\u001B[H\u001B[J';
/** Lines that do not show nodes. */
const FRAME = 7;

/** Resolves when the user ends it. */
export async function runTop({
  look,
  glance,
  view: first,
  interval,
  input = process.stdin,
  output = process.stdout,
}: TopTerminal): Promise<void> {
  let view = first;
  let rows: readonly NodeRow[] | undefined;
  let problem = '';
  let typing: Typed | undefined;
  const draw = (): void => {
    const height = Math.max(1, (output.rows || 24) - FRAME);
    const last = Math.max(0, visibleRows(rows ?? [], view).length - height);
    view = { ...view, offset: Math.min(Math.max(0, view.offset), last) };
    const body =
      rows === undefined
        ? 'reading the cluster …\n'
        : topScreen(rows, { ...view, height, width: output.columns || 80 });
    const prompt = typing
      ? `${PROMPTS[typing]}: ${view[typing]}_`
      : 's sort  o sort by …  r reverse  / filter  ↑↓ scroll  q quit';
    output.write(`${HOME}${body}\n${prompt}${problem === '' ? '' : `  (${problem})`}`);
  };
  const ended = new Promise<void>((resolve) => {
    const onKey = (text: string | undefined, key: Key): void => {
      if (key.ctrl === true && key.name === 'c') resolve();
      else if (typing) [view, typing] = typed(view, typing, text, key);
      else if (key.name === 'q') resolve();
      else if (text === '/') typing = 'filter';
      else if (text === 'o') {
        typing = 'sort';
        view = { ...view, sort: '' };
      } else view = pressed(view, key);
      draw();
    };
    input.on('keypress', onKey);
  });
  emitKeypressEvents(input as ReadStream);
  input.setRawMode(true);
  input.resume();
  output.write(ENTER);
  output.on('resize', draw);
  const end = new AbortController();
  const follow = async (): Promise<void> => {
    if (glance !== undefined) {
      try {
        rows = await glance();
        problem = 'pods are being read';
      } catch (error) {
        problem = messageOf(error);
      }
      if (!end.signal.aborted) draw();
    }
    while (!end.signal.aborted) {
      try {
        rows = await look();
        problem = '';
      } catch (error) {
        problem = messageOf(error);
      }
      if (!end.signal.aborted) draw();
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, interval).unref())]);
    }
  };
  draw();
  const following = follow();
  await ended;
  end.abort();
  output.off('resize', draw);
  input.setRawMode(false);
  input.pause();
  output.write(LEAVE);
  void following;
}

/** What a user can type at a prompt; `NONE` has the values for empty input. */
type Typed = 'filter' | 'sort';
const PROMPTS: Readonly<Record<Typed, string>> = { filter: 'filter', sort: 'sort by column or label' };
const NONE: Readonly<Record<Typed, string>> = { filter: '', sort: 'name' };

const STEPS: Readonly<Record<string, number>> = { down: 1, j: 1, up: -1, k: -1, pagedown: 20, pageup: -20 };

function pressed(view: TopView, { name = '' }: Key): TopView {
  const next = COLUMNS[(COLUMNS.findIndex((column) => column === view.sort) + 1) % COLUMNS.length] ?? 'name';
  if (name === 's') return { ...view, sort: next, offset: 0 };
  if (name === 'r') return { ...view, reverse: !view.reverse, offset: 0 };
  return { ...view, offset: view.offset + (STEPS[name] ?? 0) };
}

function typed(view: TopView, field: Typed, text: string | undefined, { name }: Key): [TopView, Typed | undefined] {
  const set = (value: string): TopView => ({ ...view, [field]: value, offset: 0 });
  if (name === 'return' || name === 'enter') return [view.sort === '' ? set(NONE[field]) : view, undefined];
  if (name === 'escape') return [set(NONE[field]), undefined];
  if (name === 'backspace') return [set(view[field].slice(0, -1)), field];
  return [set(`${view[field]}${text ?? ''}`), field];
}
