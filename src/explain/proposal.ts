/** A change that may allow a node to be removed, and the facts for finding one. */
import { Kinds, type Pod, type PodDisruptionBudget } from '../api/kinds.ts';
import type { NodePool } from '../api/kinds/nodePool.ts';
import { apiVersionOf } from '../api/object.ts';
import type { NodeView } from '../cluster/nodeView.ts';
import type { PoolBudget } from '../disruption/budgets.ts';
import type { ObjectName, Patch } from '../ledger/explanation.ts';
import type { NodeChange } from '../ledger/nodeChange.ts';
import { nodeChangeText } from '../ledger/nodeChangeText.ts';
import type { Asked } from '../solver/smallestChange.ts';
import type { Workload } from './nodeWorkloads.ts';
import { deepMerged } from './podFixes.ts';

export interface Proposal {
  readonly sentence: string;
  readonly patches: readonly Patch[];
  /** Effect of the patches on running pods, after their owner has recreated them. Only for rehearsals. */
  readonly effects: readonly Patch[];
  /** The patches alone are not enough: a step is needed that is no patch. */
  readonly needsMore?: boolean;
}

/** Facts about a node and its surroundings. */
export interface NodePicture {
  readonly now: number;
  readonly view: NodeView;
  readonly pool: NodePool | undefined;
  readonly poolBudget: PoolBudget | undefined;
  /** Nodes of the pool that are not being removed. */
  readonly poolNodes: number;
  readonly podBudgets: readonly PodDisruptionBudget[];
  readonly workloads: readonly Workload[];
  /** Pods evicted without another place, because the node is removed in any case. */
  readonly homeless: readonly Pod[];
  /** The question whether the node's pods have places without it, and its answer. */
  readonly asked: Asked;
}

export function proposal(change: NodeChange, ...patches: Patch[]): Proposal {
  return { sentence: nodeChangeText(change), patches, effects: [] };
}

export function patchOf(target: ObjectName, patch: Patch['patch']): Patch {
  return { target, type: 'merge', patch };
}

export function poolTarget(name: string): ObjectName {
  return { apiVersion: apiVersionOf(Kinds.NodePool), kind: Kinds.NodePool.kind, name };
}

export function nodeTarget(name: string): ObjectName {
  return { apiVersion: 'v1', kind: 'Node', name };
}

export function podTarget({ metadata }: Pod): ObjectName {
  return { apiVersion: 'v1', kind: 'Pod', namespace: metadata.namespace ?? 'default', name: metadata.name };
}

export function together(proposals: readonly Proposal[]): Proposal {
  return {
    sentence: proposals.map(({ sentence }) => sentence).join(', and '),
    patches: proposals.flatMap(({ patches }) => patches),
    effects: proposals.flatMap(({ effects }) => effects),
    needsMore: proposals.some(({ needsMore }) => needsMore),
  };
}

/** Merges changes of one object into one patch, unless the second must come later. */
export function mergedByTarget(patches: readonly Patch[]): readonly Patch[] {
  const merged: Patch[] = [];
  for (const each of patches) {
    const at = merged.findIndex(({ target }) => JSON.stringify(target) === JSON.stringify(each.target));
    const known = merged[at];
    if (known === undefined || known.type !== 'merge' || each.type !== 'merge' || contradict(known.patch, each.patch)) {
      merged.push(each);
    } else merged[at] = { ...each, patch: deepMerged(known.patch, each.patch) };
  }
  return merged;
}

/** Replicas that are first reduced and then restored need two steps. */
function contradict(one: Patch['patch'], other: Patch['patch']): boolean {
  const [before, after] = [one, other].map(({ spec }) => (spec as { replicas?: number } | undefined)?.replicas);
  return before !== undefined && after !== undefined && before !== after;
}
