/**
 * How fast plans are made: Karpenter's own benchmark side by side with it, growth with the number of pods, and
 * questions to a large cluster. Every figure is of several runs, since computers are noisy.
 */
import type { Pod } from '../../src/api/kinds.ts';
import { Labels } from '../../src/api/labels.ts';
import { Model } from '../../src/solver/model/model.ts';
import type { ExistingNode, Problem, Solution, SolveOptions } from '../../src/solver/problem.ts';
import { ask, solve } from '../../src/solver/solve.ts';
import { Quantity } from '../../src/units/quantity.ts';
import type { BenchTable } from '../runner.ts';
import { lognormal, preferencePods, upstreamPods, workloads } from '../workloads.ts';
import { FirstCalls } from './firstCall.ts';
import { fractionalBound } from './lowerBounds.ts';
import { measure } from './measure.ts';
import { azureOffers, problemOf, upstreamOffer } from './offer.ts';
import type { Peer } from './peer.ts';

export interface Run {
  readonly quick: boolean;
  readonly peer: Peer | undefined;
  readonly notes: string[];
}

export const FIRST_PLAN: SolveOptions = { searchRounds: 0 };
const WARM_UP = 20;
const RUNS = 10;
const PEER_RUNS = 3;
const FIRST_RUNS = 5;

interface SpeedCase {
  readonly kind: 'diverse' | 'preferences';
  readonly pods: readonly Pod[];
  readonly policy: 'Respect' | 'Ignore';
  readonly targetRatio: number;
  /** Pods per second that Karpenter reaches on two cores, for when it is not measured. */
  readonly peerRate: number;
}

export async function speedTable({ quick, peer }: Run): Promise<BenchTable> {
  const offer = upstreamOffer();
  const diverse = (count: number, peerRate: number): SpeedCase => ({
    kind: 'diverse',
    pods: upstreamPods(count),
    policy: 'Respect',
    targetRatio: 100,
    peerRate,
  });
  const wishes = quick ? 1000 : 4000;
  const cases = [
    diverse(1000, 275),
    ...(quick ? [] : [diverse(5000, 250), diverse(10_000, 231)]),
    { kind: 'preferences', pods: preferencePods(wishes), policy: 'Respect', targetRatio: 100, peerRate: 45 },
    { kind: 'preferences', pods: preferencePods(wishes), policy: 'Ignore', targetRatio: 50, peerRate: 1752 },
  ] as const satisfies readonly SpeedCase[];
  const rows: (string | number)[][] = [];
  const firstCalls = await FirstCalls.open();
  for (const { kind, pods, policy, targetRatio, peerRate } of cases) {
    const problem = problemOf(pods, offer);
    const ours = measure(RUNS, () => solve(problem, { ...FIRST_PLAN, preferencePolicy: policy }), WARM_UP);
    const first = await firstCalls.measure(FIRST_RUNS, kind, String(pods.length), policy);
    const theirs = await peer?.measure({ pods, offer, preferencePolicy: policy }, PEER_RUNS);
    // Processor time where both were measured: what else runs on the machine does not count there.
    const ratio =
      theirs === undefined ? ((pods.length / peerRate) * 1000) / ours.leastMillis : theirs.cpuMillis / ours.cpuMillis;
    const tooMany = theirs !== undefined && ours.answer.plannedNodes.length > theirs.nodes;
    rows.push([
      `${kind} ${pods.length}, ${policy}`,
      `${ratio.toFixed(0)}×${ratio < targetRatio ? ' !' : ''}`,
      ours.cpuMillis.toFixed(0),
      ours.leastMillis.toFixed(0),
      first.cpuMillis.toFixed(0),
      first.millis.toFixed(0),
      ((pods.length / ours.leastMillis) * 1000).toFixed(0),
      `${ours.answer.plannedNodes.length}${tooMany ? ' !' : ''}`,
      ours.answer.unplaced.length,
      ours.answer.pricePerHour.toFixed(2),
      ours.memoryMiB.toFixed(0),
      ...(theirs === undefined
        ? []
        : [
            theirs.cpuMillis.toFixed(0),
            theirs.leastMillis.toFixed(0),
            `${(theirs.leastMillis / ours.leastMillis).toFixed(0)}×`,
            `${(theirs.cpuMillis / first.cpuMillis).toFixed(0)}×`,
            theirs.nodes,
            theirs.unplaced,
            theirs.pricePerHour.toFixed(2),
            theirs.memoryMiB.toFixed(0),
          ]),
    ]);
  }
  await firstCalls.close();
  return {
    title: "Karpenter's own benchmark: 400 types, first plan only",
    columns: [
      'pods, preferences',
      peer === undefined ? 'times its rate (reported)' : 'times faster (cpu)',
      'cpu ms',
      'ms',
      'first call cpu ms',
      'ms',
      'pods/s',
      'nodes',
      'unplaced',
      '$/h',
      'MiB',
      ...(peer === undefined
        ? []
        : ['Karpenter cpu ms', 'ms', 'times (ms)', 'times (first call, cpu)', 'nodes', 'unplaced', '$/h', 'MiB']),
    ],
    rows,
    notes: [
      `ours: compiling the catalogue included; least of ${RUNS} runs after ${WARM_UP} to warm up; first call: least of ${FIRST_RUNS} fresh processes`,
      `Karpenter: its scheduler's Solve alone, least of up to ${PEER_RUNS} fresh processes; cpu: processor time of all threads, for both`,
      '! misses 100 times (50 for Ignore), or has more nodes',
    ],
  };
}

/** How time grows with pods of 1,000 sizes. */
export function growthTable(quick: boolean): BenchTable {
  const [offer] = azureOffers();
  if (offer === undefined) throw new Error('There is no catalogue.');
  const counts = quick ? [5, 20] : [5, 10, 20, 50, 100];
  const points = counts.map((perSize) => {
    const { pods } = lognormal('growth', 1000, perSize);
    const problem = problemOf(pods, offer);
    const bound = fractionalBound(pods, offer.machines);
    const run = measure(RUNS, (): Solution => solve(problem, FIRST_PLAN), 4);
    const model = Model.of(problem);
    const asked = measure(RUNS, (): Solution => ask(model, { pods }, FIRST_PLAN));
    return { pods: pods.length, run, asked, ratio: run.answer.pricePerHour / bound };
  });
  const [least] = points;
  return {
    title: 'Growth: lognormal pods of 1,000 sizes over all types, first plan',
    columns: ['pods', 'ms', 'least', 'cold', 'once compiled', 'µs per pod', 'times the bound', 'exponent', 'MiB'],
    rows: points.map(({ pods, run, asked, ratio }) => {
      const exponent =
        least === undefined || pods === least.pods
          ? '–'
          : (Math.log(run.leastMillis / least.run.leastMillis) / Math.log(pods / least.pods)).toFixed(2);
      return [
        pods,
        run.millis.toFixed(0),
        run.leastMillis.toFixed(0),
        run.firstMillis.toFixed(0),
        asked.leastMillis.toFixed(0),
        ((run.leastMillis / pods) * 1000).toFixed(1),
        ratio.toFixed(4),
        exponent,
        run.memoryMiB.toFixed(0),
      ];
    }),
    notes: [
      'once compiled: a further question to the same catalogue and pools; bound: fractional',
      'exponent: of growth of the least since the first row; the target is 1.05',
    ],
  };
}

const NODES = 5000;
const WHAT_IFS = 200;
/** Milliseconds, once warm. */
const WHAT_IF_GOAL = 2;
const SPREAD_GOAL = 25;

interface Question {
  readonly name: string;
  /** How many questions one run of it asks. */
  readonly times?: number;
  readonly goal?: number;
  readonly work: () => unknown;
}

/** Questions to a cluster that is there: nodes with two pods each and some room. */
export function clusterTable(quick: boolean): BenchTable {
  const [offer] = azureOffers();
  if (offer === undefined) throw new Error('There is no catalogue.');
  const { pods } = lognormal('cluster', 1000, 10);
  const nodes = Array.from({ length: quick ? NODES / 10 : NODES }, (_, index) => standingNode(index, pods));
  const problem: Problem = { ...problemOf(pods.slice(0, 1000), offer), nodes };
  const model = Model.of(problem);
  const spread = (pod: Pod): Pod => ({
    ...pod,
    spec: {
      ...pod.spec!,
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: Labels.zone,
          whenUnsatisfiable: 'DoNotSchedule',
          labelSelector: { matchLabels: pod.metadata.labels ?? {} },
        },
      ],
    },
  });
  const whatIfs = (change: (pod: Pod) => Pod) => (): void => {
    for (const { name, pods: moved } of nodes.slice(0, WHAT_IFS)) {
      ask(model, { pods: moved.map(change), withoutNodes: new Set([name]) }, FIRST_PLAN);
    }
  };
  const limited = { ...offer.pool, spec: { ...offer.pool.spec, limits: { cpu: '4000' } } };
  const spreading = problemOf(spreadingPods(), offer);
  const cases: Question[] = [
    {
      name: `${problem.pods.length} pods, ${nodes.length} nodes that are there`,
      work: () => solve(problem, FIRST_PLAN),
    },
    { name: 'what if one node were gone', times: WHAT_IFS, goal: WHAT_IF_GOAL, work: whatIfs((pod) => pod) },
    { name: 'the same, its pods spread over zones', times: WHAT_IFS, goal: WHAT_IF_GOAL, work: whatIfs(spread) },
    {
      name: `${spreading.pods.length} pods that spread over zones and hosts, no nodes`,
      goal: SPREAD_GOAL,
      work: () => solve(spreading, FIRST_PLAN),
    },
    {
      name: `${pods.length} pods, a cpu limit for half of them`,
      work: () => solve(problemOf(pods, { ...offer, pool: limited }), FIRST_PLAN),
    },
  ];
  return {
    title: 'Questions to a cluster that is there, and limits',
    columns: ['question', 'ms', 'least', 'cold', 'MiB'],
    rows: cases.map(({ name, times = 1, goal = Number.POSITIVE_INFINITY, work }) => {
      const run = measure(RUNS, work, times > 1 ? 3 : WARM_UP);
      const each = (millis: number): string => (millis / times).toFixed(millis / times < 10 ? 2 : 0);
      const missed = run.leastMillis / times > goal;
      return [
        name,
        each(run.millis),
        `${each(run.leastMillis)}${missed ? ' !' : ''}`,
        each(run.firstMillis),
        run.memoryMiB.toFixed(0),
      ];
    }),
    notes: [
      `what-ifs: mean of ${WHAT_IFS}, asked of one compiled model; ! misses ${WHAT_IF_GOAL} ms, with spread ${SPREAD_GOAL} ms`,
    ],
  };
}

/** 500 pods of workloads that spread over zones, and 500 of such as keep apart on nodes. */
function spreadingPods(): Pod[] {
  const pods = workloads().find(({ name }) => name === 'spread')?.pods ?? [];
  const isApart = ({ spec }: Pod): boolean => spec?.affinity !== undefined;
  return [...pods.filter((pod) => !isApart(pod)).slice(0, 500), ...pods.filter(isApart).slice(0, 500)];
}

function standingNode(index: number, pods: readonly Pod[]): ExistingNode {
  const name = `node-${index}`;
  const start = (index * 2) % (pods.length - 2);
  return {
    name,
    labels: {
      [Labels.zone]: `eastus-${(index % 3) + 1}`,
      [Labels.arch]: 'amd64',
      [Labels.os]: 'linux',
      [Labels.capacityType]: 'on-demand',
      [Labels.hostname]: name,
      [Labels.instanceType]: `Standard_D${2 ** (1 + (index % 4))}s_v5`,
    },
    taints: [],
    free: {
      cpu: Quantity.fromMilli((index * 37) % 1500),
      memory: Quantity.fromValue(((index * 53) % 3000) * 2 ** 20, 'BinarySI'),
      pods: Quantity.fromValue(20),
    },
    pods: pods.slice(start, start + 2).map((pod, at) => ({
      ...pod,
      metadata: { ...pod.metadata, name: `running-${index}-${at}` },
    })),
    initialized: true,
  };
}
