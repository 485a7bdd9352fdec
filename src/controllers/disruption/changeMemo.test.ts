import { beforeEach, expect, it } from 'vitest';
import type { Pod, PodDisruptionBudget } from '../../api/kinds.ts';
import type { DisruptionBudget, NodePool } from '../../api/kinds/nodePool.ts';
import { budgetsOf, type Budgets } from '../../disruption/budgets.ts';
import type { KeptCause } from '../../disruption/kept.ts';
import type { InformerEvent } from '../../kube/informer.ts';
import { PaperCluster, START } from '../../../test/fixtures/disruption/paperCluster.ts';
import { paperPod } from '../../../test/fixtures/disruption/paperPods.ts';
import { testType } from '../../../test/fixtures/solver/testObjects.ts';
import { ChangeMemo } from './changeMemo.ts';

/** Hands on what a test says has happened. */
class Feed<Item> {
  private readonly listeners = new Set<(event: InformerEvent<Item>) => void>();

  readonly subscribe = (listener: (event: InformerEvent<Item>) => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  say(event: InformerEvent<Item>): void {
    for (const listener of this.listeners) listener(event);
  }
}

const DISRUPTION = { consolidateAfter: '0s', consolidationPolicy: 'WhenEmpty' } as const;
const WINDOW: DisruptionBudget = { nodes: '0', schedule: '0 1 * * *', duration: '1h' };
const SECOND = 1_000;
const MINUTE = 60 * SECOND;

let paper: PaperCluster;
let pool: NodePool;
let pools: Feed<NodePool>;
let podBudgets: Feed<PodDisruptionBudget>;
let memo: ChangeMemo;

beforeEach(() => {
  paper = new PaperCluster();
  pool = paper.addPool([testType('small', 2, 4, 0.1)], { disruption: { ...DISRUPTION, budgets: [WINDOW] } });
  paper.addNode({ name: 'a', type: 'small' });
  pools = new Feed();
  podBudgets = new Feed();
  memo = new ChangeMemo({ nodePools: pools, disruptionBudgets: podBudgets });
});

const budgets = (now: number): Budgets => budgetsOf([pool], paper.cluster.snapshot().nodes, now);
const holds = (now = START, virtual: readonly Pod[] = []): boolean =>
  memo.holds(paper.cluster.snapshot(), budgets(now), virtual, now);

/** A pass that found nothing to do, for these causes. */
function rest(...causes: readonly KeptCause[]): void {
  holds();
  memo.nothingToDo(
    paper.cluster.snapshot(),
    causes.map((cause) => ({ cause })),
    START,
  );
}

it('needs a pass first', () => {
  expect(holds()).toBe(false);
  rest();
  expect(holds()).toBe(true);
});

it.each<[string, () => void]>([
  ['the pods', () => paper.addPending(paperPod('new'))],
  ['the nodes', () => paper.addNode({ name: 'b', type: 'small' })],
  ['what is being deleted', () => paper.cluster.markForDeletion('a')],
  ['the spec of a pool', () => pools.say(updated({ metadata: { ...pool.metadata, generation: 2 } }))],
  ['a condition of a pool', () => pools.say(updated({ status: { nodes: 1, conditions: [] } }))],
  ['the pools', () => pools.say({ type: 'added', object: pool })],
  ['the PodDisruptionBudgets', () => podBudgets.say({ type: 'added', object: { metadata: { name: 'pdb' } } })],
])('is over after a change of %s', (_, change) => {
  rest();
  change();
  expect(holds()).toBe(false);
});

it('outlasts counts in the status of a pool', () => {
  rest();
  pools.say(updated({ status: { ...pool.status, nodes: 7 } }));
  expect(holds()).toBe(true);
});

it('is over when a window of a budget begins or ends, and when pods of buffers change', () => {
  rest();
  expect(holds(START + 4 * MINUTE)).toBe(true);
  expect(holds(START + 4 * MINUTE, [paperPod('virtual')])).toBe(false);
  paper = new PaperCluster();
  pool = paper.addPool([testType('small', 2, 4, 0.1)], {
    disruption: { ...DISRUPTION, budgets: [{ ...WINDOW, schedule: '2 0 * * *' }] },
  });
  paper.addNode({ name: 'a', type: 'small' });
  rest();
  expect(holds(START + 2 * MINUTE - 1)).toBe(true);
  expect(holds(START + 2 * MINUTE)).toBe(false);
});

it('is over after a change during the pass', () => {
  holds();
  pools.say({ type: 'added', object: pool });
  memo.nothingToDo(paper.cluster.snapshot(), [], START);
  expect(holds()).toBe(false);
});

it.each<[string, KeptCause, number]>([
  ['five minutes, as prices change without an event', { kind: 'not-empty' }, 5 * MINUTE],
  ['ten seconds where pods are expected', { kind: 'nominated' }, 10 * SECOND],
  ['as long as a pod is protected', { kind: 'do-not-disrupt-pod', pod: 'p', until: START + MINUTE }, MINUTE],
  ['five minutes beside a longer cause', { kind: 'do-not-disrupt-pod', pod: 'p', until: START + 9e6 }, 5 * MINUTE],
])('holds for %s', (_, cause, length) => {
  rest({ kind: 'not-empty' }, cause);
  expect(holds(START + length - 1)).toBe(true);
  expect(holds(START + length)).toBe(false);
});

const updated = (change: Partial<NodePool>): InformerEvent<NodePool> => ({
  type: 'updated',
  old: pool,
  object: { ...pool, ...change },
});
