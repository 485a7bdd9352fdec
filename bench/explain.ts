/** The proof of `explain` in as many random clusters as are asked for; a test has the first of them. */
import { proveCluster, type Verdict } from '../test/explain/proof.ts';
import { numberFlag, textFlag } from './flags.ts';
import type { Bench } from './runner.ts';

const CLUSTERS = 200;

const isRight = ({ outcome, constraint, sentence }: Verdict): boolean =>
  ['flipped', 'waits', 'overtaken'].includes(outcome) && constraint !== '' && sentence !== '';

export const bench: Bench = {
  name: 'explain',
  description: 'random clusters in which the first fix of explain is applied [--clusters 200] [--from 0] [--seed name]',
  async run(flags) {
    const [from, clusters] = [numberFlag(flags, 'from', 0), numberFlag(flags, 'clusters', CLUSTERS)];
    const seed = textFlag(flags, 'seed', 'proof');
    const counts = new Map<string, number>();
    const start = process.cpuUsage();
    for (let at = from; at < from + clusters; at++) {
      for (const verdict of await proveCluster(`${seed}-${at}`)) {
        const key = `${verdict.subject.split(' ')[0]} ${verdict.outcome}`;
        counts.set(key, (counts.get(key) ?? 0) + 1);
        if (!isRight(verdict)) console.log(`${seed}-${at}: ${JSON.stringify(verdict)}`);
      }
    }
    const { user, system } = process.cpuUsage(start);
    return {
      title: `${clusters} random clusters, ${((user + system) / 1e6).toFixed(0)} s of CPU`,
      columns: ['outcome', 'verdicts'],
      rows: [...counts].sort(([one], [other]) => (one < other ? -1 : 1)),
      notes: [
        'flipped: the first fix changed the outcome; waits: nothing had to change, and time alone did it',
        'overtaken: a node was to go, and then got a pod that did not exist when that was said',
      ],
    };
  },
};
