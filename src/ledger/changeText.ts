import { Requirements } from '../constraints/requirements.ts';
import type { SmallestChange } from '../solver/reasons.ts';
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
      return `let the spread over ${change.topologyKey} be ScheduleAnyway`;
    case 'pod-affinity':
      return `drop the required ${change.relation} over ${change.topologyKey}`;
    case 'requests':
      return `ask for ${change.less.map(amountText).join(' and ')} less, to fit on ${change.instanceType}`;
    case 'limit': {
      const { pool, resource, from, to } = change;
      return `raise spec.limits.${resource} of NodePool "${pool}" from ${quantityText(resource, from)} to ${quantityText(resource, to)}`;
    }
  }
}
