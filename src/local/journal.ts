/**
 * An append-only file of JSON lines that restores state in a later process.
 *
 * A process that dies mid-write leaves an incomplete last line, which is dropped. When the file has grown to several
 * times the size of the state, it is rewritten without its history, so its length stays bounded.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  truncateSync,
  writeSync,
} from 'node:fs';

export interface JournalOptions {
  readonly path: string;
  /** The first line is `{"<name>": <version>, …}`: the kind of the file and the format of its lines. */
  readonly name: string;
  readonly version: number;
  /** Further members of the first line. */
  readonly header: () => object;
  /** Called with each line of an earlier process in order, including the header. */
  readonly take: (line: Readonly<Record<string, unknown>>, isHeader: boolean) => void;
  /** Called after the last line, before anything is written. */
  readonly taken?: () => void;
  /** Returns the whole state as lines. */
  readonly snapshot: () => Iterable<object>;
}

/** The file exists but cannot be used. */
export class UnusableStateError extends Error {
  override readonly name = 'UnusableStateError';
}

const READ_CHUNK = 4 * 1024 * 1024;
const FLUSH_AT = 1024 * 1024;
const SMALLEST_COMPACTION = 16 * 1024 * 1024;
const GROWTH = 3;
const NEWLINE = 10;

export class Journal {
  private readonly options: JournalOptions;
  private descriptor: number;
  private pending: string[] = [];
  private pendingLength = 0;
  private scheduled = false;
  private closed = false;
  private written = 0;
  private compactAt = SMALLEST_COMPACTION;

  /** Restores the state from the file, then opens the file for appending. */
  constructor(options: JournalOptions) {
    this.options = options;
    // An unfinished compaction leaves this file; the journal itself is complete.
    rmSync(compactingPath(options.path), { force: true });
    if (existsSync(options.path)) this.restore();
    options.taken?.();
    this.descriptor = openSync(options.path, 'a', OWNER_ONLY);
    this.compact();
  }

  append(line: object): void {
    if (this.closed) return;
    const text = `${JSON.stringify(line)}\n`;
    this.pending.push(text);
    this.pendingLength += text.length;
    if (this.pendingLength >= FLUSH_AT) this.flush();
    if (this.scheduled) return;
    this.scheduled = true;
    // One write per turn of the event loop.
    setImmediate(() => {
      this.scheduled = false;
      if (this.pending.length > 0) this.flush();
    });
  }

  /** Writes all lines appended so far. */
  flush(): void {
    if (this.pending.length === 0) return;
    const text = this.pending.join('');
    this.pending = [];
    this.pendingLength = 0;
    writeSync(this.descriptor, text);
    this.written += text.length;
    if (this.written >= this.compactAt) this.compact();
  }

  close(): void {
    if (this.closed) return;
    this.flush();
    this.closed = true;
    fsyncSync(this.descriptor);
    closeSync(this.descriptor);
  }

  private restore(): void {
    const { path, name, version, take } = this.options;
    let isHeader = true;
    const sound = readLines(path, (text) => {
      const line = parse(text);
      if (line === undefined && !isHeader) return false;
      if (isHeader) {
        if (line === undefined || !(name in line))
          throw new UnusableStateError(`${path} is no state file of nodewright`);
        if (line[name] !== version) {
          throw new UnusableStateError(
            `${path} was written by another version of nodewright: its format is ${String(line[name])}, and this version reads ${version}`,
          );
        }
      }
      if (line !== undefined) take(line, isHeader);
      isHeader = false;
      return true;
    });
    truncateSync(path, sound);
  }

  /** Writes the current state without its history to a second file, then renames that onto the journal. */
  private compact(): void {
    const { path, name, version, header, snapshot } = this.options;
    const beside = compactingPath(path);
    const descriptor = openSync(beside, 'w', OWNER_ONLY);
    let text = `${JSON.stringify({ [name]: version, ...header() })}\n`;
    let length = 0;
    const put = (): void => {
      writeSync(descriptor, text);
      length += text.length;
      text = '';
    };
    for (const line of snapshot()) {
      text += `${JSON.stringify(line)}\n`;
      if (text.length >= FLUSH_AT) put();
    }
    put();
    fsyncSync(descriptor);
    closeSync(this.descriptor);
    renameSync(beside, path);
    this.descriptor = descriptor;
    this.written = length;
    this.compactAt = Math.max(SMALLEST_COMPACTION, GROWTH * length);
  }
}

/** The file holds secrets of the cluster. */
const OWNER_ONLY = 0o600;

function compactingPath(path: string): string {
  return `${path}.compacting`;
}

function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * Calls `take` with each complete line until it returns false. Returns the number of bytes accepted. A rejected line
 * that is not the last is damage rather than an incomplete write, and throws.
 */
function readLines(path: string, take: (text: string) => boolean): number {
  const descriptor = openSync(path, 'r');
  try {
    const chunk = Buffer.allocUnsafe(READ_CHUNK);
    let rest = Buffer.alloc(0);
    let sound = 0;
    let refused = false;
    for (let count = readSync(descriptor, chunk); count > 0; count = readSync(descriptor, chunk)) {
      let data = Buffer.concat([rest, chunk.subarray(0, count)]);
      for (let end = data.indexOf(NEWLINE); end >= 0; end = data.indexOf(NEWLINE)) {
        if (refused) throw new UnusableStateError(`${path} is damaged after byte ${sound}`);
        refused = !take(data.toString('utf8', 0, end));
        if (!refused) sound += end + 1;
        data = data.subarray(end + 1);
      }
      rest = Buffer.from(data);
    }
    return sound;
  } finally {
    closeSync(descriptor);
  }
}
