/** What happens to a cluster in each story, and until when it is watched. */
import { Kinds, type Pod } from '../../src/api/kinds.ts';
import type { NodePool } from '../../src/api/kinds/nodePool.ts';
import { SeededRandom } from '../../src/clock/seededRandom.ts';
import type { KwokCluster } from '../../test/e2e/kwok/kwokCluster.ts';
import { lognormal } from '../workloads.ts';

export interface Story {
  readonly name: string;
  readonly title: string;
  readonly disruption: Pick<NodePool['spec']['disruption'], 'consolidateAfter' | 'budgets'>;
  readonly requirements?: NodePool['spec']['template']['spec']['requirements'];
  /** What there is before it begins. */
  readonly workloads: readonly Workload[];
  /** Milliseconds without a change of nodes after which the story is over. */
  readonly quiet?: number;
  /** What happens; what remains is the workloads with what it changed. */
  begin(cluster: KwokCluster, workloads: readonly Workload[]): Promise<readonly Workload[]>;
}

/** Pods that are alike, as one Deployment. */
export interface Workload {
  readonly name: string;
  readonly replicas: number;
  readonly spec: NonNullable<Pod['spec']>;
}

const ON_DEMAND = { key: 'karpenter.sh/capacity-type', operator: 'In' as const, values: ['on-demand'] };
const EAGER = { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] };

function mixed(seed: string, count: number, each: number): readonly Workload[] {
  const byApp = new Map<string, Pod[]>();
  for (const pod of lognormal(seed, count, each).pods) {
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

async function scale(cluster: KwokCluster, workloads: readonly Workload[], to: (of: Workload) => number) {
  const after = workloads.map((workload) => ({ ...workload, replicas: to(workload) }));
  await Promise.all(
    after.map(({ name, replicas }) =>
      cluster.kube.patch(
        Kinds.Deployment,
        { name, namespace: 'default' },
        { type: 'merge', body: { spec: { replicas } } },
      ),
    ),
  );
  return after;
}

/** A share of the pods of every workload, drawn pod by pod. */
function sharesOf(seed: string, share: number): (of: Workload) => number {
  const random = new SeededRandom(seed);
  return ({ replicas }) =>
    Array.from({ length: replicas }, () => random.next()).filter((drawn) => drawn < share).length;
}

const changeTemplate = (cluster: KwokCluster) =>
  cluster.kube.patch(
    Kinds.NodePool,
    { name: 'default' },
    { type: 'merge', body: { spec: { template: { metadata: { labels: { wave: 'second' } } } } } },
  );

export const STORIES: readonly Story[] = [
  {
    name: 'leave',
    title: '60 % of 950 mixed pods leave; budget 100 %, consolidateAfter 0s',
    disruption: EAGER,
    requirements: [ON_DEMAND],
    workloads: mixed('leave', 95, 10),
    begin: (cluster, workloads) => scale(cluster, workloads, sharesOf('leave', 0.4)),
  },
  {
    name: 'mixed-capacity',
    title: 'spot and on-demand in one pool; 60 % of 950 mixed pods leave',
    disruption: EAGER,
    workloads: mixed('leave', 95, 10),
    begin: (cluster, workloads) => scale(cluster, workloads, sharesOf('leave', 0.4)),
  },
  {
    name: 'drift',
    title: 'drift of every node, budget 20 %',
    disruption: { consolidateAfter: 'Never', budgets: [{ nodes: '20%' }] },
    requirements: [ON_DEMAND],
    workloads: mixed('drift', 95, 10),
    begin: async (cluster, workloads) => {
      await changeTemplate(cluster);
      return workloads;
    },
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
        spec: { containers: [{ name: 'main', image: 'app', resources: { requests: { cpu: '550m', memory: '1Gi' } } }] },
      },
    ],
    quiet: 240_000,
    begin: async (_cluster, workloads) => workloads,
  },
];
