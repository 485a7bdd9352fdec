import { Annotations } from '../api/labels.ts';
import { countText } from './countText.ts';
import type { NodeChange } from './nodeChange.ts';

const NAMED = 3;

/** The change as an instruction. */
export function nodeChangeText(change: NodeChange): string {
  switch (change.kind) {
    case 'unprotect-node':
      return `remove the annotation ${Annotations.doNotDisrupt} from node ${change.node}`;
    case 'unprotect-pods':
      return `remove the annotation ${Annotations.doNotDisrupt} from ${namesText(change.pods, 'pod')}`;
    case 'pod-budget':
      return `let PodDisruptionBudget ${change.budget} allow ${change.maxUnavailable} unavailable`;
    case 'pod-budget-least':
      return `let PodDisruptionBudget ${change.budget} ask for no more than ${change.minAvailable} available`;
    case 'pod-budget-unhealthy':
      return `let PodDisruptionBudget ${change.budget} always allow that pods which are not ready are evicted (unhealthyPodEvictionPolicy)`;
    case 'pod-budget-selector':
      return `let PodDisruptionBudget ${change.budget} select nothing: an eviction can serve one budget, and ${change.instead} is there too`;
    case 'pool-label':
      return `give node ${change.node} the label of its NodePool "${change.pool}" back`;
    case 'node-label':
      return `give node ${change.node} the label ${change.key}=${change.value} back`;
    case 'consolidate-after':
      return `lower consolidateAfter of NodePool "${change.pool}" from ${change.from} to ${change.to}`;
    case 'policy':
      return `change consolidationPolicy of NodePool "${change.pool}" from ${change.from} to ${change.to}`;
    case 'budget':
      return `let the disruption budgets of NodePool "${change.pool}" allow ${change.nodes} for ${change.reason}`;
    case 'replicas':
      return `lower replicas of NodePool "${change.pool}" from ${change.from} to ${change.to}`;
    case 'min-values':
      return `lower minValues of ${change.key} in NodePool "${change.pool}" to ${change.to}`;
    case 'node-limit':
      return `raise spec.limits.nodes of NodePool "${change.pool}" to ${change.to}`;
    case 'drop-requirement':
      return `drop the requirement on ${change.key} from NodePool "${change.pool}"`;
    case 'scale-down':
      return `scale ${namesText(
        change.owners.map(({ name, replicas }) => `${name} down to ${replicas}`),
        'workload',
      )}, without the pods of this node`;
    case 'cordon':
      return `cordon node ${change.node}, so that no other pod comes to it`;
    case 'suspend':
      return `suspend ${namesText(change.jobs, 'job')}`;
    case 'delete-pods':
      return `delete ${namesText(change.pods, 'pod')}, which nothing would make again`;
    case 'delete-claim':
      return `delete NodeClaim ${change.nodeClaim}`;
    case 'feature-gate':
      return `switch on the feature gate ${change.gate} of the controller`;
  }
}

function namesText(names: readonly string[], one: string): string {
  const more = names.length - NAMED;
  return `${names.slice(0, NAMED).join(', ')}${more > 0 ? ` and ${countText(more, `other ${one}`)}` : ''}`;
}
