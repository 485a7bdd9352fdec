/** Random tight plans: with hints, what the solver calls placeable is placed in one round of buying. */
import { expect, it } from 'vitest';
import { createEngine, type EngineOptions } from '../../src/cli/compose/engine.ts';
import { SeededRandom } from '../../src/clock/seededRandom.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { memoryInstanceType } from '../fixtures/engine/memoryCloud.ts';
import { Workbench } from '../fixtures/engine/workbench.ts';

/** More of them in a hunt. */
const CLUSTERS = Number(process.env['NODEWRIGHT_PROPERTY_RUNS'] ?? 20);
const TYPES = [memoryInstanceType('m4', 4, 0.19), memoryInstanceType('m8', 8, 0.38)];

interface Outcome {
  readonly rounds: number;
  readonly unplaced: number;
  readonly waiting: number;
  /** Of the nodes that are there in the end, in dollars per hour. */
  readonly price: number;
}

type Telling = Pick<EngineOptions, 'placementHints' | 'keepsSlack'>;

async function live(seed: number, telling: Telling): Promise<Outcome> {
  const random = new SeededRandom(`one round ${seed}`);
  const between = (low: number, high: number): number => low + Math.floor(random.next() * (high - low + 1));
  let ledger: Ledger | undefined;
  const bench = await Workbench.start({
    engine: (ports) => {
      ledger = new Ledger({ now: () => ports.clock.now() });
      return createEngine({ ...ports, ledger, batchIdle: 1_000, batchMax: 10_000, ...telling });
    },
    pace: { boot: between(1_000, 20_000), ready: between(100, 5_000), podStart: 100 },
  });
  try {
    bench.cloud.types = TYPES;
    await bench.createPool('default', {
      disruption: { consolidateAfter: 'Never', consolidationPolicy: 'WhenEmpty', budgets: [{ nodes: '10%' }] },
    });
    await bench.advance(5_000);
    for (let at = between(4, 16); at > 0; at--) {
      const requests = { cpu: `${between(2, 30) * 100}m`, memory: `${between(1, 40) * 256}Mi` };
      await bench.createPod(`p${at}`, { containers: [{ name: 'main', image: 'app', resources: { requests } }] });
    }
    await bench.advance(70_000);
    const plans = (ledger?.entries() ?? []).flatMap((entry) => (entry.kind === 'plan' ? [entry] : []));
    const waiting = (await bench.pods()).filter(({ spec }) => !spec?.nodeName).length;
    return {
      rounds: plans.filter(({ plannedNodes }) => plannedNodes > 0).length,
      unplaced: plans[0]?.unplaced ?? 0,
      waiting,
      price: plans.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0),
    };
  } finally {
    await bench.close();
  }
}

it('needs one round of buying in every cluster', { timeout: 30_000 + CLUSTERS * 5_000 }, async () => {
  const outcomes: Record<number, Outcome> = {};
  const telling = { placementHints: { schedulers: ['default-scheduler'] } };
  for (let seed = 0; seed < CLUSTERS; seed++) outcomes[seed] = await live(seed, telling);
  const failures = Object.entries(outcomes).filter(
    ([, { rounds, waiting, unplaced }]) => rounds > 1 || waiting > unplaced,
  );
  expect(Object.fromEntries(failures)).toEqual({});
});

it('needs fewer rounds with spare nodes where the scheduler is not told the plan', { timeout: 300_000 }, async () => {
  const total = async (telling: Telling): Promise<Omit<Outcome, 'unplaced'>> => {
    let [rounds, waiting, price] = [0, 0, 0];
    for (let seed = 0; seed < 8; seed++) {
      const outcome = await live(seed, telling);
      rounds += outcome.rounds;
      waiting += outcome.waiting - outcome.unplaced;
      price += outcome.price;
    }
    return { rounds, waiting, price };
  };
  const without = await total({});
  const spared = await total({ keepsSlack: true });
  expect(spared.waiting).toBe(0);
  expect(spared.rounds).toBeLessThan(without.rounds);
  expect(spared.price).toBeLessThan(without.price * 1.1);
});
