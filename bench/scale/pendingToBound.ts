/**
 * From pending pods to bound ones on a real control plane with instant nodes: when each stage was over for the last
 * pod, in seconds since the batch closed.
 */
import { Kinds, type Pod } from '../../src/api/kinds.ts';
import { SystemClock } from '../../src/clock/systemClock.ts';
import { systemRandom } from '../../src/clock/systemRandom.ts';
import { Informers } from '../../src/kube/informer.ts';
import { isRunning, KwokCluster, type Program } from '../../test/e2e/kwok/kwokCluster.ts';
import { workloadsOf, type Workload } from '../placement/story.ts';
import type { BenchTable } from '../runner.ts';

/** What the program says when a NodeClaim has come that far. */
const STAGES = [
  ['claims created', 'created nodeclaim'],
  ['launched', 'launched nodeclaim'],
  ['registered', 'registered nodeclaim'],
  ['initialised', 'initialized nodeclaim'],
] as const;

const seconds = (milliseconds: number): number => Number((milliseconds / 1000).toFixed(2));
const timesOf = (program: Program, message: string): readonly number[] =>
  program.logged(message).map(({ time }) => Date.parse(String(time)));

/** Notes, by this machine's clock, when each pod was seen bound: its own conditions know whole seconds only. */
async function watchBindings(cluster: KwokCluster, signal: AbortSignal): Promise<ReadonlyMap<string, number>> {
  const bound = new Map<string, number>();
  const informers = new Informers({ kube: cluster.kube, clock: new SystemClock(), random: systemRandom });
  const note = ({ metadata, spec }: Pod): void => {
    if (spec?.nodeName && !bound.has(metadata.name)) bound.set(metadata.name, Date.now());
  };
  informers.of(Kinds.Pod, { namespace: 'default' }).subscribe(({ object }) => note(object));
  void informers.run(signal);
  await informers.synced();
  return bound;
}

/** Pods that are all alike, to which no hints are written, or of forty sizes. */
export type Mixture = 'alike' | 'mixed';

function pendingWorkloads(mixture: Mixture, pending: number): readonly Omit<Workload, 'isLate'>[] {
  if (mixture === 'mixed') return workloadsOf('plain', pending);
  const resources = { requests: { cpu: '500m', memory: '512Mi' } };
  return [{ name: 'web', replicas: pending, spec: { containers: [{ name: 'main', image: 'app', resources }] } }];
}

export async function pendingToBound(mixture: Mixture, asked: number): Promise<BenchTable> {
  const workloads = pendingWorkloads(mixture, asked);
  const pending = workloads.reduce((sum, { replicas }) => sum + replicas, 0);
  const cluster = await KwokCluster.start();
  const over = new AbortController();
  try {
    const program = await cluster.run();
    for (const { name, replicas, spec } of workloads) await cluster.deployment(name, replicas, spec);
    await cluster.eventually('all pods wait', async () => {
      const waiting = (await cluster.pods()).filter(({ status }) =>
        status?.conditions?.some(({ reason }) => reason === 'Unschedulable'),
      );
      return waiting.length === pending ? true : undefined;
    });
    const bound = await watchBindings(cluster, over.signal);
    await cluster.pool('default');
    await cluster.eventually('all pods are bound', () => (bound.size === pending ? true : undefined));
    const claims = (await cluster.claims()).length;
    await cluster.eventually('all pods run', async () =>
      (await cluster.pods()).filter(isRunning).length === pending ? true : undefined,
    );
    const rounds = program.logged('computed a plan').filter(({ plannedNodes }) => Number(plannedNodes) > 0);
    const solved = Date.parse(String(rounds[0]?.['time']));
    const closed = solved - Number(rounds[0]?.['milliseconds']);
    const last = STAGES.map(([, message]) => seconds(Math.max(...timesOf(program, message)) - closed));
    const bindings = [...bound.values()].map((at) => at - closed).sort((left, right) => left - right);
    const cpu = await program.metric('process_cpu_seconds_total');
    const hints = await program.metric('nodewright_placement_hints_total', { outcome: 'written' });
    return {
      title: `${pending} pending pods, ${mixture}, on a real control plane, instances that are there at once`,
      columns: [
        'rounds that bought',
        'nodes',
        'solved',
        ...STAGES.map(([name]) => name),
        'first pod bound',
        'half',
        'last',
        'hints',
        'cpu s',
      ],
      rows: [
        [
          rounds.length,
          claims,
          seconds(solved - closed),
          ...last,
          ...[bindings[0], bindings[Math.floor(pending / 2)], bindings.at(-1)].map((at) => seconds(at ?? NaN)),
          hints,
          seconds(cpu * 1000),
        ],
      ],
      notes: [
        'seconds from the close of the batch until the last one has come that far; cpu: of nodewright, all in all',
        'target: 1 round, 5 s until the last pod is bound',
      ],
    };
  } finally {
    over.abort();
    await cluster.stop();
  }
}
