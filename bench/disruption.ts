/**
 * Disruption in seven stories: the final and cumulative cost of the cluster relative to the lower bound, the time
 * needed, and the number of moved pods. On a real control plane with the built program, or with `--simulated` on a
 * virtual clock.
 */
import { builtController } from './peers/builtPeer.ts';
import { missed } from './disruption/judge.ts';
import { month } from './disruption/month.ts';
import { passes } from './disruption/passes.ts';
import type { StartPlane } from './disruption/plane.ts';
import { realPlane } from './disruption/realPlane.ts';
import { simulatedPlane } from './disruption/simulatedPlane.ts';
import { storiesOf, type Story } from './disruption/stories.ts';
import { tell } from './disruption/tell.ts';
import type { Bench, BenchTable } from './runner.ts';

interface Play {
  readonly story: Story;
  /** Whose program runs. */
  readonly by: string;
  readonly start: StartPlane;
}

const SEED = 'leave';
const round = (value: number, digits = 2): number => Number(value.toFixed(digits));

/** The number of `--name=number`. */
function numberOf(flags: readonly string[], name: string, otherwise: number): number {
  const start = `--${name}=`;
  return Number(flags.find((flag) => flag.startsWith(start))?.slice(start.length) ?? otherwise);
}

/** `--seeds=3`: the stories with the draws of three seeds. */
function seedsOf(flags: readonly string[]): readonly string[] {
  const count = numberOf(flags, 'seeds', 1);
  return [SEED, ...Array.from({ length: count - 1 }, (_, at) => `seed ${at + 2}`)];
}

export const bench: Bench = {
  name: 'disruption',
  description: `${storiesOf(SEED)
    .map(({ name }) => name)
    .join(
      ', ',
    )}: on a real control plane [--peer]; --simulated [--no-hints] [--seeds=n] [--commands]; --passes [--large]; month [--nodes=n] [--days=n] [--step=hours]`,
  async run(flags): Promise<BenchTable> {
    if (flags.includes('--passes'))
      return passes(flags.includes('--large') ? [100, 1_000, 2_000, 5_000] : [100, 1_000, 2_000]);
    if (flags.includes('month')) {
      return month({
        nodes: numberOf(flags, 'nodes', 1_000),
        days: numberOf(flags, 'days', 30),
        step: numberOf(flags, 'step', 1),
      });
    }
    const names = flags.filter((flag) => !flag.startsWith('--'));
    const simulated = flags.includes('--simulated');
    const rows: (readonly (string | number)[])[] = [];
    const notes = new Map<string, string>();
    const peer = flags.includes('--peer') && !simulated ? await builtController(console.error) : undefined;
    if (typeof peer === 'string') notes.set('peer', peer);
    for (const seed of seedsOf(flags)) {
      const start: StartPlane = simulated
        ? () => simulatedPlane({ seed, hints: !flags.includes('--no-hints') })
        : () => realPlane();
      const plays = storiesOf(seed)
        .filter(({ name }) => names.length === 0 || names.includes(name))
        .flatMap((story): readonly Play[] => {
          notes.set(story.name, `${story.name}: ${story.title}`);
          const own = { story, by: 'nodewright', start };
          if (peer === undefined || typeof peer === 'string') return [own];
          return [own, { story, by: 'Karpenter', start: () => realPlane(peer.program) }];
        });
      for (const { story, by, start: begin } of plays) {
        const { outcome, nodes, commands } = await tell(story, begin);
        if (flags.includes('--commands')) console.log([story.name, ...commands].join('\n  '));
        const row = [
          story.name,
          by,
          round(outcome.cost, 3),
          round(outcome.settled, 0),
          round(outcome.billOverTime, 3),
          outcome.evictions,
          outcome.young,
          outcome.launches,
          outcome.shortLives,
          round(outcome.pendingPodSeconds, 0),
          nodes,
          round(outcome.mostLeaving),
          outcome.violations,
          round(outcome.cpu, 1),
          missed(outcome, story.goals) || 'all met',
        ];
        if (flags.includes('--commands')) console.log(row.join('  '));
        rows.push(row);
      }
    }
    return {
      title: `disruption on a ${simulated ? 'simulated' : 'real'} control plane`,
      columns: [
        'story',
        'by',
        'cost / bound',
        'settled s',
        'bill over time / bound',
        'evictions',
        'of young pods',
        'launches',
        'lives < 5 min',
        'pending pod s',
        'nodes',
        'most leaving',
        'violations',
        'cpu s',
        'goals',
      ],
      rows,
      notes: [...notes.values()],
    };
  },
};
