/**
 * Outcomes between runs: what is known already for a build, extended after every spec, so that an interrupted run can
 * go on.
 */
import { createHash } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Outcome } from './runSpec.ts';

interface Stored {
  readonly build: string;
  readonly outcomes: readonly Outcome[];
}

export class Results {
  private readonly path: string;
  private readonly build: string;
  private readonly outcomes = new Map<string, Outcome>();
  private writing: Promise<void> = Promise.resolve();

  private constructor(path: string, build: string) {
    this.path = path;
    this.build = build;
  }

  static async open(directory: string, build: string, { resume }: { readonly resume: boolean }): Promise<Results> {
    const results = new Results(join(directory, 'results.json'), build);
    if (!resume) return results;
    const stored = await readStored(results.path);
    // What an older build did says nothing about this one.
    if (stored?.build === build) for (const outcome of stored.outcomes) results.outcomes.set(outcome.spec, outcome);
    return results;
  }

  get(spec: string): Outcome | undefined {
    return this.outcomes.get(spec);
  }

  all(): readonly Outcome[] {
    return [...this.outcomes.values()];
  }

  async add(outcome: Outcome): Promise<void> {
    this.outcomes.set(outcome.spec, outcome);
    this.writing = this.writing.then(() => this.write());
    await this.writing;
  }

  private async write(): Promise<void> {
    const stored: Stored = { build: this.build, outcomes: this.all() };
    await writeFile(`${this.path}.new`, `${JSON.stringify(stored, undefined, 2)}\n`);
    await rename(`${this.path}.new`, this.path);
  }
}

/** Our build (or the peer in its place) and the suite's: an outcome is a statement about both. */
export async function buildIdentity(
  root: string,
  suite: string,
  { peer }: { readonly peer: boolean },
): Promise<string> {
  const fingerprint = peer ? 'Karpenter' : await readFile(join(root, 'dist', '.fingerprint'), 'utf8');
  return createHash('sha256').update(fingerprint).update(suite).digest('hex').slice(0, 16);
}

async function readStored(path: string): Promise<Stored | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Stored;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
