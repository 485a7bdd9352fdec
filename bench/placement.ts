/**
 * Whether the plan is what runs, on a real control plane with the real scheduler: `npm run bench -- placement
 * [plain|joins|arrivals|priorities|spread|anti-affinity …] [--on|--off] [--peer] [--pods=N]`. With `--peer`, also runs
 * Karpenter for comparison.
 */
import { build } from '../scripts/build.mjs';
import { builtController } from './peers/builtPeer.ts';
import { placementRun, type Buyer, type PlacementResult } from './placement/placementRun.ts';
import { VARIANTS, type Variant } from './placement/story.ts';
import type { Bench } from './runner.ts';

export const bench: Bench = {
  name: 'placement',
  description:
    '1,000 pods of forty workloads from nothing on a real control plane: paid ÷ bound with and without hints',
  async run(flags) {
    await build();
    const asked = VARIANTS.filter((variant) => flags.includes(variant));
    const variants: readonly Variant[] = asked.length > 0 ? asked : ['plain'];
    const { buyers, missing } = await buyersOf(flags);
    const count = flags.find((flag) => flag.startsWith('--pods='))?.slice('--pods='.length);
    const rows: (string | number)[][] = [];
    for (const variant of variants) {
      for (const buyer of buyers) {
        rows.push(rowOf(buyer, await placementRun(variant, buyer, count === undefined ? undefined : Number(count))));
      }
    }
    return {
      title: 'What runs, against what was planned',
      columns: [
        '',
        'hints',
        'pods',
        'nodes',
        'rounds',
        'planned',
        'paid',
        'waiting',
        's',
        'written',
        'followed',
        'lost',
      ],
      rows,
      notes: [
        'planned, paid: over the fractional lower bound, after the first plan and when all was still',
        'goal with hints: paid at most 1.02, one round, none waiting',
        ...missing,
      ],
    };
  },
};

async function buyersOf(flags: readonly string[]): Promise<{
  readonly buyers: readonly Buyer[];
  readonly missing: readonly string[];
}> {
  const own: readonly Buyer[] = flags.includes('--on') ? ['auto'] : flags.includes('--off') ? ['off'] : ['auto', 'off'];
  if (!flags.includes('--peer')) return { buyers: own, missing: [] };
  const built = await builtController((line) => console.error(line));
  if (typeof built === 'string') return { buyers: own, missing: [built] };
  return { buyers: [...own, { karpenter: built.program }], missing: [] };
}

function rowOf(buyer: Buyer, run: PlacementResult): (string | number)[] {
  const { variant, pods, nodes, rounds, planned, paid, waiting, seconds, hints } = run;
  return [
    variant,
    typeof buyer === 'string' ? buyer : 'Karpenter',
    pods,
    nodes,
    rounds,
    planned === undefined ? '-' : planned.toFixed(3),
    paid.toFixed(3),
    waiting,
    seconds.toFixed(0),
    ...(hints ? [hints.written, hints.followed, hints.lost] : ['-', '-', '-']),
  ];
}
