/** Runs one story on a plane and reports the outcome. */
import { Kinds, type Pod } from '../../src/api/kinds.ts';
import type { NodePool } from '../../src/api/kinds/nodePool.ts';
import type { Kube } from '../../src/kube/kube.ts';
import { defaultCatalogue } from '../../src/kwok/defaultCatalogue.ts';
import { solve } from '../../src/solver/solve.ts';
import type { Outcome } from './judge.ts';
import { Observer } from './observer.ts';
import { storyPool, type Plane, type StartPlane } from './plane.ts';
import type { Step, Story, Workload } from './stories.ts';

const QUIET = 60_000;
const CALM = 30_000;
const LONGEST = 12 * 60_000;
const LONGEST_START = 8 * 60_000;
/** Minimum time for which the bill is counted, so that a cluster that settles sooner has no advantage. */
const HORIZON = 8 * 60_000;

/** No plan for these pods costs less per hour. */
function boundOf(pool: NodePool, workloads: readonly Workload[]): number {
  const pods = workloads.flatMap(({ name, replicas, spec }) =>
    Array.from({ length: replicas }, (_, at): Pod => ({
      metadata: { name: `${name}-${at}`, namespace: 'default', labels: { app: name } },
      spec,
    })),
  );
  const offer = { pool, instanceTypes: defaultCatalogue(), used: {} };
  return solve({ pods, pools: [offer], nodes: [], daemons: [] }).lowerBound.pricePerHour;
}

async function create(kube: Kube, { name, replicas, spec, annotations = {}, maxUnavailable }: Workload): Promise<void> {
  const labels = { app: name };
  await kube.create(Kinds.Deployment, {
    metadata: { name, namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels, annotations }, spec: { terminationGracePeriodSeconds: 1, ...spec } },
    },
  });
  if (maxUnavailable === undefined) return;
  await kube.create(Kinds.PodDisruptionBudget, {
    metadata: { name, namespace: 'default' },
    spec: { maxUnavailable, selector: { matchLabels: labels } },
  });
}

async function take(kube: Kube, step: Step, number: number): Promise<void> {
  const scaled = [...(step.replicas ?? [])].map(([name, replicas]) => [name, { replicas }] as const);
  const rolled = (step.rollouts ?? []).map(
    (name) => [name, { template: { metadata: { annotations: { rollout: String(number) } } } }] as const,
  );
  for (const [name, spec] of [...scaled, ...rolled]) {
    await kube.patch(Kinds.Deployment, { name, namespace: 'default' }, { type: 'merge', body: { spec } });
  }
  if (step.templateLabels === undefined) return;
  const body = { spec: { template: { metadata: { labels: step.templateLabels } } } };
  await kube.patch(Kinds.NodePool, { name: 'default' }, { type: 'merge', body });
}

const after = (workloads: readonly Workload[], { replicas }: Step): readonly Workload[] =>
  workloads.map((workload) => ({ ...workload, replicas: replicas?.get(workload.name) ?? workload.replicas }));

const KEPT = new Set(['Unconsolidatable', 'DisruptionBlocked']);
const PROBLEMS = [
  'is no longer valid',
  'could not be started',
  'failed terminating nodes',
  'a disruption method failed',
];

/** What went wrong on the way, one line each. */
function problemLines(plane: Plane, began: number): readonly string[] {
  return PROBLEMS.flatMap((problem) => plane.logged(problem)).map(({ time, message, reason, error }) =>
    [((Date.parse(String(time)) - began) / 1000).toFixed(1), message, reason, JSON.stringify(error)].join(' '),
  );
}

/** Why nodes are kept, as the events say, with the number of nodes. */
async function keptLines({ kube }: Plane): Promise<readonly string[]> {
  const { items } = await kube.list(Kinds.Event);
  const counts = new Map<string, number>();
  for (const { reason, message, involvedObject } of items) {
    if (!KEPT.has(reason ?? '') || involvedObject.kind !== 'Node') continue;
    const why = (message ?? '').replaceAll(/[\d.]+/g, '#').slice(0, 100);
    counts.set(why, (counts.get(why) ?? 0) + 1);
  }
  return [...counts].sort(([, left], [, right]) => right - left).map(([why, count]) => `kept ${count}: ${why}`);
}

/** What the program decided, one line each. */
function commandLines(plane: Plane, began = 0): readonly string[] {
  return plane.logged('disrupting node').map((line) => {
    const { time, reason, 'disrupted-node-count': go, 'replacement-node-count': come } = line;
    const at = ((Date.parse(String(time)) - began) / 1000).toFixed(1);
    return [at, reason, go, '->', come, 'pods', line['pod-count'], 'saves', line['savings-per-hour']].join(' ');
  });
}

export interface Told {
  readonly outcome: Outcome;
  readonly nodes: string;
  /** What was decided, one line each. */
  readonly commands: readonly string[];
}

export async function tell(story: Story, start: StartPlane): Promise<Told> {
  const plane = await start();
  const observer = new Observer(plane.clock);
  try {
    const pool = await plane.kube.create(Kinds.NodePool, storyPool(story.disruption, story.requirements ?? []));
    await observer.start(plane);
    await plane.run();
    for (const workload of story.workloads) await create(plane.kube, workload);
    const wanted = story.workloads.reduce((sum, { replicas }) => sum + replicas, 0);
    if (!(await plane.until(() => observer.running === wanted, LONGEST_START))) throw new Error('pods do not run');
    if (!(await plane.until(() => observer.quietFor > CALM, LONGEST_START))) {
      throw new Error(['the cluster does not come to rest', ...commandLines(plane)].join('\n'));
    }
    return await watch(story, plane, pool, observer);
  } finally {
    observer.end();
    await plane.stop();
  }
}

async function watch(story: Story, plane: Plane, pool: NodePool, observer: Observer): Promise<Told> {
  const { clock, kube } = plane;
  const before = { nodes: observer.nodeCount, bill: observer.bill, commands: commandLines(plane).length };
  const cpu = await plane.cpuSeconds();
  observer.reset();
  const began = clock.now();
  let { workloads } = story;
  let bound = boundOf(pool, workloads);
  let [least, since] = [0, began];
  const settle = (): void => {
    least += (bound * (clock.now() - since)) / 3_600_000;
    since = clock.now();
  };
  for (const [number, step] of story.steps.entries()) {
    await plane.until(() => clock.now() >= began + step.at, LONGEST);
    await take(kube, step, number);
    settle();
    workloads = after(workloads, step);
    bound = step.replicas === undefined ? bound : boundOf(pool, workloads);
  }
  const last = clock.now();
  observer.touch();
  await plane.until(() => observer.quietFor >= (story.quiet ?? QUIET), LONGEST);
  settle();
  const rest = Math.max(0, HORIZON - (clock.now() - began)) / 3_600_000;
  const pods = workloads.reduce((sum, { replicas }) => sum + replicas, 0);
  return {
    outcome: {
      cost: observer.bill / bound,
      billOverTime: (observer.spent + rest * observer.bill) / (least + rest * bound),
      costRatio: observer.bill / before.bill,
      settled: (observer.lastChange - last) / 1000,
      evictions: observer.evictions,
      young: observer.youngEvictions,
      movesPerPod: observer.evictions / pods,
      launches: observer.launches,
      shortLives: observer.shortLives,
      pendingPodSeconds: observer.pendingPodSeconds,
      violations: observer.violations,
      mostLeaving: observer.mostLeaving,
      cpu: (await plane.cpuSeconds()) - cpu,
    },
    nodes: `${before.nodes} > ${observer.nodeCount}`,
    commands: [
      ...commandLines(plane, began).slice(before.commands),
      ...problemLines(plane, began),
      ...(await keptLines(plane)),
    ],
  };
}
