import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../src/clock/seededRandom.ts';
import { ProvingGround } from '../fixtures/explain/provingGround.ts';
import { drawFrom, fillAtRandom } from '../fixtures/explain/randomGround.ts';
import { proveNodes, provePods, type Verdict } from './proof.ts';

/** More of them in a hunt. */
const CLUSTERS = Number(process.env['NODEWRIGHT_PROPERTY_RUNS'] ?? 4);
const SEED = process.env['NODEWRIGHT_PROPERTY_SEED'] ?? 'proof';
const SETTLED = 8 * 60_000;

async function proveCluster(seed: string): Promise<readonly Verdict[]> {
  const ground = await ProvingGround.start(seed);
  try {
    await fillAtRandom(ground.kube, drawFrom(new SeededRandom(`fill ${seed}`)));
    await ground.advance(SETTLED);
    return [...(await provePods(ground)), ...(await proveNodes(ground))];
  } finally {
    await ground.stop();
  }
}

describe('explain, in random clusters with a running controller', () => {
  it(
    'names a constraint of every pod that waits and every node that is kept, and the first fix changes the outcome',
    { timeout: 300_000 + CLUSTERS * 60_000 },
    async () => {
      const verdicts: Verdict[] = [];
      for (let at = 0; at < CLUSTERS; at++) verdicts.push(...(await proveCluster(`${SEED}-${at}`)));
      expect(verdicts.filter(({ constraint, sentence }) => constraint === '' || sentence === '')).toEqual([]);
      expect(verdicts.filter(({ outcome }) => outcome === 'wrong')).toEqual([]);
      expect(verdicts.filter(({ outcome }) => outcome === 'flipped').length).toBeGreaterThan(CLUSTERS);
    },
  );
});
