import { Requirements } from '../constraints/requirements.ts';
import type { SmallestChange } from '../solver/reasons.ts';
import type { ObjectName } from './explanation.ts';
import { amountText, quantityText } from './amountText.ts';
import { taintText } from './reasonText.ts';

/** The suggested change as an instruction. */
export function changeText(change: SmallestChange): string {
  switch (change.kind) {
    case 'toleration':
      return `tolerate ${change.taints.map(taintText).join(' and ')} of NodePool "${change.pool}"`;
    case 'node-selector':
      return `drop ${change.key}=${change.value} from nodeSelector`;
    case 'affinity-term':
      return `drop ${Requirements.fromItems([change.term]).toString()} from required node affinity`;
    case 'spread':
      return `change the spread over ${change.topologyKey} to ScheduleAnyway`;
    case 'pod-affinity':
      return `drop the required ${change.relation} over ${change.topologyKey}`;
    case 'host-ports':
      return `drop host port ${change.ports.join(', ')}`;
    case 'resource':
      return `request no ${change.resource}`;
    case 'requests':
      return `request ${change.less.map(amountText).join(' and ')} less, to fit on ${change.instanceType}`;
    case 'pool-taint':
      return `remove ${change.taints.map(taintText).join(' and ')} from NodePool "${change.pool}"`;
    case 'pool-requirement':
      return change.allow === undefined
        ? `drop the requirement on ${change.key} from NodePool "${change.pool}"`
        : `let NodePool "${change.pool}" allow ${Requirements.fromItems([change.allow]).toString()}`;
    case 'pool-label':
      return `give the nodes of NodePool "${change.pool}" the label ${change.key}=${change.value}`;
    case 'min-values':
      return `lower minValues of ${change.key} in NodePool "${change.pool}" to ${change.to}`;
    case 'limit': {
      const { pool, resource, from, to } = change;
      return `raise spec.limits.${resource} of NodePool "${pool}" from ${quantityText(resource, from)} to ${quantityText(resource, to)}`;
    }
  }
}

/** The same for a pod without an owner, or a Job: their spec cannot be changed. */
export function remadeText({ kind, name }: ObjectName, change: string): string {
  const what = kind === 'Pod' ? 'the pod' : `${kind.toLowerCase()}/${name}`;
  return `delete ${what} and create it again: ${change}`;
}
