/**
 * Changes that may allow a kept node to be removed, from the least to the most intrusive. Rehearsals show which ones
 * help.
 */
import { Kinds, type Pod, type PodDisruptionBudget } from '../api/kinds.ts';
import type { DisruptionReason, NodePool } from '../api/kinds/nodePool.ts';
import { Annotations, Labels } from '../api/labels.ts';
import { apiVersionOf } from '../api/object.ts';
import { PodBudgets } from '../cluster/disruptionBudgets.ts';
import type { NodeView } from '../cluster/nodeView.ts';
import { readBudget } from '../disruption/budgets.ts';
import type { KeptCause } from '../disruption/kept.ts';
import { settledFrom } from '../disruption/settled.ts';
import type { ObjectName } from '../ledger/explanation.ts';
import type { NodeChange } from '../ledger/nodeChange.ts';
import { isDoNotDisrupt } from '../pods/doNotDisrupt.ts';
import { podKey } from '../pods/podKey.ts';
import { matchesLabelSelector } from '../pods/labelSelector.ts';
import { isActive, isStarting, isUnready } from '../pods/podPredicates.ts';
import { Duration } from '../units/duration.ts';
import {
  nodeTarget,
  patchOf,
  podTarget,
  poolTarget,
  proposal,
  together,
  type NodePicture,
  type Proposal,
} from './proposal.ts';
import { strandedProposals } from './strandedProposals.ts';
import { workloadProposals } from './workloadProposals.ts';

export function proposalsFor(cause: KeptCause, picture: NodePicture): readonly Proposal[] {
  const { view, pool, poolNodes } = picture;
  const name = pool?.metadata.name ?? view.nodePool ?? '';
  switch (cause.kind) {
    case 'do-not-disrupt-node':
      return [
        proposal(
          { kind: 'unprotect-node', node: view.name },
          patchOf(nodeTarget(view.name), { metadata: { annotations: { [Annotations.doNotDisrupt]: null } } }),
        ),
      ];
    case 'no-pool-label':
      return labelProposals(view, Labels.nodePool);
    case 'unknown-zone':
      return labelProposals(view, Labels.zone);
    case 'unknown-capacity-type':
      return labelProposals(view, Labels.capacityType);
    case 'unknown-instance-type':
      return labelProposals(view, Labels.instanceType);
    case 'do-not-disrupt-pod':
      return unprotectedPods(picture);
    case 'pdb':
      return looserPodBudgets(picture);
    case 'consolidation-disabled':
      return consolidateAfter(name, pool, ['0s']);
    case 'too-young':
      return consolidateAfter(name, pool, [quietTime(picture), '0s']);
    case 'policy':
    case 'balanced-score':
      return [
        proposal(
          {
            kind: 'policy',
            pool: name,
            from: pool?.spec.disruption.consolidationPolicy ?? 'WhenEmptyOrUnderutilized',
            to: 'WhenEmptyOrUnderutilized',
          },
          patchOf(poolTarget(name), { spec: { disruption: { consolidationPolicy: 'WhenEmptyOrUnderutilized' } } }),
        ),
      ];
    case 'budget':
      return widerBudgets(name, picture, cause.reason);
    case 'static-pool':
    case 'scale-down-first':
      return fewerReplicas(name, pool, poolNodes);
    case 'node-limit':
      return [
        proposal(
          { kind: 'node-limit', pool: name, to: poolNodes + 1 },
          patchOf(poolTarget(name), { spec: { limits: { nodes: String(poolNodes + 1) } } }),
        ),
      ];
    case 'min-values':
      return [fewerMinValues(name, pool, cause.key, cause.offered), ...workloadProposals(picture)];
    case 'would-strand':
      return [...strandedProposals(cause.pods, picture), ...workloadProposals(picture)];
    case 'not-cheaper':
    case 'no-payback':
    case 'unknown-price':
    case 'spot-to-spot-disabled':
    case 'spot-to-spot-flexibility':
      return workloadProposals(picture);
    // It is being removed, it is starting, or it waits for something temporary.
    case 'queued':
    case 'no-node':
    case 'not-initialized':
    case 'deleting':
    case 'nominated':
    case 'pool-not-found':
    case 'not-static-pool':
    case 'not-drifted':
    case 'not-empty':
    case 'empty':
    case 'buffer-pods':
    case 'recent-launch-failure':
    case 'other-zone-first':
    case 'next-pass':
      return [];
  }
}

/** The claim records the labels that the node was given. */
function labelProposals({ name, claim }: NodeView, key: string): readonly Proposal[] {
  const value = claim?.metadata.labels?.[key];
  if (value === undefined) return [];
  const change: NodeChange =
    key === Labels.nodePool
      ? { kind: 'pool-label', node: name, pool: value }
      : { kind: 'node-label', node: name, key, value };
  return [proposal(change, patchOf(nodeTarget(name), { metadata: { labels: { [key]: value } } }))];
}

function unprotectedPods({ view, now }: NodePicture): readonly Proposal[] {
  const pods = view.pods.filter((pod) => isActive(pod) && isDoNotDisrupt(pod, now));
  const change: NodeChange = { kind: 'unprotect-pods', pods: pods.map(podKey) };
  const patch = { metadata: { annotations: { [Annotations.doNotDisrupt]: null } } };
  return [proposal(change, ...pods.map((pod) => patchOf(podTarget(pod), patch)))];
}

/** Relaxes all budgets that protect pods of the node, together. */
function looserPodBudgets({ view, podBudgets, homeless }: NodePicture): readonly Proposal[] {
  const budgets = new PodBudgets(podBudgets);
  const changes = new Map<string, Proposal>();
  const startingUnder = (budget: PodDisruptionBudget): readonly Pod[] =>
    view.pods.filter(isStarting).filter(coveredBy(budget));
  for (const pod of view.pods.filter(isActive)) {
    const [first, ...others] = budgets.refusing(pod);
    if (first === undefined) continue;
    for (const other of others) {
      const change: NodeChange = { kind: 'pod-budget-selector', budget: nameOf(other), instead: nameOf(first) };
      changes.set(nameOf(other), proposal(change, patchOf(budgetTarget(other), { spec: { selector: null } })));
    }
    if ((first.status?.disruptionsAllowed ?? 0) > 0 || changes.has(nameOf(first))) continue;
    changes.set(nameOf(first), looserPodBudget(first, pod, startingUnder(first)));
  }
  for (const budget of podBudgets) {
    const [first, ...others] = homeless.filter(coveredBy(budget));
    if (first === undefined || others.length < (budget.status?.disruptionsAllowed ?? 0)) continue;
    changes.set(nameOf(budget), looserPodBudget(budget, first, startingUnder(budget), 1 + others.length));
  }
  return changes.size === 0 ? [] : [together([...changes.values()])];
}

const coveredBy =
  ({ metadata, spec }: PodDisruptionBudget) =>
  (pod: Pod): boolean =>
    pod.metadata.namespace === metadata.namespace && matchesLabelSelector(spec?.selector, pod.metadata.labels);

/**
 * Allows `more` pods to be evicted. Starting pods will become healthy; pods that have started and are unhealthy stay
 * so, whatever the number.
 */
function looserPodBudget(budget: PodDisruptionBudget, pod: Pod, starting: readonly Pod[], more = 1): Proposal {
  const { expectedPods = 1, currentHealthy: healthy = expectedPods } = budget.status ?? {};
  const currentHealthy = Math.min(expectedPods, healthy + starting.length);
  const target = budgetTarget(budget);
  if (isUnready(pod) && !isStarting(pod)) {
    const spec = { unhealthyPodEvictionPolicy: 'AlwaysAllow' };
    return proposal({ kind: 'pod-budget-unhealthy', budget: nameOf(budget) }, patchOf(target, { spec }));
  }
  // For pods without a scalable owner, Kubernetes only supports minAvailable as a number.
  if (!(pod.metadata.ownerReferences ?? []).some(({ controller }) => controller === true)) {
    const minAvailable = Math.max(0, currentHealthy - more);
    const change: NodeChange = { kind: 'pod-budget-least', budget: nameOf(budget), minAvailable };
    return proposal(change, patchOf(target, { spec: { minAvailable, maxUnavailable: null } }));
  }
  const maxUnavailable = Math.max(more, expectedPods - currentHealthy + more);
  // Also where another change of the same fix has dropped minAvailable already: the fix may come to do without that one.
  const spec = { maxUnavailable, minAvailable: null };
  return proposal({ kind: 'pod-budget', budget: nameOf(budget), maxUnavailable }, patchOf(target, { spec }));
}

const nameOf = ({ metadata }: PodDisruptionBudget): string => `${metadata.namespace ?? ''}/${metadata.name}`;

function budgetTarget({ metadata }: PodDisruptionBudget): ObjectName {
  const { kind } = Kinds.PodDisruptionBudget;
  const apiVersion = apiVersionOf(Kinds.PodDisruptionBudget);
  return { apiVersion, kind, namespace: metadata.namespace ?? 'default', name: metadata.name };
}

function consolidateAfter(name: string, pool: NodePool | undefined, values: readonly string[]): readonly Proposal[] {
  const from = pool?.spec.disruption.consolidateAfter ?? '';
  return [...new Set(values)].map((to) =>
    proposal(
      { kind: 'consolidate-after', pool: name, from, to },
      patchOf(poolTarget(name), { spec: { disruption: { consolidateAfter: to } } }),
    ),
  );
}

/** How long there has been no pod event. */
function quietTime({ view, pool, now }: NodePicture): string {
  const settles = view.claim && pool && settledFrom(view.claim, pool);
  const patience = Duration.tryParse(pool?.spec.disruption.consolidateAfter ?? '')?.milliseconds;
  if (settles === undefined || patience === undefined) return '0s';
  return `${Math.max(0, Math.floor((now - settles + patience) / 1000))}s`;
}

/** Just enough for one more node; if others would use that up, enough for all. */
function widerBudgets(name: string, { pool, poolBudget }: NodePicture, reason: DisruptionReason): readonly Proposal[] {
  const entries = pool?.spec.disruption.budgets ?? [];
  const needed = (poolBudget?.disrupting ?? 0) + 1;
  return [String(needed), '100%'].map((nodes) => {
    const budgets = entries.flatMap((entry) => {
      const read = readBudget(entry);
      if ('field' in read) return [];
      const applies = entry.reasons === undefined || entry.reasons.includes(reason);
      return [applies && limits(entry, needed, poolBudget?.nodes ?? 0) ? { ...entry, nodes } : entry];
    });
    return proposal(
      { kind: 'budget', pool: name, reason, nodes },
      patchOf(poolTarget(name), { spec: { disruption: { budgets } } }),
    );
  });
}

function limits(entry: { readonly nodes: string }, needed: number, nodes: number): boolean {
  const read = readBudget({ nodes: entry.nodes });
  if ('field' in read) return true;
  const most = read.isPercentage ? Math.ceil((read.amount * nodes) / 100) : read.amount;
  return most <= needed;
}

function fewerReplicas(name: string, pool: NodePool | undefined, nodes: number): readonly Proposal[] {
  const from = pool?.spec.replicas;
  if (from === undefined) return [];
  const targets = [1, 2, 4, 8].map((less) => Math.min(from, nodes) - less).filter((to) => to > 0);
  return [...targets, 0].map((to) =>
    proposal({ kind: 'replicas', pool: name, from, to }, patchOf(poolTarget(name), { spec: { replicas: to } })),
  );
}

function fewerMinValues(name: string, pool: NodePool | undefined, key: string, to: number): Proposal {
  const requirements = (pool?.spec.template.spec.requirements ?? []).map((each) =>
    each.key === key && each.minValues !== undefined ? { ...each, minValues: Math.max(1, to) } : each,
  );
  return proposal(
    { kind: 'min-values', pool: name, key, to: Math.max(1, to) },
    patchOf(poolTarget(name), { spec: { template: { spec: { requirements } } } }),
  );
}
