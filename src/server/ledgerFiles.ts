/**
 * The ledger on disk: JSON lines in a sequence of files in its own directory. Each line is one write, so that a crash
 * can only truncate the last one. The oldest files are deleted when the total size is too large or their last decision
 * too old.
 */
import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { NodewrightError } from '../errors/nodewrightError.ts';
import { systemProblem } from '../errors/thrown.ts';
import type { Log } from '../kube/log.ts';
import type { Ledger, LedgerEntry } from '../ledger/ledger.ts';
import { formatLedgerLine, parseLedgerLine } from '../ledger/ledgerLine.ts';

export interface LedgerFilesOptions {
  readonly directory: string;
  /** Maximum bytes of all files together. */
  readonly maxBytes: number;
  /** Milliseconds. */
  readonly maxAge: number;
  readonly now: () => number;
  readonly log: Pick<Log, 'error'>;
}

/** Number of files among which the bytes are divided: files are deleted one at a time. */
const FILES = 8;
/** Maximum bytes of one file, because age limits delete whole files. */
const FILE_BYTES = 16 * 1024 * 1024;
const NAME = /^decisions-(\d{12})\.jsonl$/;

interface OldFile {
  readonly path: string;
  readonly bytes: number;
  /** Time of its last entry, in milliseconds since 1970. */
  readonly last: number;
}

/** Restores the ledger from the files, and appends every further entry. Returns a function that stops this. */
export function keepLedgerInFiles(ledger: Ledger, options: LedgerFilesOptions): () => void {
  const { directory, now, maxAge } = options;
  let old: OldFile[];
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const read = namesIn(directory).map((name) => {
      cutTorn(join(directory, name));
      return readFile(join(directory, name));
    });
    ledger.restore(read.flatMap(({ entries }) => entries).filter(({ time }) => time >= now() - maxAge));
    old = read.map(({ file }) => file);
  } catch (error) {
    throw unusable(directory, error);
  }
  const files = new LedgerFiles(options, old, ledger.nextSequence);
  const unsubscribe = ledger.subscribe((entry) => files.write(entry));
  return () => {
    unsubscribe();
    files.close();
  };
}

/** All entries in the files of a directory, oldest first. */
export function readLedgerFiles(directory: string): readonly LedgerEntry[] {
  try {
    return namesIn(directory).flatMap((name) => readFile(join(directory, name)).entries);
  } catch (error) {
    throw unusable(directory, error);
  }
}

const unusable = (directory: string, error: unknown): NodewrightError<'LedgerUnusable'> =>
  new NodewrightError('LedgerUnusable', { directory, problem: systemProblem(error) }, { cause: error });

const namesIn = (directory: string): string[] =>
  readdirSync(directory)
    .filter((name) => NAME.test(name))
    .sort();

function readFile(path: string): { readonly file: OldFile; readonly entries: readonly LedgerEntry[] } {
  const text = readFileSync(path, 'utf8');
  const entries = text.split('\n').flatMap((line) => (line === '' ? [] : (parseLedgerLine(line) ?? [])));
  const last = entries.at(-1)?.time ?? statSync(path).mtimeMs;
  return { file: { path, bytes: Buffer.byteLength(text), last }, entries };
}

/** A truncated record would corrupt the next file when all are read in sequence. */
function cutTorn(path: string): void {
  const bytes = readFileSync(path);
  const whole = bytes.lastIndexOf('\n') + 1;
  if (whole < bytes.length) truncateSync(path, whole);
}

class LedgerFiles {
  private readonly options: LedgerFilesOptions;
  private readonly old: OldFile[];
  private serial: number;
  private open:
    | { readonly path: string; readonly descriptor: number; readonly first: number; bytes: number; last: number }
    | undefined;
  private hasFailed = false;

  constructor(options: LedgerFilesOptions, old: readonly OldFile[], serial: number) {
    this.options = options;
    this.old = [...old];
    this.serial = serial;
    this.removeOld();
  }

  write(entry: LedgerEntry): void {
    const line = Buffer.from(`${formatLedgerLine(entry)}\n`);
    try {
      const file = this.fileFor(line.length, entry);
      const written = writeSync(file.descriptor, line);
      if (written < line.length) return this.fail({ written, bytes: line.length });
      file.bytes += line.length;
      file.last = entry.time;
      this.hasFailed = false;
    } catch (error) {
      this.fail({ error });
    }
  }

  /** A full disk must not stop the loops; reported once, until it works again. */
  private fail(details: Readonly<Record<string, unknown>>): void {
    if (!this.hasFailed) this.options.log.error('cannot write the ledger to disk', details);
    this.hasFailed = true;
    this.leave();
  }

  /** Start a new file, so that the next line is not appended to a truncated one. */
  private leave(): void {
    try {
      if (this.open !== undefined) ftruncateSync(this.open.descriptor, this.open.bytes);
      this.close();
    } catch (error) {
      this.options.log.error('cannot close a file of the ledger', { error });
    }
  }

  close(): void {
    if (this.open === undefined) return;
    const { path, bytes, last, descriptor } = this.open;
    this.open = undefined;
    this.old.push({ path, bytes, last });
    closeSync(descriptor);
  }

  /**
   * A file is full when it reaches its share of the bytes or of the age, because files are deleted as a whole and old
   * entries must not stay with new ones. Never appends to a file of an earlier process.
   */
  private fileFor(bytes: number, { sequence, time }: LedgerEntry) {
    const { open, options } = this;
    if (open !== undefined && (open.bytes + bytes > this.share || time - open.first > options.maxAge / FILES))
      this.close();
    if (this.open !== undefined) return this.open;
    this.serial = Math.max(this.serial, sequence);
    this.removeOld();
    for (;;) {
      const path = join(this.options.directory, `decisions-${String(this.serial).padStart(12, '0')}.jsonl`);
      this.serial += 1;
      if (this.old.some((file) => file.path === path)) continue;
      this.open = { path, descriptor: openSync(path, 'a', 0o600), first: time, bytes: 0, last: time };
      return this.open;
    }
  }

  private get share(): number {
    return Math.min(FILE_BYTES, this.options.maxBytes / FILES);
  }

  private removeOld(): void {
    const { maxBytes, maxAge, now } = this.options;
    for (;;) {
      const [oldest] = this.old;
      if (oldest === undefined) return;
      const bytes = this.old.reduce((sum, file) => sum + file.bytes, 0);
      if (bytes <= maxBytes - this.share && oldest.last >= now() - maxAge) return;
      unlinkSync(oldest.path);
      this.old.shift();
    }
  }
}
