/**
 * A cluster that outlives its process. In: every write of the store. Out: an append-only file of JSON lines, from which
 * a later process restores the same objects at the same revisions.
 *
 * A process that dies mid-write leaves a torn last line, which is dropped. The file is rewritten without its history
 * when it has grown to several times the size of what it holds, so its length stays bounded by the cluster's.
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
import { isFields, type ApiObject } from './fields.ts';
import type { Store, StoreEvent, Table } from './store.ts';

/** The first line: what the file is, and the revision that it starts from. */
interface Header {
  readonly nodewrightState: 1;
  readonly revision: number;
}

/** `object` is absent when the key was removed. */
interface Line {
  readonly table: string;
  readonly key: string;
  readonly revision: number;
  readonly object?: ApiObject;
}

const READ_CHUNK = 4 * 1024 * 1024;
const FLUSH_AT = 1024 * 1024;
const SMALLEST_COMPACTION = 16 * 1024 * 1024;
const GROWTH = 3;
const NEWLINE = 10;

export class StateFile {
  private readonly path: string;
  private readonly store: Store;
  private readonly stopListening: () => void;
  private descriptor: number;
  private pending: string[] = [];
  private pendingLength = 0;
  private scheduled = false;
  private written = 0;
  private compactAt = SMALLEST_COMPACTION;

  /** Restores what the file holds, then records everything that happens. The store must be empty. */
  constructor(path: string, store: Store) {
    this.path = path;
    this.store = store;
    // A compaction that did not get to its end leaves this; the file itself is whole.
    rmSync(compactingPath(path), { force: true });
    if (existsSync(path)) this.restore();
    this.descriptor = openSync(path, 'a');
    this.compact();
    this.stopListening = store.subscribe((event, table) => this.note(event, table));
  }

  /** Everything written so far is in the file when this returns. */
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
    this.stopListening();
    this.flush();
    fsyncSync(this.descriptor);
    closeSync(this.descriptor);
  }

  private note(event: StoreEvent, table: Table): void {
    const line: Line = {
      table: table.id,
      key: event.key,
      revision: event.revision,
      ...(event.type === 'DELETED' ? {} : { object: event.object }),
    };
    const text = `${JSON.stringify(line)}\n`;
    this.pending.push(text);
    this.pendingLength += text.length;
    if (this.pendingLength >= FLUSH_AT) this.flush();
    if (this.scheduled) return;
    this.scheduled = true;
    // One write per turn, however many changes it had.
    setImmediate(() => {
      this.scheduled = false;
      if (this.pending.length > 0) this.flush();
    });
  }

  private restore(): void {
    const objects = new Map<string, Line>();
    let revision = 0;
    let isHeader = true;
    const sound = readLines(this.path, (text) => {
      const value = parse(text);
      if (value === undefined) return false;
      if (isHeader) {
        if (!isHeaderLine(value))
          throw new Error(`${this.path} is no state file of nodewright; remove it or name another`);
        revision = value.revision;
        isHeader = false;
        return true;
      }
      const line = value as unknown as Line;
      revision = Math.max(revision, line.revision);
      const id = `${line.table} ${line.key}`;
      if (line.object === undefined) objects.delete(id);
      else objects.set(id, line);
      return true;
    });
    truncateSync(this.path, sound);
    const lines = [...objects.values()].sort((left, right) => left.revision - right.revision);
    for (const { table, key, object } of lines) {
      if (object !== undefined) this.store.tableNamed(table).restore(key, object);
    }
    this.store.resumeAt(revision);
  }

  /** Writes what is, without what was, beside the file and puts it in its place. */
  private compact(): void {
    const beside = compactingPath(this.path);
    const descriptor = openSync(beside, 'w');
    const header: Header = { nodewrightState: 1, revision: this.store.revision };
    let text = `${JSON.stringify(header)}\n`;
    let length = 0;
    const put = (): void => {
      writeSync(descriptor, text);
      length += text.length;
      text = '';
    };
    for (const table of this.store.allTables()) {
      for (const [key, object] of table.entries()) {
        const revision = Number(object.metadata.resourceVersion ?? 0);
        text += `${JSON.stringify({ table: table.id, key, revision, object } satisfies Line)}\n`;
        if (text.length >= FLUSH_AT) put();
      }
    }
    put();
    fsyncSync(descriptor);
    closeSync(this.descriptor);
    renameSync(beside, this.path);
    this.descriptor = descriptor;
    this.written = length;
    this.compactAt = Math.max(SMALLEST_COMPACTION, GROWTH * length);
  }
}

function compactingPath(path: string): string {
  return `${path}.compacting`;
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isHeaderLine(value: object): value is Header {
  return 'nodewrightState' in value && value.nodewrightState === 1 && 'revision' in value;
}

/**
 * Calls `take` with each whole line until it refuses one. Returns the length of the sound part. A refused line that is
 * not the last is damage, not a torn write, and nobody should build on it.
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
        if (refused)
          throw new Error(`${path} is damaged after byte ${sound}; remove it to start with an empty cluster`);
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
