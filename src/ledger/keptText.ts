/** Why a node is kept. Uses Karpenter's texts where they exist, because they appear in events. */
import { Annotations, Labels } from '../api/labels.ts';
import type { Kept, OutcomeCause } from '../disruption/kept.ts';
import { timestamp } from '../units/timestamp.ts';
import { reasonText } from './reasonText.ts';

export function keptText({ cause, nodePool = '', node = '' }: Omit<Kept, 'nodeClaim'>): string {
  switch (cause.kind) {
    case 'queued':
      return 'Candidate is already being disrupted';
    case 'no-node':
      return 'Nodeclaim does not have an associated node';
    case 'not-initialized':
      return "Node isn't initialized";
    case 'deleting':
      return 'Node is deleting or marked for deletion';
    case 'nominated':
      return 'Node is nominated for a pending pod';
    case 'do-not-disrupt-node':
      return `Disruption is blocked through the "${Annotations.doNotDisrupt}" annotation`;
    case 'no-pool-label':
      return `Node doesn't have required label (label=${Labels.nodePool})`;
    case 'pool-not-found':
      return `NodePool not found (NodePool=${cause.pool})`;
    case 'do-not-disrupt-pod':
      return `Pod has "${Annotations.doNotDisrupt}" annotation (Pod=${cause.pod})${
        cause.until === undefined ? '' : ` until ${timestamp(cause.until)}`
      }`;
    case 'pdb':
      return cause.budgets.length > 1
        ? `Eviction does not support multiple PDBs (PodDisruptionBudget(s)=[${cause.budgets.join(' ')}])`
        : `Pdb prevents pod evictions (PodDisruptionBudget=[${cause.budgets.join(' ')}])`;
    case 'static-pool':
      return `NodePool "${nodePool}" has a fixed number of nodes`;
    case 'not-static-pool':
      return `NodePool "${nodePool}" has no fixed number of nodes`;
    case 'not-drifted':
      return 'Node has not drifted';
    case 'not-empty':
      return 'Node is not empty';
    case 'empty':
      return 'Node is empty';
    case 'buffer-pods':
      return `Node "${node}" has buffer pods`;
    case 'consolidation-disabled':
      return `NodePool "${nodePool}" has consolidation disabled`;
    case 'policy':
      return `NodePool "${nodePool}" has consolidation policy ${cause.policy}, but node is not empty`;
    case 'too-young':
      return `The last pod event is within consolidateAfter (${cause.consolidateAfter})`;
    case 'unknown-instance-type':
      return `Instance Type "${cause.instanceType ?? ''}" not found`;
    case 'unknown-capacity-type':
      return `Node does not have label "${Labels.capacityType}"`;
    case 'unknown-zone':
      return `Node does not have label "${Labels.zone}"`;
    case 'budget':
    case 'would-strand':
    case 'not-cheaper':
    case 'unknown-price':
    case 'min-values':
    case 'spot-to-spot-disabled':
    case 'spot-to-spot-flexibility':
    case 'balanced-score':
    case 'no-payback':
    case 'recent-launch-failure':
    case 'scale-down-first':
    case 'node-limit':
    case 'other-zone-first':
    case 'next-pass':
      return outcomeText(cause);
  }
}

/** Result of considering the removal of a node. */
function outcomeText(cause: OutcomeCause): string {
  switch (cause.kind) {
    case 'budget':
      return `No allowed disruptions for disruption reason ${cause.reason} due to blocking budget${cause.window ? ' in its window' : ''}`;
    case 'would-strand':
      return strandedText(cause);
    case 'not-cheaper':
      return `Can't replace with a cheaper node ($${cause.replacementPricePerHour.toFixed(4)} instead of $${cause.pricePerHour.toFixed(4)} per hour)`;
    case 'unknown-price':
      return "Can't replace with a cheaper node (the price of the node is not known)";
    case 'min-values':
      return `Filtering by price: minValues requirement is not met for label ${cause.key} (${cause.offered} of ${cause.atLeast})`;
    case 'spot-to-spot-disabled':
      return "SpotToSpotConsolidation is disabled, can't replace a spot node with a spot node";
    case 'spot-to-spot-flexibility':
      return `SpotToSpotConsolidation requires ${cause.needed} cheaper instance type options than the current candidate to consolidate, got ${cause.instanceTypes}`;
    case 'balanced-score':
      return `Score ${cause.score.toFixed(2)} < threshold ${cause.threshold.toFixed(2)}`;
    case 'no-payback':
      return `Saving $${cause.savingsPerHour.toFixed(4)} per hour for ${cause.hours.toFixed(1)} h does not pay for the move ($${cause.cost.toFixed(4)})`;
    case 'recent-launch-failure':
      return `Cheaper instance types failed to launch; tried again after ${timestamp(cause.until)}`;
    case 'scale-down-first':
      return `NodePool has ${cause.nodes} nodes for ${cause.replicas} replicas, and scales down first`;
    case 'node-limit':
      return 'NodePool has no room for a replacement within its limit of nodes';
    case 'other-zone-first':
      return `Nodes of zone ${cause.zone} are replaced first`;
    case 'next-pass':
      return 'Other nodes are removed first';
  }
}

function strandedText({ pods, count }: Extract<OutcomeCause, { readonly kind: 'would-strand' }>): string {
  const named = pods.map(({ pod, reason }) => `${pod}: ${reasonText(reason)}`).join('; ');
  const more = count - pods.length;
  return `Not all pods would schedule, ${named}${more > 0 ? ` and ${more} other(s)` : ''}`;
}
