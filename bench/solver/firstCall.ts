/**
 * How long the first answer of a fresh process takes: the least of several processes, as the peer is measured. Bundled
 * like the program, so that loading is not what is measured.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';

interface FirstAnswer {
  readonly millis: number;
  readonly cpuMillis: number;
}

export class FirstCalls {
  private readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async open(): Promise<FirstCalls> {
    const folder = await mkdtemp(join(tmpdir(), 'nodewright-bench-'));
    await build({
      entryPoints: [join(import.meta.dirname, 'firstCallChild.ts')],
      outfile: join(folder, 'child.mjs'),
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
      logLevel: 'error',
    });
    return new FirstCalls(folder);
  }

  async measure(runs: number, ...args: readonly string[]): Promise<FirstAnswer> {
    const answers: FirstAnswer[] = [];
    for (let run = 0; run < runs; run++) {
      const { stdout } = await promisify(execFile)(process.execPath, [join(this.folder, 'child.mjs'), ...args]);
      answers.push(JSON.parse(stdout) as FirstAnswer);
    }
    return {
      millis: Math.min(...answers.map(({ millis }) => millis)),
      cpuMillis: Math.min(...answers.map(({ cpuMillis }) => cpuMillis)),
    };
  }

  async close(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}
