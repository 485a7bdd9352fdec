/**
 * One run on a real control plane with the real scheduler and simulated nodes: the price when all pods run relative to
 * the lower bound, and the number of purchase rounds.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Kinds, type Node } from '../../src/api/kinds.ts';
import { Annotations, Labels } from '../../src/api/labels.ts';
import { defaultCatalogue } from '../../src/kwok/defaultCatalogue.ts';
import { isRunning, KwokCluster, type Program } from '../../test/e2e/kwok/kwokCluster.ts';
import { fractionalBound } from '../solver/lowerBounds.ts';
import { offer } from '../solver/offer.ts';
import { podsOf, PRIORITY_CLASSES, workloadsOf, type Variant } from './story.ts';

/** Who buys: we, with hints or without, or Karpenter's program at this path. */
export type Buyer = 'auto' | 'off' | { readonly karpenter: string };

export interface PlacementResult {
  readonly variant: Variant;
  readonly pods: number;
  readonly nodes: number;
  readonly rounds: number;
  /** Price relative to the bound when nothing changes any more. */
  readonly paid: number;
  /** Of the first plan alone; Karpenter does not say. */
  readonly planned: number | undefined;
  readonly waiting: number;
  /** Seconds from the first plan until the last pod ran. */
  readonly seconds: number;
  readonly hints: { readonly written: number; readonly followed: number; readonly lost: number } | undefined;
}

const REQUIREMENTS = [
  { key: Labels.arch, operator: 'In' as const, values: ['amd64'] },
  { key: Labels.os, operator: 'In' as const, values: ['linux'] },
  { key: 'karpenter.kwok.sh/instance-cpu', operator: 'Lt' as const, values: ['33'] },
  { key: Labels.capacityType, operator: 'In' as const, values: ['on-demand'] },
];
const CLASS_REF = { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' };
/** Time limit of a run. */
const LONGEST = 150_000;
/** Each poll lists all pods, which would slow the API server and the scheduler if it were more frequent. */
const POLL = 3_000;
const JOIN_WITHIN = '30s';
const MEAN_JOIN = '15s';

export async function placementRun(
  variant: Variant,
  buyer: Buyer,
  count: number | undefined,
): Promise<PlacementResult> {
  const workloads = workloadsOf(variant, count);
  const pods = workloads.reduce((sum, { replicas }) => sum + replicas, 0);
  const cluster = await KwokCluster.start();
  try {
    for (const priority of PRIORITY_CLASSES) await cluster.kube.create(Kinds.PriorityClass, priority as never);
    const program = await (typeof buyer === 'string'
      ? cluster.run([`--placement-hints=${buyer}`])
      : cluster.runPeer(buyer.karpenter));
    const early = workloads.filter(({ isLate }) => !isLate);
    for (const { name, replicas, spec } of early) await cluster.deployment(name, replicas, spec);
    const expected = early.reduce((sum, { replicas }) => sum + replicas, 0);
    await cluster.eventually('all pods wait', async () => {
      await sleep(POLL / 3);
      const waiting = (await cluster.pods()).filter(({ status }) =>
        status?.conditions?.some(({ reason }) => reason === 'Unschedulable'),
      );
      return waiting.length === expected ? true : undefined;
    });
    if (variant === 'joins' || variant === 'arrivals') await joinInRandomOrder(cluster, typeof buyer !== 'string');
    await createPool(cluster);
    if (variant === 'arrivals') {
      await sleep(3_000);
      for (const { name, replicas, spec, isLate } of workloads) {
        if (isLate) await cluster.deployment(name, replicas, spec);
      }
    }
    await untilRest(cluster, pods);
    return await result(cluster, program, { variant, pods, workloads }, buyer);
  } finally {
    await cluster.stop();
  }
}

async function createPool(cluster: KwokCluster): Promise<void> {
  const disruption = {
    consolidateAfter: 'Never',
    consolidationPolicy: 'WhenEmpty' as const,
    budgets: [{ nodes: '10%' }],
  };
  const template = { spec: { nodeClassRef: CLASS_REF, expireAfter: 'Never', requirements: REQUIREMENTS } };
  await cluster.kube.create(Kinds.NodePool, { metadata: { name: 'default' }, spec: { disruption, template } } as never);
}

async function joinInRandomOrder({ kube }: KwokCluster, isPeer: boolean): Promise<void> {
  const annotations = { [Annotations.registrationJitter]: JOIN_WITHIN };
  // Karpenter knows no jitter: its nodes join together, after as long as ours take on average.
  const body = { metadata: { annotations }, ...(isPeer && { spec: { nodeRegistrationDelay: MEAN_JOIN } }) };
  await kube.patch(Kinds.KWOKNodeClass, { name: 'default' }, { type: 'merge', body });
}

/** All pods run; or nothing has changed for long, and some wait. */
async function untilRest(cluster: KwokCluster, pods: number): Promise<void> {
  const end = performance.now() + LONGEST;
  while (performance.now() < end) {
    if ((await cluster.pods()).filter(isRunning).length === pods) return;
    await sleep(POLL);
  }
}

async function result(
  cluster: KwokCluster,
  program: Program,
  run: Pick<PlacementResult, 'variant' | 'pods'> & { readonly workloads: ReturnType<typeof workloadsOf> },
  buyer: Buyer,
): Promise<PlacementResult> {
  const { workloads, ...about } = run;
  const { machines } = offer('kwok', defaultCatalogue(), REQUIREMENTS);
  const bound = fractionalBound(podsOf(workloads), machines);
  const plans = purchases(program, buyer);
  const nodes = await cluster.nodes();
  const [first] = plans;
  const running = (await cluster.pods()).filter(isRunning);
  const ends = running.map(({ status }) => Date.parse(String(status?.startTime)));
  const outcome = (name: string): Promise<number> =>
    program.metric('nodewright_placement_hints_total', { outcome: name });
  const price = first?.['pricePerHour'];
  return {
    ...about,
    nodes: nodes.length,
    rounds: plans.length,
    paid: nodes.reduce((sum, node) => sum + priceOf(node), 0) / bound,
    planned: price === undefined ? undefined : Number(price) / bound,
    waiting: about.pods - running.length,
    seconds: (Math.max(...ends) - Date.parse(String(first?.['time']))) / 1000,
    hints:
      buyer === 'auto'
        ? { written: await outcome('written'), followed: await outcome('followed'), lost: await outcome('lost') }
        : undefined,
  };
}

/** What the program said whenever it bought nodes. */
function purchases(program: Program, buyer: Buyer): readonly Record<string, unknown>[] {
  if (typeof buyer !== 'string') return program.logged('computed new nodeclaim(s) to fit pod(s)');
  return program.logged('computed a plan').filter(({ plannedNodes }) => Number(plannedNodes) > 0);
}

const PRICES = new Map(
  defaultCatalogue().map(({ name, offerings }) => [
    name,
    Math.min(...offerings.filter(({ capacityType }) => capacityType === 'on-demand').map(({ price }) => price)),
  ]),
);

function priceOf({ metadata }: Node): number {
  return PRICES.get(metadata.labels?.[Labels.instanceType] ?? '') ?? Number.NaN;
}
