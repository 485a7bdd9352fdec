/**
 * Disruption as it ships, on a real control plane with instant nodes: what the cluster costs in the end against the lower
 * bound of what is left, how long it takes, and how many pods have to move for it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from '../scripts/build.mjs';
import type { Pod } from '../src/api/kinds.ts';
import type { NodePool } from '../src/api/kinds/nodePool.ts';
import { defaultCatalogue } from '../src/kwok/defaultCatalogue.ts';
import { solve } from '../src/solver/solve.ts';
import { eventually } from '../test/controlplane/eventually.ts';
import { KwokCluster, type Program } from '../test/e2e/kwok/kwokCluster.ts';
import { Observer } from './disruption/observer.ts';
import { STORIES, type Story, type Workload } from './disruption/stories.ts';
import type { Bench, BenchTable } from './runner.ts';

const QUIET = 60_000;
const LONGEST = 12 * 60_000;
const round = (value: number, digits = 2): number => Number(value.toFixed(digits));

/** No plan for these pods costs less per hour. */
function boundOf(pool: NodePool, workloads: readonly Workload[]): number {
  const pods = workloads.flatMap(({ name, replicas, spec }) =>
    Array.from({ length: replicas }, (_, at): Pod => ({
      metadata: { name: `${name}-${at}`, namespace: 'default' },
      spec,
    })),
  );
  const offer = { pool, instanceTypes: defaultCatalogue(), used: {} };
  return solve({ pods, pools: [offer], nodes: [], daemons: [] }).lowerBound.pricePerHour;
}

/** A cluster that does not come to rest by itself says what it was about. */
async function calm(observer: Observer, program: Program): Promise<void> {
  try {
    await eventually('nothing changes', () => (observer.quietFor > 30_000 ? true : undefined), 180_000);
  } catch (error) {
    const commands = program.logged('disrupting node').map((line) => {
      const { time, reason, 'disrupted-node-count': go, 'replacement-node-count': come } = line;
      return [time, reason, go, '->', come, 'pods', line['pod-count'], 'saves', line['savings-per-hour']].join(' ');
    });
    throw new Error([String(error), ...commands].join('\n'), { cause: error });
  }
}

async function tell(story: Story): Promise<readonly (string | number)[]> {
  const cluster = await KwokCluster.start();
  const observer = new Observer();
  try {
    const { disruption, requirements = [] } = story;
    const pool = await cluster.pool(
      'default',
      { disruption: { consolidationPolicy: 'WhenEmptyOrUnderutilized', ...disruption } },
      { requirements },
    );
    await observer.start(cluster.kube);
    const program: Program = await cluster.run();
    for (const { name, replicas, spec } of story.workloads) await cluster.deployment(name, replicas, spec);
    const wanted = story.workloads.reduce((sum, { replicas }) => sum + replicas, 0);
    await eventually('all pods run', () => (observer.running === wanted ? true : undefined), 300_000);
    await calm(observer, program);
    const nodesBefore = observer.nodeCount;
    observer.reset();
    const [began, cpu] = [Date.now(), await program.metric('process_cpu_seconds_total')];
    const left = await story.begin(cluster, story.workloads);
    const bound = boundOf(pool, left);
    const quiet = story.quiet ?? QUIET;
    while (observer.quietFor < quiet && Date.now() - began < LONGEST) await sleep(1_000);
    const settled = (observer.lastChange - began) / 1000;
    // The bill until it settled, or for a while when nothing had to be done.
    const hours = (Date.now() - began) / 3_600_000;
    return [
      story.name,
      round(observer.bill / bound, 3),
      round(settled, 0),
      round(observer.spent / hours / bound, 3),
      observer.evictions,
      observer.youngEvictions,
      observer.launches,
      observer.shortLives,
      round(observer.pendingPodSeconds, 0),
      `${nodesBefore} > ${observer.nodeCount}`,
      round((await program.metric('process_cpu_seconds_total')) - cpu, 1),
    ];
  } finally {
    observer.end();
    await cluster.stop();
  }
}

export const bench: Bench = {
  name: 'disruption',
  description: `clusters that shrink, drift and rest on a real control plane: ${STORIES.map(({ name }) => name).join(', ')}`,
  async run(flags): Promise<BenchTable> {
    await build();
    const chosen = STORIES.filter(({ name }) => flags.length === 0 || flags.includes(name));
    const rows: (readonly (string | number)[])[] = [];
    for (const story of chosen) rows.push(await tell(story));
    return {
      title: 'disruption on a real control plane',
      columns: [
        'story',
        'cost / bound',
        'settled s',
        'bill over time / bound',
        'evictions',
        'of young pods',
        'launches',
        'lives < 5 min',
        'pending pod s',
        'nodes',
        'cpu s',
      ],
      rows,
      notes: chosen.map(({ name, title }) => `${name}: ${title}`),
    };
  },
};
