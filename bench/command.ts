/**
 * `nodewright plan` as a whole command, as a user runs it: start-up, reading, catalogue, solving and printing. The least
 * of several fresh processes of the bundle, with the processor time of all their threads.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { printYaml } from '../src/api/yaml/printYaml.ts';
import { numberFlag } from './flags.ts';
import type { Bench } from './runner.ts';
import { upstreamPods } from './workloads.ts';

const ROOT = join(import.meta.dirname, '..');
/** Seconds of a whole command that are to be kept on a quiet machine. */
const GOALS: Readonly<Record<number, number>> = { 1000: 0.6, 5000: 1.5 };
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

export const bench: Bench = {
  name: 'command',
  description: '`nodewright plan` as a whole command, from JSON and YAML [--runs 5]',
  async run(flags) {
    const runs = numberFlag(flags, 'runs', 5);
    await promisify(execFile)(process.execPath, [join(ROOT, 'scripts/build.mjs')]);
    const folder = await mkdtemp(join(tmpdir(), 'nodewright-bench-'));
    try {
      await writeFile(join(folder, 'meter.mjs'), METER);
      const rows: (string | number)[][] = [];
      for (const [count, goal] of Object.entries(GOALS)) {
        const pods = upstreamPods(Number(count));
        const texts = {
          json: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: pods }, undefined, 2),
          yaml: pods.map((pod) => printYaml(pod)).join('---\n'),
        };
        for (const [format, text] of Object.entries(texts)) {
          const file = join(folder, `pods.${format}`);
          await writeFile(file, text);
          const spent: Spent[] = [];
          for (let run = 0; run < runs; run++) spent.push(await plan(folder, file));
          const least = (of: (each: Spent) => number): string => Math.min(...spent.map(of)).toFixed(2);
          rows.push([count, format, least(({ seconds }) => seconds), least(({ processor }) => processor), goal]);
        }
      }
      return {
        title: '`nodewright plan` on pods as diverse as those of Karpenter’s own benchmark',
        columns: ['pods', 'format', 'seconds', 'processor seconds', 'goal'],
        rows,
        notes: [`least of ${runs} fresh processes; processor time is that of all threads`],
      };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

async function plan(folder: string, file: string): Promise<Spent> {
  const meter = join(folder, 'spent');
  const started = performance.now();
  await promisify(execFile)(
    process.execPath,
    ['--import', join(folder, 'meter.mjs'), join(ROOT, 'dist/nodewright.js'), 'plan', '-f', file],
    { env: { ...process.env, BENCH_METER: meter } },
  );
  return { seconds: (performance.now() - started) / 1000, processor: Number(await readFile(meter, 'utf8')) };
}
