/** `nodewright` as a user runs it: fresh processes of the bundle, with their time and the CPU time of all threads. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '..');
/** Writes the processor time of a process into a file when it ends. */
const METER = `import { writeFileSync } from 'node:fs';
process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  writeFileSync(process.env.BENCH_METER, String((user + system) / 1e6));
});`;

interface Spent {
  readonly seconds: number;
  readonly processor: number;
}

export class MeteredCommand {
  /** Where a bench may put files; gone after `remove`. */
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** Builds the bundle first. */
  static async build(): Promise<MeteredCommand> {
    await promisify(execFile)(process.execPath, [join(ROOT, 'scripts/build.mjs')]);
    const folder = await mkdtemp(join(tmpdir(), 'nodewright-bench-'));
    await writeFile(join(folder, 'meter.mjs'), METER);
    return new MeteredCommand(folder);
  }

  /** The least seconds and processor seconds of so many runs; `check` sees what each has printed. */
  async least(runs: number, words: readonly string[], check?: (printed: string) => void): Promise<readonly string[]> {
    const spent: Spent[] = [];
    for (let run = 0; run < runs; run++) spent.push(await this.run(words, check));
    const least = (of: (each: Spent) => number): string => Math.min(...spent.map(of)).toFixed(2);
    return [least(({ seconds }) => seconds), least(({ processor }) => processor)];
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }

  private async run(words: readonly string[], check: ((printed: string) => void) | undefined): Promise<Spent> {
    const meter = join(this.folder, 'spent');
    const program = ['--import', join(this.folder, 'meter.mjs'), join(ROOT, 'dist/nodewright.js')];
    const started = performance.now();
    const { stdout } = await promisify(execFile)(process.execPath, [...program, ...words], {
      env: { ...process.env, BENCH_METER: meter },
      maxBuffer: 2 ** 26,
    });
    const seconds = (performance.now() - started) / 1000;
    check?.(stdout);
    return { seconds, processor: Number(await readFile(meter, 'utf8')) };
  }
}
