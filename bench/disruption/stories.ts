/** Each story's events, its goals, and how long it is observed. */
import type { Pod } from '../../src/api/kinds.ts';
import type { NodePool } from '../../src/api/kinds/nodePool.ts';
import { Annotations, Labels } from '../../src/api/labels.ts';
import { SeededRandom } from '../../src/clock/seededRandom.ts';
import { podRequests } from '../../src/pods/podRequests.ts';
import { quantityOf } from '../../src/units/resources.ts';
import { lognormal } from '../workloads.ts';
import type { Goals } from './judge.ts';

export interface Story {
  readonly name: string;
  readonly title: string;
  readonly disruption: Pick<NodePool['spec']['disruption'], 'consolidateAfter' | 'budgets'>;
  readonly requirements?: NodePool['spec']['template']['spec']['requirements'];
  /** What there is before it begins. */
  readonly workloads: readonly Workload[];
  /** What happens, in order of time. */
  readonly steps: readonly Step[];
  /** Milliseconds without a change of nodes after which the story is over. */
  readonly quiet?: number;
  readonly goals: Goals;
}

/** Pods that are alike, as one Deployment. */
export interface Workload {
  readonly name: string;
  readonly replicas: number;
  readonly spec: NonNullable<Pod['spec']>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** With a PodDisruptionBudget that leaves so many unavailable. */
  readonly maxUnavailable?: number;
}

export interface Step {
  /** Milliseconds since the story began. */
  readonly at: number;
  /** Replicas from now on, by workload; the others keep theirs. */
  readonly replicas?: ReadonlyMap<string, number>;
  /** Workloads whose pods are replaced by new ones. */
  readonly rollouts?: readonly string[];
  /** Labels that the pool's template gets: its nodes drift. */
  readonly templateLabels?: Readonly<Record<string, string>>;
}

const MINUTE = 60_000;
const ON_DEMAND = { key: Labels.capacityType, operator: 'In' as const, values: ['on-demand'] };
const BOTH = { key: Labels.capacityType, operator: 'In' as const, values: ['spot', 'on-demand'] };
const EAGER = { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] };

/** Thousandths of a core: no node of the pools holds a larger pod beside what it needs itself. */
const MOST_CPU = 7_000;

/** Pods of many sizes; those that fit on no node are left out. */
export function mixedWorkloads(seed: string, count: number, each: number): readonly Workload[] {
  const byApp = new Map<string, Pod[]>();
  for (const pod of lognormal(seed, count, each).pods) {
    if (quantityOf(podRequests(pod), 'cpu').milliValue() > MOST_CPU) continue;
    const app = pod.metadata.name.replace(/-\d+$/, '');
    byApp.set(app, [...(byApp.get(app) ?? []), pod]);
  }
  return [...byApp].flatMap(([name, [first, ...others]]) =>
    first?.spec ? [{ name, replicas: others.length + 1, spec: withImage(first.spec) }] : [],
  );
}

const withImage = (spec: Workload['spec']): Workload['spec'] => ({
  ...spec,
  containers: spec.containers.map((container) => ({ ...container, image: 'app' })),
});

/** A share of the pods of every workload stays, drawn pod by pod. */
function shares(seed: string, share: number, workloads: readonly Workload[]): ReadonlyMap<string, number> {
  const random = new SeededRandom(seed);
  return new Map(
    workloads.map(({ name, replicas }) => {
      const left = Array.from({ length: replicas }, () => random.next()).filter((drawn) => drawn < share);
      return [name, left.length];
    }),
  );
}

/** Some workloads are guarded by budgets, some must not be disturbed, some are spread and some avoid each other. */
function guarded(workloads: readonly Workload[]): readonly Workload[] {
  return workloads.map((workload, at): Workload => {
    const labelSelector = { matchLabels: { app: workload.name } };
    const antiAffinity = [{ topologyKey: Labels.hostname, labelSelector }];
    switch (at % 6) {
      case 0:
        return { ...workload, maxUnavailable: 1 };
      case 1: {
        const spread = { maxSkew: 1, topologyKey: Labels.zone, whenUnsatisfiable: 'DoNotSchedule', labelSelector };
        return { ...workload, spec: { ...workload.spec, topologySpreadConstraints: [spread] } };
      }
      case 2: {
        const podAntiAffinity = { requiredDuringSchedulingIgnoredDuringExecution: antiAffinity };
        return { ...workload, spec: { ...workload.spec, affinity: { podAntiAffinity } } };
      }
      case 3:
        return at === 3 ? { ...workload, replicas: 4, annotations: { [Annotations.doNotDisrupt]: 'true' } } : workload;
      default:
        return workload;
    }
  });
}

function waves(seed: string, workloads: readonly Workload[]): readonly Step[] {
  const all = new Map(workloads.map(({ name, replicas }) => [name, replicas]));
  return Array.from({ length: 6 }, (_, wave): readonly Step[] => [
    { at: wave * 4 * MINUTE, replicas: shares(`${seed} ${wave}`, 0.4, workloads) },
    { at: (wave * 4 + 2) * MINUTE, replicas: all },
  ]).flat();
}

function rollouts(workloads: readonly Workload[]): readonly Step[] {
  return Array.from({ length: 10 }, (_, round) => ({
    at: round * MINUTE,
    rollouts: workloads.filter((_, at) => at % 10 === round).map(({ name }) => name),
  }));
}

/** The seven stories with the draws of a seed. */
export function storiesOf(seed: string): readonly Story[] {
  const leaving = mixedWorkloads(seed, 95, 10);
  const waving = mixedWorkloads(`waves ${seed}`, 40, 10);
  const rolling = mixedWorkloads(`rollouts ${seed}`, 40, 10);
  const guardedOnes = guarded(mixedWorkloads(`guarded ${seed}`, 60, 10));
  return [
    {
      name: 'leave',
      title: '60 % of 950 mixed pods leave; budget 100 %, consolidateAfter 0s',
      disruption: EAGER,
      requirements: [ON_DEMAND],
      workloads: leaving,
      steps: [{ at: 0, replicas: shares(seed, 0.4, leaving) }],
      goals: { cost: 1.02, settled: 150, billOverTime: 1.1, evictions: 250 },
    },
    {
      name: 'drift',
      title: 'drift of every node, budget 20 %',
      disruption: { consolidateAfter: 'Never', budgets: [{ nodes: '20%' }] },
      requirements: [ON_DEMAND],
      workloads: mixedWorkloads(`drift ${seed}`, 95, 10),
      steps: [{ at: 0, templateLabels: { wave: 'second' } }],
      goals: { settled: 100, movesPerPod: 1, costRatio: 1 },
    },
    {
      name: 'waves',
      title: 'six waves between 40 % and 100 % of 400 pods, consolidateAfter 30s, budget 20 %',
      disruption: { consolidateAfter: '30s', budgets: [{ nodes: '20%' }] },
      requirements: [ON_DEMAND],
      workloads: waving,
      steps: waves(seed, waving),
      goals: { billOverTime: 1.25, evictions: 200 },
    },
    {
      name: 'rollouts',
      title: 'ten rollouts in ten minutes on full nodes',
      disruption: EAGER,
      requirements: [ON_DEMAND],
      workloads: rolling,
      steps: rollouts(rolling),
      goals: { launches: 12, evictions: 60 },
    },
    {
      name: 'mixed-capacity',
      title: 'spot and on-demand in one pool; 60 % of 950 mixed pods leave',
      disruption: EAGER,
      requirements: [BOTH],
      workloads: leaving,
      steps: [{ at: 0, replicas: shares(seed, 0.4, leaving) }],
      goals: { cost: 1.1 },
    },
    {
      name: 'guarded',
      title: 'budgets of pods, do-not-disrupt, spread and anti-affinity; 60 % of 600 pods leave',
      disruption: EAGER,
      requirements: [ON_DEMAND],
      workloads: guardedOnes,
      steps: [{ at: 0, replicas: shares(seed, 0.4, guardedOnes) }],
      goals: { cost: 1.06, violations: 0 },
    },
    {
      name: 'idle',
      title: '300 nodes with 4,200 pods, nothing to gain, for four minutes',
      disruption: EAGER,
      requirements: [ON_DEMAND, { key: 'karpenter.kwok.sh/instance-cpu', operator: 'In' as const, values: ['8'] }],
      workloads: [
        {
          name: 'even',
          replicas: 4_200,
          spec: {
            containers: [{ name: 'main', image: 'app', resources: { requests: { cpu: '550m', memory: '1Gi' } } }],
          },
        },
      ],
      steps: [],
      quiet: 240_000,
      goals: { evictions: 0, cpu: 2 },
    },
  ];
}
