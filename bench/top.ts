/**
 * How soon `nodewright top` shows the cluster: fresh processes of the bundle with the local API server, from the start
 * to the first screen with every node. The server runs in this process, so its time is included.
 */
import { spawn } from 'node:child_process';
import { CliCluster } from '../test/fixtures/local/cliCluster.ts';
import { numberFlag } from './flags.ts';
import { MeteredCommand } from './meteredCommand.ts';
import type { Bench } from './runner.ts';

const SIZES = [10, 1_000, 5_000];
const PODS_PER_NODE = 4;

export const bench: Bench = {
  name: 'top',
  description: 'how soon `nodewright top` shows the cluster [--runs 3]',
  async run(flags) {
    const runs = numberFlag(flags, 'runs', 3);
    const command = await MeteredCommand.build();
    const cluster = await CliCluster.start();
    try {
      await cluster.addPool('default');
      const rows: (string | number)[][] = [];
      let made = 0;
      for (const nodes of SIZES) {
        for (; made < nodes; made++) await addNode(cluster, made);
        const words = ['top', '--once', '--kubeconfig', cluster.kubeconfig];
        const least = await command.least(runs, words, (printed) => checkShown(printed, nodes));
        const frames: number[] = [];
        for (let run = 0; run < runs; run++) frames.push(await firstFrame(cluster.kubeconfig));
        rows.push([nodes, nodes * PODS_PER_NODE, Math.min(...frames).toFixed(2), 1, ...least]);
      }
      return {
        title: '`nodewright top`: from its start to the first screen, and to the end of `--once`',
        columns: ['nodes', 'pods', 'first screen, s', 'goal, s', 'once, s', 'once, processor s'],
        rows,
        notes: [`least of ${runs} fresh processes; processor time is that of the command`],
      };
    } finally {
      await cluster.stop();
      await command.remove();
    }
  },
};

function addNode(cluster: CliCluster, at: number): Promise<void> {
  const pods = Array.from({ length: PODS_PER_NODE }, (_, place) => ({ name: `p-${at}-${place}`, object: {} }));
  return cluster.addNode({ name: `node-${at}`, pool: 'default', pods });
}

/** Seconds until nodes are on the screen of a terminal. */
function firstFrame(kubeconfig: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const line = [process.execPath, 'dist/nodewright.js', 'top', '--kubeconfig', kubeconfig];
    const started = performance.now();
    const child = spawn('script', ['--quiet', '--flush', '--return', '--command', line.join(' '), '/dev/null']);
    let [output, seconds] = ['', Number.NaN];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (!Number.isNaN(seconds) || !output.includes('node-0')) return;
      seconds = (performance.now() - started) / 1000;
      child.stdin.write('q');
    });
    child.on('error', reject);
    child.on('close', () => (Number.isNaN(seconds) ? reject(new Error(output)) : resolve(seconds)));
  });
}

function checkShown(printed: string, nodes: number): void {
  const shown = printed.split('\n').filter((line) => line.startsWith('node-')).length;
  if (shown !== nodes) throw new Error(`top shows ${shown} nodes of ${nodes}`);
}
