/**
 * `npm run bench -- solver [--peer] [--quick]`: cost of plans compared to proven bounds, price-blind packing and
 * Karpenter, and solving time. A missed target is marked with `!`.
 */
import type { SolveOptions } from '../src/solver/problem.ts';
import { solve } from '../src/solver/solve.ts';
import type { Bench, BenchTable } from './runner.ts';
import { firstFitDecreasing } from './solver/firstFitDecreasing.ts';
import { lowerBound } from './solver/lowerBounds.ts';
import { measure } from './solver/measure.ts';
import { azureOffers, problemOf } from './solver/offer.ts';
import { Peer, type PeerAnswer } from './solver/peer.ts';
import { clusterTable, growthTable, speedTable, FIRST_PLAN, type Run } from './solver/speed.ts';
import { workloads } from './workloads.ts';

const SEARCH_MILLISECONDS = 500;
const SEARCHED: SolveOptions = {
  searchRounds: 1_000_000,
  timeBudgetMs: SEARCH_MILLISECONDS,
  now: () => performance.now(),
};

export const bench: Bench = {
  name: 'solver',
  description: 'cost of plans against proven bounds, and pods per second [--peer] [--quick]',
  async run(flags) {
    const quick = flags.includes('--quick');
    const notes: string[] = [];
    const opened = flags.includes('--peer') ? await Peer.open((line) => console.error(line)) : undefined;
    if (typeof opened === 'string') notes.push(opened);
    const run: Run = { quick, notes, peer: typeof opened === 'string' ? undefined : opened };
    // Speed first: code executed earlier in a process slows optimized code.
    const speed = await speedTable(run);
    return [await costTable(run), speed, growthTable(run.quick), clusterTable(run.quick)];
  },
};

async function costTable({ quick, peer, notes }: Run): Promise<BenchTable> {
  const rows: (string | number)[][] = [];
  for (const offer of azureOffers()) {
    for (const { name, pods, sizes, target } of workloads(quick)) {
      const bound = lowerBound(pods, offer.machines);
      const ratio = (price: number): string => (price / bound.pricePerHour).toFixed(4);
      const blind = firstFitDecreasing(pods, offer.machines);
      const problem = problemOf(pods, offer);
      const first = measure(quick ? 1 : 3, () => solve(problem, FIRST_PLAN));
      const searched = measure(1, () => solve(problem, SEARCHED));
      const price = searched.answer.pricePerHour;
      const theirs = await peer?.solve({ pods, offer });
      rows.push([
        `${name}, ${offer.name}`,
        pods.length,
        sizes,
        `${bound.kind} ${bound.pricePerHour.toFixed(2)}`,
        ratio(searched.answer.lowerBound.pricePerHour),
        ratio(blind.pricePerHour),
        ratio(first.answer.pricePerHour),
        first.millis.toFixed(0),
        `${ratio(price)}${price > bound.pricePerHour * target ? ' !' : ''}`,
        searched.millis.toFixed(0),
        searched.answer.plannedNodes.length,
        searched.answer.unplaced.length,
        `${((1 - price / blind.pricePerHour) * 100).toFixed(0)} %`,
        first.memoryMiB.toFixed(0),
        ...peerCells(theirs, ratio),
      ]);
    }
  }
  return {
    title: `Cost over ${azureOffers()[0]?.machines.length ?? 0} Azure sizes (eastus, on demand): multiples of the bound`,
    columns: [
      'workload',
      'pods',
      'sizes',
      'bound $/h',
      'own bound',
      'price-blind',
      'first plan',
      'ms',
      `≤ ${SEARCH_MILLISECONDS} ms`,
      'ms',
      'nodes',
      'unplaced',
      'saved',
      'MiB',
      ...(peer === undefined ? [] : ['Karpenter', 'ms', 'nodes', 'MiB']),
    ],
    rows,
    notes: [
      'bound: computed here with highs, topology left out; own bound: what the solver itself proved',
      'saved: against price-blind first-fit-decreasing; ! misses the target (1 %, spread 5 %)',
      ...notes,
    ],
  };
}

function peerCells(answer: PeerAnswer | undefined, ratio: (price: number) => string): (string | number)[] {
  if (answer === undefined) return [];
  const failed = answer.unplaced === 0 ? '' : ` (${answer.unplaced} unplaced)`;
  return [
    `${ratio(answer.pricePerHour)}${failed}`,
    answer.solveMillis.toFixed(0),
    answer.nodes,
    answer.memoryMiB.toFixed(0),
  ];
}
