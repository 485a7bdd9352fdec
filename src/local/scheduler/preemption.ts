/** Preemption: finds the node on which deleting pods of lower priority makes room for a pod with the least disruption. */
import type { Pod, PodDisruptionBudget } from '../../api/kinds.ts';
import { matchesLabelSelector } from '../../pods/labelSelector.ts';
import type { ClusterView } from './clusterView.ts';
import type { FilterResult } from './filters.ts';
import type { NodeInfo } from './nodeInfo.ts';
import type { PodInfo } from './podInfo.ts';

interface Preemption {
  readonly node: NodeInfo;
  readonly victims: readonly PodInfo[];
}

export interface PreemptionInput {
  readonly info: PodInfo;
  readonly view: ClusterView;
  /** The nodes on which fewer pods could help. */
  readonly candidates: readonly NodeInfo[];
  readonly budgets: Iterable<PodDisruptionBudget>;
  /** Filters a node for the pod with the current state of `view`. */
  readonly filter: (node: NodeInfo) => FilterResult;
}

/** Limit on compared nodes, because trying every node of a large cluster takes too long. */
const MOST_CANDIDATES = 100;

interface Option extends Preemption {
  readonly violations: number;
}

/** The best node, if any, and otherwise the number of candidates rejected for each reason. */
interface PreemptionSearch {
  readonly found: Preemption | undefined;
  readonly reasons: ReadonlyMap<string, number>;
}

const NO_VICTIMS = 'No preemption victims found for incoming pod';

export function findPreemption(input: PreemptionInput): PreemptionSearch {
  const { info, candidates } = input;
  const budgets = [...input.budgets];
  const options: Option[] = [];
  const reasons = new Map<string, number>();
  for (const node of candidates) {
    if (options.length >= MOST_CANDIDATES) break;
    const lower = [...node.pods.values()].filter(({ priority }) => priority < info.priority);
    const result = lower.length === 0 ? [NO_VICTIMS] : tryNode(input, node, lower, budgets);
    if ('node' in result) options.push(result);
    else for (const reason of result) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  return { found: options.sort(byHarm)[0], reasons };
}

/** Removes all pods of lower priority, then restores as many as fit, the highest first; returns reasons if that fails. */
function tryNode(
  { view, filter }: PreemptionInput,
  node: NodeInfo,
  lower: readonly PodInfo[],
  budgets: readonly PodDisruptionBudget[],
): Option | readonly string[] {
  const fits = (): boolean => filter(node).reasons.length === 0;
  for (const pod of lower) view.remove(pod.key);
  const victims: PodInfo[] = [];
  let violations = 0;
  const { reasons } = filter(node);
  const possible = reasons.length === 0;
  const guarded = violating(lower, budgets);
  const order = [...lower].sort(
    (left, right) =>
      Number(guarded.has(right.key)) - Number(guarded.has(left.key)) ||
      right.priority - left.priority ||
      startOf(left.pod) - startOf(right.pod) ||
      (left.key < right.key ? -1 : 1),
  );
  for (const pod of order) {
    view.place(pod, node.name);
    if (!possible || fits()) continue;
    view.remove(pod.key);
    victims.push(pod);
    if (guarded.has(pod.key)) violations++;
  }
  for (const pod of victims) view.place(pod, node.name);
  return possible ? { node, victims, violations } : reasons;
}

/** Returns the pods whose deletion would violate their disruption budget. */
function violating(pods: readonly PodInfo[], budgets: readonly PodDisruptionBudget[]): ReadonlySet<string> {
  const left = new Map(budgets.map((budget) => [budget, budget.status?.disruptionsAllowed ?? 0]));
  const found = new Set<string>();
  for (const { key, pod } of [...pods].sort((a, b) => b.priority - a.priority || (a.key < b.key ? -1 : 1))) {
    for (const budget of budgets) {
      if (budget.metadata.namespace !== pod.metadata.namespace) continue;
      if (!matchesLabelSelector(budget.spec?.selector, pod.metadata.labels)) continue;
      const remaining = (left.get(budget) ?? 0) - 1;
      left.set(budget, remaining);
      if (remaining < 0) found.add(key);
    }
  }
  return found;
}

const startOf = (pod: Pod): number => Date.parse(pod.status?.startTime ?? pod.metadata.creationTimestamp ?? '') || 0;

/** Prefers fewest violated budgets, lowest priorities, fewest victims, then the youngest victims. */
function byHarm(left: Option, right: Option): number {
  const highest = ({ victims }: Option): number => Math.max(...victims.map(({ priority }) => priority));
  const sum = ({ victims }: Option): number => victims.reduce((total, { priority }) => total + priority + 2 ** 31, 0);
  const oldest = ({ victims }: Option): number => Math.min(...victims.map(({ pod }) => startOf(pod)));
  return (
    left.violations - right.violations ||
    highest(left) - highest(right) ||
    sum(left) - sum(right) ||
    left.victims.length - right.victims.length ||
    oldest(right) - oldest(left) ||
    (left.node.name < right.node.name ? -1 : 1)
  );
}
