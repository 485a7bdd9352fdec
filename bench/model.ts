/**
 * `npm run bench -- model [--nodes=5000] [--what-ifs=1000]`: cost of a pass with a carried model, in a full cluster and
 * in one of a tenth of the nodes; time of what-ifs; memory of the model.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { BusyCluster } from './model/busyCluster.ts';
import type { Bench } from './runner.ts';
import { median } from './solver/measure.ts';

const WARM_UP = 60;
const PASSES = 60;

export const bench: Bench = {
  name: 'model',
  description: 'a pass, and what-ifs, with a model that is carried forward [--nodes=5000] [--what-ifs=1000]',
  async run(flags) {
    const nodes = flag(flags, 'nodes', 5000);
    const whatIfs = flag(flags, 'what-ifs', 1000);
    const small = measurePasses(nodes / 10, whatIfs);
    const large = measurePasses(nodes, whatIfs);
    const bytes = await modelBytes(nodes);
    const row = (count: number, measured: typeof small): (string | number)[] => [
      count,
      count * 20,
      measured.pass.toFixed(1),
      measured.least.toFixed(1),
      measured.first.toFixed(0),
      ...[measured.firstWhatIfs, measured.whatIfs].flatMap(({ wall, cpu }) => [
        (wall / 1000).toFixed(2),
        (cpu / 1000).toFixed(2),
      ]),
    ];
    return {
      title: 'A carried model: ten new pods from watch events to a plan, and what-ifs',
      columns: [
        'nodes',
        'running pods',
        'pass cpu ms',
        'least',
        'first pass ms',
        `first ${whatIfs} what-ifs, s`,
        'cpu s',
        'again, s',
        'cpu s',
      ],
      rows: [row(nodes / 10, small), row(nodes, large)],
      notes: [
        `pass: five pods and a node change, ten pods wait; processor time, median of ${PASSES} after ${WARM_UP}`,
        `ratio of the medians: ${(large.pass / small.pass).toFixed(2)}; the target is 15 ms, and 1 s for 1,000 what-ifs`,
        `the model of ${nodes} nodes adds ${(bytes / 2 ** 20).toFixed(0)} MiB to the heap; the target is 250`,
      ],
    };
  },
};

function flag(flags: readonly string[], name: string, fallback: number): number {
  const text = flags.find((each) => each.startsWith(`--${name}=`));
  return text === undefined ? fallback : Number(text.slice(name.length + 3));
}

function measurePasses(nodes: number, whatIfs: number) {
  const busy = new BusyCluster(nodes);
  const first = timed(() => pass(busy)).cpu;
  for (let at = 0; at < WARM_UP; at++) pass(busy);
  const passes = Array.from({ length: PASSES }, () => timed(() => pass(busy)).cpu);
  const model = busy.model();
  const askAll = (): void => {
    for (let at = 0; at < whatIfs; at++) busy.without(model, at % nodes);
  };
  const firstWhatIfs = timed(askAll);
  return { first, pass: median(passes), least: Math.min(...passes), firstWhatIfs, whatIfs: timed(askAll) };
}

function pass(busy: BusyCluster): void {
  busy.change();
  busy.plan();
}

/** Milliseconds that passed, and processor time of all threads: V8 compiles and collects garbage in threads of its own. */
function timed(work: () => void): { readonly wall: number; readonly cpu: number } {
  const before = process.cpuUsage();
  const started = performance.now();
  work();
  const wall = performance.now() - started;
  const { user, system } = process.cpuUsage(before);
  return { wall, cpu: (user + system) / 1000 };
}

async function modelBytes(nodes: number): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'nodewright-bench-'));
  try {
    const outfile = join(folder, 'child.mjs');
    await build({
      entryPoints: [join(import.meta.dirname, 'model', 'memoryChild.ts')],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
      logLevel: 'warning',
    });
    const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', outfile, String(nodes)]);
    return (JSON.parse(stdout) as { bytes: number }).bytes;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
