import { describe, expect, it } from 'vitest';
import { proveCluster, type Verdict } from './proof.ts';

/** The first of those that `npm run bench -- explain` looks at. */
const CLUSTERS = 12;

describe('explain, in random clusters with a running controller', () => {
  it(
    'names a constraint of every pod that waits and every node that is kept, and the first fix changes the outcome',
    { timeout: 1_800_000 },
    async () => {
      const verdicts: Verdict[] = [];
      for (let at = 0; at < CLUSTERS; at++) verdicts.push(...(await proveCluster(`proof-${at}`)));
      expect(verdicts.filter(({ constraint, sentence }) => constraint === '' || sentence === '')).toEqual([]);
      expect(verdicts.filter(({ outcome }) => outcome !== 'flipped' && outcome !== 'waits')).toEqual([]);
      expect(verdicts.filter(({ outcome }) => outcome === 'flipped').length).toBeGreaterThan(3 * CLUSTERS);
    },
  );
});
