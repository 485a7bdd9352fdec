/** The proof of `plan`: changes of random clusters, planned, then made in virtual time, and compared node for node. */
import { isRight, proveChange } from '../test/plan/proof.ts';
import { numberFlag, textFlag } from './flags.ts';
import type { Bench } from './runner.ts';

export const bench: Bench = {
  name: 'plan',
  description: 'changes of clusters, planned and then made [--changes 100] [--from 0] [--seed name]',
  async run(flags) {
    const [from, changes] = [numberFlag(flags, 'from', 0), numberFlag(flags, 'changes', 100)];
    const seed = textFlag(flags, 'seed', 'plan');
    let right = 0;
    let moved = 0;
    for (let at = from; at < from + changes; at++) {
      const verdict = await proveChange(`${seed}-${at}`);
      const { removed, added } = verdict.happened;
      if (removed.length + added.length > 0) moved += 1;
      if (isRight(verdict)) right += 1;
      else console.log(`${seed}-${at}: ${JSON.stringify(verdict)}`);
    }
    return {
      title: `${changes} changes: nodes that drift, go and come, pods without a place and dollars per hour`,
      columns: ['as planned', 'changes', 'of them with other nodes than before'],
      rows: [[right, changes, moved]],
    };
  },
};
