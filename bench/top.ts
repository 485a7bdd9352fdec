/**
 * How soon `nodewright top` shows the cluster: fresh processes of the bundle against the local API server, from the start to
 * the first screen with every node. The server runs in this process, so its share of the time counts too.
 */
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
        rows.push([nodes, nodes * PODS_PER_NODE, ...least, 1]);
      }
      return {
        title: '`nodewright top`: from its start to the first screen with every node',
        columns: ['nodes', 'pods', 'seconds', 'processor seconds', 'goal'],
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

function checkShown(printed: string, nodes: number): void {
  const shown = printed.split('\n').filter((line) => line.startsWith('node-')).length;
  if (shown !== nodes) throw new Error(`top shows ${shown} nodes of ${nodes}`);
}
