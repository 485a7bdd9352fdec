import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgement } from '../fixtures/solver/judgement.ts';
import { anyProblem } from '../fixtures/solver/randomCluster.ts';

/** The same problems every time; NODEWRIGHT_HUNT=<count> looks at that many others, from a new seed each time. */
const hunt = Number(process.env['NODEWRIGHT_HUNT'] ?? 0);
const SHARDS = 5;
const shards = Array.from({ length: SHARDS }, (_, at) =>
  hunt > 0
    ? { numRuns: Math.ceil(hunt / SHARDS), seed: (Date.now() + at) | 0 }
    : { numRuns: 1000 / SHARDS, seed: 4711 + at },
);

describe('plans for the objects of a cluster', () => {
  it.each(shards)(
    'hold on the nodes as they are launched, and are no worse than first-fit: $numRuns from seed $seed',
    { timeout: hunt > 0 ? 0 : 600_000 },
    (shard) => {
      const found = fc.sample(anyProblem, shard).flatMap((problem, at) => {
        const findings = judgement(problem);
        return findings.length === 0 ? [] : [{ at, findings }];
      });
      expect(found).toEqual([]);
    },
  );
});
