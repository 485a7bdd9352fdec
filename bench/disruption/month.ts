/** A month of a large simulated cluster: its cost relative to the lower bound, and the effort. */
import { Annotations, Labels } from '../../src/api/labels.ts';
import { defaultCatalogue } from '../../src/kwok/defaultCatalogue.ts';
import {
  paperWeeks,
  type WeeksOutcome,
  type WeeksPool,
  type WeeksWorkload,
} from '../../test/fixtures/disruption/paperWeeks.ts';
import type { BenchTable } from '../runner.ts';
import { storyPool } from './plane.ts';
import { mixedWorkloads } from './stories.ts';

const SEED = 'month';
/** Pods of the story's mix that a node of the pool holds when it is full. */
const PODS_PER_NODE = 9.5;
const SIZES = 95;
const GOAL = 1.08;

/** Pods of many sizes, in each of two pools; those of a few workloads must not be disturbed. */
function workloadsOf(seed: string, nodes: number): readonly WeeksWorkload[] {
  const each = Math.max(1, Math.round((nodes * PODS_PER_NODE) / SIZES));
  return mixedWorkloads(seed, SIZES, each).map(({ name, replicas, spec }, at) => ({
    name,
    replicas,
    spec,
    ...(at % 50 === 49 && { annotations: { [Annotations.doNotDisrupt]: 'true' } }),
  }));
}

function poolOf(capacityType: 'spot' | 'on-demand', nodes: number): WeeksPool {
  const requirement = { key: Labels.capacityType, operator: 'In' as const, values: [capacityType] };
  const { spec } = storyPool({ budgets: [{ nodes: '20%' }] }, [requirement]);
  return { name: capacityType, spec, workloads: workloadsOf(`${SEED} ${capacityType}`, nodes / 2) };
}

export interface MonthSpec {
  readonly nodes: number;
  readonly days: number;
  /** Hours between two changes of demand. */
  readonly step: number;
}

export function month({ nodes, days, step }: MonthSpec): BenchTable {
  const since = process.cpuUsage();
  const outcome = paperWeeks({
    seed: SEED,
    days,
    step,
    instanceTypes: defaultCatalogue(),
    pools: [poolOf('on-demand', nodes), poolOf('spot', nodes)],
    spotLoss: 0.002,
    // A month takes an hour or more.
    onDay: (day, soFar) =>
      console.error(
        `day ${day}: ${rowsOf(soFar)
          .map((row) => row.join(' '))
          .join(', ')}`,
      ),
  });
  const { user, system } = process.cpuUsage(since);
  return {
    title: `${days} days of up to ${outcome.mostNodes} nodes: daily waves, spot, an image release each week`,
    columns: ['measure', 'value'],
    rows: [...rowsOf(outcome), ['cpu s', Math.round((user + system) / 1e6)]],
    notes: [
      'on paper: the model and the methods that ship, pods go where plans have them, nodes are there at once',
      `goal: cost / bound at most ${GOAL}, nothing broken`,
      ...outcome.broken.slice(0, 10),
    ],
  };
}

function rowsOf(outcome: WeeksOutcome): readonly (readonly (string | number)[])[] {
  const { paid, least, saved, evictions, lifetimes } = outcome;
  const part = (share: number): string => (lifetimes[Math.floor(lifetimes.length * share)] ?? 0).toFixed(1);
  return [
    ['cost / bound', (paid / least).toFixed(4)],
    ['evictions of consolidation', evictions.consolidation],
    ['evictions of drift', evictions.drift],
    ['pods that lost a spot node', evictions.spot],
    ['dollars saved by consolidation', saved.toFixed(0)],
    ['evictions per saved dollar', (evictions.consolidation / Math.max(1e-9, saved)).toFixed(2)],
    ['launches', outcome.launches],
    ['node lifetime, hours: 10 % / 50 % / 90 %', [0.1, 0.5, 0.9].map(part).join(' / ')],
    ['pods moved away and back', outcome.returns],
    ['nodes bought back within the hour', outcome.reversals],
    ['passes', outcome.passes],
    ['broken', outcome.broken.length],
  ];
}
