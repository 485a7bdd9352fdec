import { choiceText } from './choiceText.ts';
import { countText } from './countText.ts';
import { disruptionRecordText } from './disruptionRecordText.ts';
import { objectionText } from './objectionText.ts';
import type { PodList } from './podList.ts';
import { reasonText } from './reasonText.ts';
import type {
  DecisionRecord,
  EditRecord,
  HintRecord,
  ImagesRecord,
  InstanceRecord,
  LaunchRecord,
  NominationRecord,
  PlanRecord,
  RemovalRecord,
  RepairHeldRecord,
  ReplicasRecord,
} from './record.ts';

type InstanceTypeList = Pick<LaunchRecord, 'instanceTypes' | 'instanceTypeCount'>;

const NAMED_TYPES = 5;
const NAMED_CLAIMS = 3;

/** A decision in one line. */
export function recordText(record: DecisionRecord): string {
  switch (record.kind) {
    case 'plan':
      return planText(record);
    case 'launch':
      return launchText(record);
    case 'launch-failure':
      return `NodeClaim ${record.nodeClaim} was not launched: ${record.reason}, ${record.message}`;
    case 'instance':
      return instanceText(record);
    case 'replicas':
      return replicasText(record);
    case 'removal':
      return removalText(record);
    case 'repair-held':
      return repairHeldText(record);
    case 'nomination':
      return `${podsText(record.pods)} on ${nominationTargets(record).join(', ')}`;
    case 'hint':
      return hintText(record);
    case 'refusal':
      return `${podsText(record.pods)} unschedulable: ${reasonText(record.reason)}`;
    case 'objection':
      return `${podsText(record.pods)} ignored: ${objectionText(record.objection)}`;
    case 'images':
      return imagesText(record);
    case 'edit':
      return editText(record);
    case 'disruption':
    case 'disruption-end':
    case 'kept':
    case 'savings':
    case 'drift':
      return disruptionRecordText(record);
  }
}

function imagesText({ nodeClass, when, from, to, missing, pinned, drifting, claims }: ImagesRecord): string {
  const name = `AKSNodeClass ${nodeClass}`;
  if (missing !== undefined) return `${name} cannot be pinned to image ${missing}: Azure publishes none for it`;
  const which = `image ${to.join(', ') || '(none)'}${from.length === 0 ? '' : ` instead of ${from.join(', ')}`}`;
  const nodes = `${drifting} of ${countText(claims, 'NodeClaim')}`;
  switch (when) {
    case 'now':
      return `${name} boots ${which}${pinned ? ', as pinned' : ''}; ${nodes} drift`;
    case 'window':
      return `${name} will boot ${which} when its maintenance window opens; ${nodes} will drift then`;
    case 'pinned':
      return `${name} would boot ${which} if it were pinned to it; ${nodes} would drift`;
  }
}

function editText({ object, fields, outcome, nodes }: EditRecord): string {
  const { kind, namespace, name } = object;
  const what = `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
  const how = outcome === 'deletion' ? 'was deleted' : `was edited (${fields.join(', ')})`;
  const [first = ''] = nodes.names;
  const isOne = nodes.count === 1;
  const which = isOne ? first : `${first} and ${countText(nodes.count - 1, 'other node')}`;
  const becomes: Readonly<Record<EditRecord['outcome'], string>> = {
    drift: `${which} ${isOne ? 'drifts' : 'drift'}`,
    kept: `${which} ${isOne ? 'is' : 'are'} kept`,
    released: `${which} may be removed`,
    deletion: `${which} ${isOne ? 'is' : 'are'} removed`,
    rules: `other settings for ${which}`,
  };
  return `${what} ${how}: ${becomes[outcome]}`;
}

function planText({ pods, plannedNodes, pricePerHour, onExistingNodes, unplaced, spare }: PlanRecord): string {
  const slack =
    spare === undefined
      ? ''
      : `; ${countText(spare.nodes, 'spare node')} among them at $${spare.pricePerHour.toFixed(4)} per hour, because placement hints are off`;
  const bought =
    plannedNodes === 0 ? '' : `${countText(plannedNodes, 'new node')} at $${pricePerHour.toFixed(4)} per hour, `;
  return `planned ${countText(pods, 'pod')}: ${bought}${onExistingNodes} on existing nodes, ${unplaced} without a place${slack}`;
}

function launchText({ nodeClaim, nodePool, chosen, pods, choice, command }: LaunchRecord): string {
  const { instanceType, zone, capacityType, pricePerHour } = chosen;
  const place = zone === '' ? '' : ` in ${zone}`;
  return `NodeClaim ${nodeClaim} of NodePool ${nodePool}: ${instanceType}${place}, ${capacityType}, $${pricePerHour.toFixed(4)} per hour, ${launchedFor(pods, command)}${choice === undefined ? '' : `; ${choiceText(choice)}`}`;
}

function launchedFor(pods: PodList, command: string | undefined): string {
  const forPods = pods.count === 0 ? '' : `for ${podsText(pods)}`;
  if (command === undefined) return forPods === '' ? 'spare' : forPods;
  return `in place of others${forPods === '' ? '' : `, ${forPods}`}`;
}

function replicasText({ nodePool, replicas, nodes, nodeClaims, limit }: ReplicasRecord): string {
  const held = limit === undefined ? '' : `; its limit of ${limit} nodes allows no more`;
  const made =
    nodeClaims.count === 0
      ? ''
      : `: ${nodeClaims.names.slice(0, NAMED_CLAIMS).join(', ')}${nodeClaims.count > NAMED_CLAIMS ? ` and ${nodeClaims.count - NAMED_CLAIMS} other(s)` : ''} created`;
  return `NodePool ${nodePool} has ${nodes} of ${countText(replicas, 'node')}${made}${held}`;
}

function removalText(record: RemovalRecord): string {
  const { nodeClaim, node, pods } = record;
  const what = node === undefined || node === nodeClaim ? `NodeClaim ${nodeClaim}` : `node ${node} (${nodeClaim})`;
  const moving = pods.count === 0 ? '' : `, ${countText(pods.count, 'pod')} ${pods.count === 1 ? 'moves' : 'move'}`;
  return `${what} is removed: ${removalReason(record)}${moving}`;
}

function removalReason({ reason, condition }: RemovalRecord): string {
  switch (reason) {
    case 'expired':
      return 'it has reached its expireAfter';
    case 'unhealthy':
      return `it has been unhealthy for too long (${condition ?? 'unknown condition'})`;
    case 'instance-gone':
      return 'its instance is no longer in the cloud';
    case 'surplus':
      return 'its static NodePool has more nodes than replicas';
    case 'launch-timeout':
      return 'it was not launched in time';
    case 'registration-timeout':
      return 'its node did not join in time';
    case 'node-deleted':
      return 'its Node was deleted';
  }
}

function repairHeldText({ node, condition, cause }: RepairHeldRecord): string {
  const why =
    cause === 'budget'
      ? 'the budgets of its NodePool allow no more nodes'
      : 'too many nodes are unhealthy, and new ones would probably be unhealthy too';
  return `node ${node} is unhealthy (${condition}) and is not replaced: ${why}`;
}

function instanceText({ nodeClaim, state, offering }: InstanceRecord): string {
  if (offering === undefined) return `${nodeClaim}: ${state}`;
  const { instanceType, zone, capacityType, pricePerHour } = offering;
  const price = pricePerHour === undefined ? '' : `, $${pricePerHour.toFixed(3)}/h`;
  return `${nodeClaim}: ${state} ${instanceType.replace(/^Standard_/, '')} in ${zone} ${capacityType}${price}`;
}

/** `Standard_D4s_v5, Standard_D8s_v5 and 12 other(s)`, as Karpenter logs them. */
export function instanceTypesText({ instanceTypes, instanceTypeCount }: InstanceTypeList): string {
  const more = instanceTypeCount - NAMED_TYPES;
  return instanceTypes.slice(0, NAMED_TYPES).join(', ') + (more > 0 ? ` and ${more} other(s)` : '');
}

function hintText({ pods, node, took }: HintRecord): string {
  if (took === node) return `${podsText(pods)} bound to node/${node} as planned`;
  return `${podsText(pods)} bound to node/${took} instead of node/${node}, where the plan had a place`;
}

/** `nodeclaim/default-x` and `node/aks-x`, as Karpenter writes them in its Nominated event. */
export function nominationTargets({ nodeClaim, node }: Pick<NominationRecord, 'nodeClaim' | 'node'>): string[] {
  return [
    ...(nodeClaim === undefined ? [] : [`nodeclaim/${nodeClaim}`]),
    ...(node === undefined ? [] : [`node/${node}`]),
  ];
}

function podsText({ count, names }: PodList): string {
  const [first = 'pod'] = names;
  return count === 1 ? first : `${first} and ${countText(count - 1, 'other pod')}`;
}
