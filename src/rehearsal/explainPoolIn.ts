/** Asks a rehearsal about a NodePool: why it is unusable, or what its nodes cost and what blocks savings. */
import { READY } from '../api/conditionTypes.ts';
import { findCondition } from '../api/conditions.ts';
import { Kinds, type Pod } from '../api/kinds.ts';
import type { NodePool } from '../api/kinds/nodePool.ts';
import { Labels } from '../api/labels.ts';
import { apiVersionOf } from '../api/object.ts';
import { savingsBacklog, type SavingsBacklog } from '../disruption/backlog.ts';
import type { Kept } from '../disruption/kept.ts';
import { podFix } from '../explain/podFixes.ts';
import type { Kube } from '../kube/kube.ts';
import type { ExplainedFix, Explanation, PoolFacts } from '../ledger/explanation.ts';
import type { NodeFate } from '../ledger/nodeFateText.ts';
import { poolStateText, type PoolState } from '../ledger/poolStateText.ts';
import { poolRefusalText, reasonLines } from '../ledger/reasonText.ts';
import { podKey } from '../pods/podKey.ts';
import { findFixes } from '../solver/smallestChange.ts';
import { explainNodeIn } from './explainNodeIn.ts';
import { fatesOf } from './judge.ts';
import { HOURS_PER_MONTH } from './nodeFactsOf.ts';
import type { Rehearsal, RehearsalOptions } from './rehearse.ts';

type Answer = Omit<Explanation, 'object'>;

/** Undefined when there is no such pool. */
export async function explainPoolIn(
  rehearsal: Rehearsal,
  name: string,
  options: Omit<RehearsalOptions, 'objects' | 'changedPools'>,
  kube: Kube,
): Promise<Explanation | undefined> {
  const pool = rehearsal.world.informers.nodePools.store.get({ name });
  if (pool === undefined) return undefined;
  const object = { apiVersion: apiVersionOf(Kinds.NodePool), kind: Kinds.NodePool.kind, name };
  const answer = unready(pool) ?? poolRefusal(rehearsal, pool) ?? (await bill(rehearsal, pool, options, kube));
  return { object, ...answer };
}

const stated = (state: PoolState, rest: Partial<Answer> = {}): Answer => ({
  sentence: poolStateText(state),
  constraint: state.kind,
  evidence: [],
  fixes: [],
  ...rest,
});

function unready(pool: NodePool): Answer | undefined {
  if (pool.metadata.deletionTimestamp !== undefined) return stated({ kind: 'deleting' });
  const ready = findCondition(pool, READY);
  if (ready?.status === 'True') return undefined;
  const bad = (pool.status?.conditions ?? []).filter(({ type, status }) => type !== READY && status !== 'True');
  return stated(
    { kind: 'not-ready', reason: ready?.reason, message: ready?.message },
    { evidence: bad.map(({ type, reason = '', message = '' }) => `${type}: ${reason} ${message}`.trim()) },
  );
}

/** A minimal pod for this pool. */
function probeOf(name: string): Pod {
  return {
    metadata: { name: 'probe', namespace: 'default', uid: 'probe' },
    spec: {
      containers: [{ name: 'probe', resources: { requests: { cpu: '1m' } } }],
      nodeSelector: { [Labels.nodePool]: name },
      tolerations: [{ operator: 'Exists' }],
    },
  };
}

/** Why no node can be added to the pool. */
export function poolRefusal({ moment, pass }: Rehearsal, pool: NodePool): Answer | undefined {
  if (pool.spec.replicas !== undefined) return undefined;
  const pod = probeOf(pool.metadata.name);
  const overlay = { pods: [pod], closedNodes: new Set(pass.views.map(({ name }) => name)) };
  const options = { searchRounds: 0 };
  const solution = moment.ask(overlay, options);
  const reason = solution.unplaced.find((each) => each.pod === podKey(pod))?.reason;
  if (reason === undefined) return undefined;
  const asked = {
    pools: moment.offers,
    overlay,
    options,
    solution,
    ask: (...question: Parameters<typeof moment.ask>) => moment.ask(...question),
  };
  const own = reason.kind === 'refused' ? reason.pools.find((each) => each.pool === pool.metadata.name) : undefined;
  const source = {
    target: { apiVersion: 'v1', kind: 'Pod', name: 'probe' },
    templatePath: [],
    spec: pod.spec ?? { containers: [] },
  };
  return {
    sentence: own === undefined ? reasonLines(reason).join('; ') : poolRefusalText(own),
    constraint: own?.stage ?? reason.kind,
    evidence: reasonLines(reason),
    fixes: findFixes(asked, pod, reason, 2, 'tolerations')
      .map((edits) => podFix(edits, source, moment.offers))
      .filter(({ patches }) => patches.every(({ target }) => target.kind === Kinds.NodePool.kind)),
  };
}

/** Cost of the nodes, and what blocks most of the savings. */
async function bill(
  rehearsal: Rehearsal,
  pool: NodePool,
  options: Omit<RehearsalOptions, 'objects' | 'changedPools'>,
  kube: Kube,
): Promise<Answer> {
  const own = backlogOf(rehearsal, fatesOf(rehearsal)).pools.find((each) => each.pool === pool.metadata.name);
  if (own === undefined) return stated({ kind: 'no-nodes' });
  const facts: PoolFacts = {
    nodes: own.nodes,
    pricePerHour: own.pricePerHour,
    pricePerMonth: own.pricePerHour * HOURS_PER_MONTH,
    savingsPerHour: own.savingsPerHour,
    savingsPerMonth: own.savingsPerHour * HOURS_PER_MONTH,
    blockers: own.blockers,
  };
  const [most] = own.blockers;
  const example =
    most === undefined
      ? undefined
      : await explainNodeIn(rehearsal, { kind: 'node', name: most.example }, options, kube);
  const fixes: readonly ExplainedFix[] = example?.fixes ?? [];
  return stated(most === undefined ? { kind: 'no-savings', facts } : { kind: 'savings', facts }, {
    ...(most !== undefined && { constraint: most.cause }),
    evidence: example === undefined ? [] : [`node ${example.object.name}: ${example.sentence}`, ...example.evidence],
    fixes,
    nodePool: facts,
  });
}

export function backlogOf({ pass }: Pick<Rehearsal, 'pass'>, fates: ReadonlyMap<string, NodeFate>): SavingsBacklog {
  const kept = [...fates.values()].flatMap((fate): Kept[] => (fate.kind === 'kept' ? [fate.kept] : []));
  return savingsBacklog(pass, kept);
}
