/** How many nodes of each pool may be disrupted now, by reason. */
import { READY } from '../api/conditionTypes.ts';
import type { DisruptionBudget, DisruptionReason, NodePool } from '../api/kinds/nodePool.ts';
import type { NodeView } from '../cluster/nodeView.ts';
import { Duration } from '../units/duration.ts';
import { isOpen, Schedule } from '../units/schedule.ts';
import { UnitError } from '../units/unitError.ts';

/** A budget without a limit allows this many, as Karpenter counts it. */
export const UNLIMITED_NODES = 2 ** 31 - 1;

/**
 * An invalid entry of `spec.disruption.budgets`. While there is one, no node of the pool is disrupted.
 * @public
 */
export interface BudgetComplaint {
  readonly pool: string;
  /** Index of the entry in the list. */
  readonly index: number;
  readonly field: 'nodes' | 'schedule' | 'duration';
  readonly value: string;
}

/** @public */
export interface PoolBudget {
  readonly pool: string;
  /** Initialized nodes whose instances are not being removed by the cloud: the base of percentages. */
  readonly nodes: number;
  /** Those of them that are being deleted or are not ready. */
  readonly disrupting: number;
  /** The budgets' limit by reason, before subtracting `disrupting`. */
  readonly limit: Readonly<Record<DisruptionReason, number>>;
  /** Whether the limit comes from an entry with a schedule. */
  readonly byWindow: Readonly<Record<DisruptionReason, boolean>>;
  readonly complaints: readonly BudgetComplaint[];
}

export const REASONS: readonly DisruptionReason[] = ['Underutilized', 'Empty', 'Drifted'];

export interface Budgets {
  /** Sorted by name. */
  readonly pools: readonly PoolBudget[];
  of(pool: string): PoolBudget | undefined;
  /** How many more nodes of the pool may be disrupted for this reason. */
  allowed(pool: string, reason: DisruptionReason): number;
}

export function budgetsOf(pools: Iterable<NodePool>, views: readonly NodeView[], now: number): Budgets {
  const counts = countNodes(views);
  const byName = new Map<string, PoolBudget>();
  for (const pool of [...pools].sort((left, right) => (left.metadata.name < right.metadata.name ? -1 : 1))) {
    const { name } = pool.metadata;
    const { nodes, disrupting } = counts.get(name) ?? { nodes: 0, disrupting: 0 };
    byName.set(name, { pool: name, nodes, disrupting, ...limitsOf(pool, nodes, now) });
  }
  return {
    pools: [...byName.values()],
    of: (pool) => byName.get(pool),
    allowed: (pool, reason) => {
      const budget = byName.get(pool);
      return budget === undefined ? 0 : Math.max(0, budget.limit[reason] - budget.disrupting);
    },
  };
}

function countNodes(views: readonly NodeView[]): Map<string, { nodes: number; disrupting: number }> {
  const counts = new Map<string, { nodes: number; disrupting: number }>();
  for (const view of views) {
    const { nodePool, claim, initialized } = view;
    if (nodePool === undefined || claim === undefined || !initialized || isTerminated(view)) continue;
    const count = counts.get(nodePool) ?? { nodes: 0, disrupting: 0 };
    count.nodes += 1;
    if (view.deleting || !isReady(view)) count.disrupting += 1;
    counts.set(nodePool, count);
  }
  return counts;
}

/** The cloud was told to delete the instance. */
function isTerminated({ claim }: NodeView): boolean {
  return (claim?.status?.conditions ?? []).some(
    ({ type, status }) => type === 'InstanceTerminating' && status === 'True',
  );
}

function isReady({ node }: NodeView): boolean {
  return (node?.status?.conditions ?? []).some(({ type, status }) => type === READY && status === 'True');
}

type Limits = Pick<PoolBudget, 'limit' | 'byWindow' | 'complaints'>;

/** The smallest of the active entries that apply. An invalid entry blocks the pool for every reason. */
export function limitsOf({ metadata, spec }: NodePool, nodes: number, now: number): Limits {
  const limit: Record<DisruptionReason, number> = {
    Underutilized: UNLIMITED_NODES,
    Empty: UNLIMITED_NODES,
    Drifted: UNLIMITED_NODES,
  };
  const byWindow: Record<DisruptionReason, boolean> = { Underutilized: false, Empty: false, Drifted: false };
  const complaints: BudgetComplaint[] = [];
  for (const [index, entry] of (spec.disruption.budgets ?? []).entries()) {
    const read = readBudget(entry);
    if ('field' in read) {
      complaints.push({ pool: metadata.name, index, ...read });
      continue;
    }
    if (!isActiveAt(read, now)) continue;
    const most = nodesOf(read, nodes);
    for (const reason of REASONS) {
      if (!appliesTo(entry, reason) || most >= limit[reason]) continue;
      limit[reason] = most;
      byWindow[reason] = read.window !== undefined;
    }
  }
  if (complaints.length > 0) for (const reason of REASONS) limit[reason] = 0;
  return { limit, byWindow, complaints };
}

/** A parsed entry of the list. */
interface ReadBudget {
  readonly amount: number;
  readonly isPercentage: boolean;
  /** Absent: always active. */
  readonly window?: { readonly schedule: Schedule; readonly duration: number };
}

export function readBudget({
  nodes,
  schedule,
  duration,
}: DisruptionBudget): ReadBudget | Pick<BudgetComplaint, 'field' | 'value'> {
  const digits = /^(\d{1,9})(%?)$/.exec(nodes);
  const amount = Number(digits?.[1] ?? Number.NaN);
  const isPercentage = digits?.[2] === '%';
  if (digits === null || (isPercentage && amount > 100)) return { field: 'nodes', value: nodes };
  if (schedule === undefined && duration === undefined) return { amount, isPercentage };
  const length = duration === undefined ? undefined : Duration.tryParse(duration)?.milliseconds;
  if (length === undefined || length < 0) return { field: 'duration', value: duration ?? '' };
  const hits = schedule === undefined ? undefined : trySchedule(schedule);
  if (hits === undefined) return { field: 'schedule', value: schedule ?? '' };
  return { amount, isPercentage, window: { schedule: hits, duration: length } };
}

function trySchedule(text: string): Schedule | undefined {
  try {
    return Schedule.parse(text);
  } catch (error) {
    if (error instanceof UnitError) return undefined;
    throw error;
  }
}

const isActiveAt = ({ window }: ReadBudget, now: number): boolean =>
  window === undefined || isOpen(window.schedule, window.duration, now);

/** An empty list of reasons applies to none. */
const appliesTo = ({ reasons }: DisruptionBudget, reason: DisruptionReason): boolean =>
  reasons === undefined || reasons.includes(reason);

/** Percentages round up, so that a budget above zero allows at least one node. */
const nodesOf = ({ amount, isPercentage }: ReadBudget, nodes: number): number =>
  isPercentage ? Math.ceil((amount * nodes) / 100) : amount;
