/** State of `up` needed to resume a world: its state files, when it began, and its clock. */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NodewrightError } from '../../errors/nodewrightError.ts';
import { messageOf, systemProblem, toError } from '../../errors/thrown.ts';
import { UnusableStateError } from '../../local/journal.ts';
import type { WorldState } from '../../local/localWorld.ts';

/** Changes with the format of any file in the folder. */
const VERSION = 1;
const OWNER_ONLY = 0o600;

interface Memory {
  readonly nodewrightWorld: number;
  readonly subscriptionId: string;
  /** Milliseconds since the epoch, on the world's clock. */
  readonly begunAt: number;
  /** A time that the world's clock has not passed yet. */
  readonly time: number;
  /** Whether all initial content of a new world was created. */
  readonly isFurnished: boolean;
}

export interface WorldMemoryOptions {
  readonly directory: string;
  /** Deletes an existing world. */
  readonly fresh: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly newId: () => string;
}

export class WorldMemory {
  readonly state: WorldState;
  private readonly path: string;
  private memory: Memory;

  constructor({ directory, fresh, now, newId }: WorldMemoryOptions) {
    if (fresh) rmSync(directory, { recursive: true, force: true });
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    this.path = join(directory, 'world.json');
    const found = existsSync(this.path) ? read(this.path) : undefined;
    this.memory = found ?? {
      nodewrightWorld: VERSION,
      subscriptionId: newId(),
      begunAt: now,
      time: now,
      isFurnished: false,
    };
    this.write();
    this.state = {
      cluster: join(directory, 'cluster.jsonl'),
      clusters: join(directory, 'clusters'),
      azure: join(directory, 'azure.jsonl'),
      subscriptionId: this.memory.subscriptionId,
    };
  }

  get begunAt(): number {
    return this.memory.begunAt;
  }

  /** Minimum time at which the world's clock resumes. */
  get time(): number {
    return this.memory.time;
  }

  get isFurnished(): boolean {
    return this.memory.isFurnished;
  }

  furnished(): void {
    this.memory = { ...this.memory, isFurnished: true };
    this.write();
  }

  /** Records a time that the world's clock has not passed yet. */
  reach(time: number): void {
    if (time <= this.memory.time) return;
    this.memory = { ...this.memory, time };
    this.write();
  }

  /** Written to a temporary file and renamed: a process that dies in between leaves the old one. */
  private write(): void {
    writeFileSync(`${this.path}.new`, `${JSON.stringify(this.memory)}\n`, { mode: OWNER_ONLY });
    renameSync(`${this.path}.new`, this.path);
  }
}

/** Opens what an earlier process left; a failure says how to begin another world. */
export function orStartAnew<T>(open: () => T): T {
  try {
    return open();
  } catch (error) {
    const { path } = toError(error) as NodeJS.ErrnoException;
    if (!(error instanceof UnusableStateError) && path === undefined) throw error;
    const problem = path === undefined ? messageOf(error) : `${path}: ${systemProblem(error)}`;
    throw new NodewrightError('WorldUnusable', { problem }, { cause: error });
  }
}

function read(path: string): Memory {
  let found: Partial<Memory>;
  try {
    found = (JSON.parse(readFileSync(path, 'utf8')) ?? {}) as Partial<Memory>;
  } catch (error) {
    throw new UnusableStateError(
      error instanceof SyntaxError ? `${path} is damaged` : `${path}: ${systemProblem(error)}`,
    );
  }
  const { nodewrightWorld: version, subscriptionId, begunAt, time, isFurnished } = found;
  if (version !== VERSION) {
    throw new UnusableStateError(
      `${path} was written by another version of nodewright: its format is ${version ?? 'unknown'}, and this version reads ${VERSION}`,
    );
  }
  if (typeof subscriptionId !== 'string' || typeof begunAt !== 'number' || typeof time !== 'number') {
    throw new UnusableStateError(`${path} is damaged`);
  }
  return { nodewrightWorld: version, subscriptionId, begunAt, time, isFurnished: isFurnished === true };
}
