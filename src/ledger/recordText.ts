import { choiceText } from './choiceText.ts';
import { disruptionRecordText } from './disruptionRecordText.ts';
import { objectionText } from './objectionText.ts';
import { reasonText } from './reasonText.ts';
import type { PodList } from './podList.ts';
import type { DecisionRecord, LaunchRecord, NominationRecord } from './record.ts';

/** A decision in one line. */
export function recordText(record: DecisionRecord): string {
  switch (record.kind) {
    case 'plan':
      return `planned ${count(record.pods, 'pod')}: ${count(record.plannedNodes, 'new node')} at $${record.pricePerHour.toFixed(4)} per hour, ${record.onExistingNodes} on existing nodes, ${record.unplaced} without a place`;
    case 'launch':
      return launchText(record);
    case 'nomination':
      return `${podsText(record.pods)} on ${nominationTargets(record).join(', ')}`;
    case 'refusal':
      return `${podsText(record.pods)} unschedulable: ${reasonText(record.reason)}`;
    case 'objection':
      return `${podsText(record.pods)} ignored: ${objectionText(record.objection)}`;
    case 'disruption':
    case 'disruption-end':
    case 'kept':
      return disruptionRecordText(record);
  }
}

function launchText({ nodeClaim, nodePool, chosen, pods, choice }: LaunchRecord): string {
  const { instanceType, zone, capacityType, pricePerHour } = chosen;
  const place = zone === '' ? '' : ` in ${zone}`;
  return `NodeClaim ${nodeClaim} of NodePool ${nodePool}: ${instanceType}${place}, ${capacityType}, $${pricePerHour.toFixed(4)} per hour, for ${podsText(pods)}${choice === undefined ? '' : `; ${choiceText(choice)}`}`;
}

/** `nodeclaim/default-x` and `node/aks-x`, as Karpenter writes them in its Nominated event. */
export function nominationTargets({ nodeClaim, node }: Pick<NominationRecord, 'nodeClaim' | 'node'>): string[] {
  return [
    ...(nodeClaim === undefined ? [] : [`nodeclaim/${nodeClaim}`]),
    ...(node === undefined ? [] : [`node/${node}`]),
  ];
}

function podsText({ count: total, names }: PodList): string {
  const [first = 'pod'] = names;
  return total === 1 ? first : `${first} and ${count(total - 1, 'other pod')}`;
}

function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`;
}
