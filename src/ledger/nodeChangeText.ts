import { Annotations } from '../api/labels.ts';
import { countText } from './countText.ts';
import type { NodeChange } from './nodeChange.ts';

const NAMED = 3;

/** The change as an instruction. */
export function nodeChangeText(change: NodeChange): string {
  switch (change.kind) {
    case 'if-savings-last':
      return `${change.change}; the node goes then once the controller expects the savings to last`;
    case 'unprotect-node':
      return `remove the annotation ${Annotations.doNotDisrupt} from node ${change.node}`;
    case 'unprotect-pods':
      return `remove the annotation ${Annotations.doNotDisrupt} from ${namesText(change.pods, 'pod')}`;
    case 'pod-budget':
      return `set maxUnavailable of PodDisruptionBudget ${change.budget} to ${change.maxUnavailable}`;
    case 'pod-budget-least':
      return `set minAvailable of PodDisruptionBudget ${change.budget} to ${change.minAvailable}`;
    case 'pod-budget-unhealthy':
      return `set unhealthyPodEvictionPolicy of PodDisruptionBudget ${change.budget} to AlwaysAllow`;
    case 'pod-budget-selector':
      return `make PodDisruptionBudget ${change.budget} select nothing: eviction supports one budget per pod, and ${change.instead} selects it too`;
    case 'pool-label':
      return `restore the label of NodePool "${change.pool}" on node ${change.node}`;
    case 'node-label':
      return `restore the label ${change.key}=${change.value} on node ${change.node}`;
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
      return `cordon node ${change.node}, so that no new pod is placed on it`;
    case 'suspend':
      return `suspend ${namesText(change.jobs, 'job')}`;
    case 'delete-pods':
      return `delete ${namesText(change.pods, 'pod')}, which nothing would recreate`;
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
