/**
 * Whether what is planned is what runs, on a real control plane with the real scheduler: `npm run bench -- placement
 * [plain|joins|arrivals|priorities|spread|anti-affinity …] [--on|--off] [--pods=N]`.
 */
import { build } from '../scripts/build.mjs';
import { placementRun } from './placement/placementRun.ts';
import { VARIANTS, type Variant } from './placement/story.ts';
import type { Bench } from './runner.ts';

const round = (value: number, digits: number): number => Number(value.toFixed(digits));

export const bench: Bench = {
  name: 'placement',
  description:
    '1,000 pods of forty workloads from nothing on a real control plane: paid ÷ bound with and without hints',
  async run(flags) {
    await build();
    const asked = VARIANTS.filter((variant) => flags.includes(variant));
    const variants: readonly Variant[] = asked.length > 0 ? asked : ['plain'];
    const modes = flags.includes('--on')
      ? (['auto'] as const)
      : flags.includes('--off')
        ? (['off'] as const)
        : (['auto', 'off'] as const);
    const count = flags.find((flag) => flag.startsWith('--pods='))?.slice('--pods='.length);
    const rows: (string | number)[][] = [];
    for (const variant of variants) {
      for (const mode of modes) {
        const run = await placementRun(variant, mode, count === undefined ? undefined : Number(count));
        const { paid, planned, seconds, ...counts } = run;
        rows.push([
          variant,
          mode,
          counts.pods,
          counts.nodes,
          counts.rounds,
          round(planned, 3),
          round(paid, 3),
          counts.waiting,
          round(seconds, 0),
          counts.written,
          counts.followed,
          counts.lost,
        ]);
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
      ],
    };
  },
};
