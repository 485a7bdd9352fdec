/**
 * How soon `nodewright top` shows the cluster: fresh processes of the bundle against the local API server, from the start to
 * the first screen with every node. The server runs in this process, so its share of the time counts too.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CliCluster } from '../test/fixtures/local/cliCluster.ts';
import { numberFlag } from './flags.ts';
import type { Bench } from './runner.ts';

const ROOT = join(import.meta.dirname, '..');
const SIZES = [10, 1_000, 5_000];
const PODS_PER_NODE = 4;
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
  name: 'top',
  description: 'how soon `nodewright top` shows the cluster [--runs 3]',
  async run(flags) {
    const runs = numberFlag(flags, 'runs', 3);
    await promisify(execFile)(process.execPath, [join(ROOT, 'scripts/build.mjs')]);
    const folder = await mkdtemp(join(tmpdir(), 'nodewright-bench-'));
    const cluster = await CliCluster.start();
    try {
      await writeFile(join(folder, 'meter.mjs'), METER);
      await cluster.addPool('default');
      const rows: (string | number)[][] = [];
      let made = 0;
      for (const nodes of SIZES) {
        for (; made < nodes; made++) await addNode(cluster, made);
        const spent: Spent[] = [];
        for (let run = 0; run < runs; run++) spent.push(await top(folder, cluster, nodes));
        const least = (of: (each: Spent) => number): string => Math.min(...spent.map(of)).toFixed(2);
        rows.push([
          nodes,
          nodes * PODS_PER_NODE,
          least(({ seconds }) => seconds),
          least(({ processor }) => processor),
          1,
        ]);
      }
      return {
        title: '`nodewright top`: from its start to the first screen with every node',
        columns: ['nodes', 'pods', 'seconds', 'processor seconds', 'goal'],
        rows,
        notes: [`least of ${runs} fresh processes; processor time is that of the command`],
      };
    } finally {
      await cluster.stop();
      await rm(folder, { recursive: true, force: true });
    }
  },
};

function addNode(cluster: CliCluster, at: number): Promise<void> {
  const pods = Array.from({ length: PODS_PER_NODE }, (_, place) => ({ name: `p-${at}-${place}`, object: {} }));
  return cluster.addNode({ name: `node-${at}`, pool: 'default', pods });
}

async function top(folder: string, cluster: CliCluster, nodes: number): Promise<Spent> {
  const meter = join(folder, 'spent');
  const words = ['--import', join(folder, 'meter.mjs'), join(ROOT, 'dist/nodewright.js'), 'top', '--once'];
  const started = performance.now();
  const { stdout } = await promisify(execFile)(process.execPath, [...words, '--kubeconfig', cluster.kubeconfig], {
    env: { ...process.env, BENCH_METER: meter },
    maxBuffer: 2 ** 26,
  });
  const seconds = (performance.now() - started) / 1000;
  const shown = stdout.split('\n').filter((line) => line.startsWith('node-')).length;
  if (shown !== nodes) throw new Error(`top shows ${shown} nodes of ${nodes}`);
  return { seconds, processor: Number(await readFile(meter, 'utf8')) };
}
