/** Why a pod of a DaemonSet waits: it may run on one node only, and none is bought for it. */
import type { Pod } from '../api/kinds.ts';
import type { NodeView } from '../cluster/nodeView.ts';
import { NODE_NAME_FIELD, requirementTerms } from '../constraints/podRequirements.ts';
import { changeText } from '../ledger/changeText.ts';
import type { ExplainedFix, Explanation } from '../ledger/explanation.ts';
import { podChangeText } from '../ledger/podChangeText.ts';
import { podStateText, type PodState } from '../ledger/podStateText.ts';
import { hostPortsClash, hostPortsOf } from '../pods/hostPorts.ts';
import { podKey } from '../pods/podKey.ts';
import { podRequests } from '../pods/podRequests.ts';
import { isReschedulable } from '../pods/podPredicates.ts';
import type { Amount } from '../solver/reasons.ts';
import { roomsWithout, within } from '../solver/requestEdits.ts';
import { Quantity } from '../units/quantity.ts';
import { fits, quantityOf, subtractResources } from '../units/resources.ts';
import { hasTemplate, templatePatches, type PodSource } from './podFixes.ts';
import { podTarget } from './proposal.ts';

/** The node that the pod is made for; undefined when it is gone. */
export function nodeOfDaemon(pod: Pod, views: readonly NodeView[]): NodeView | undefined {
  const names = requirementTerms(pod).flatMap((term) => term.find(NODE_NAME_FIELD) ?? []);
  return views.find(({ name }) => names.some((wanted) => wanted.has(name)));
}

export function explainDaemon(pod: Pod, source: PodSource, node: NodeView | undefined): Explanation {
  const { state, fixes } = judged(pod, source, node);
  return { object: podTarget(pod), sentence: podStateText(state), constraint: state.kind, evidence: [], fixes };
}

interface Judged {
  readonly state: PodState;
  readonly fixes: readonly ExplainedFix[];
}

function judged(pod: Pod, source: PodSource, node: NodeView | undefined): Judged {
  if (node === undefined) return { state: { kind: 'daemon-node-gone' }, fixes: [] };
  const lacks = lackOf(pod, node);
  if (lacks.length > 0) {
    const fixes = [...smallerFix(pod, source, node, lacks), ...wayFix(node, (other) => isEnough(other, lacks))];
    return { state: { kind: 'daemon-resources', node: node.name, lacks }, fixes };
  }
  const ports = hostPortsOf(pod);
  const holder = node.pods.find((other) => clashes(other, ports));
  if (holder !== undefined) {
    const state: PodState = { kind: 'daemon-host-ports', node: node.name, holder: podKey(holder) };
    return { state, fixes: wayFix(node, (other) => clashes(other, ports)) };
  }
  return { state: { kind: 'fits', node: node.name }, fixes: [] };
}

const clashes = (other: Pod, ports: ReturnType<typeof hostPortsOf>): boolean =>
  hostPortsOf(other).some((taken) => ports.some((port) => hostPortsClash(port, taken)));

function lackOf(pod: Pod, { allocatable, requested }: NodeView): readonly Amount[] {
  const free = subtractResources(allocatable, requested);
  return Object.entries(podRequests(pod)).flatMap(([resource, amount]) => {
    const missing = amount.subtract(quantityOf(free, resource));
    return missing.compare(Quantity.zero) > 0 ? [{ resource, amount: missing.toString() }] : [];
  });
}

/** Its template asks for what the node has left. */
function smallerFix(pod: Pod, source: PodSource, node: NodeView, lacks: readonly Amount[]): readonly ExplainedFix[] {
  const rooms = roomsWithout(pod, lacks);
  if (rooms === undefined || !hasTemplate(source)) return [];
  const after = { ...source.spec, ...within(source.spec, rooms) };
  const sentence = changeText({ kind: 'requests', less: lacks, instanceType: node.name });
  return [{ sentence, patches: templatePatches(source, after) }];
}

/** The smallest pod of the node that would leave enough, and that something makes again, on another node. */
function wayFix({ pods }: NodeView, isOne: (pod: Pod) => boolean): readonly ExplainedFix[] {
  const [smallest] = pods
    .filter((pod) => isOne(pod) && isReschedulable(pod) && isMadeAgain(pod))
    .sort((one, other) => cpuOf(one).compare(cpuOf(other)));
  if (smallest === undefined) return [];
  const sentence = podChangeText({ kind: 'make-way', pod: podKey(smallest) });
  return [{ sentence, patches: [{ target: podTarget(smallest), type: 'delete', patch: {} }] }];
}

const isMadeAgain = ({ metadata }: Pod): boolean =>
  (metadata.ownerReferences ?? []).some(({ controller }) => controller === true);

const cpuOf = (pod: Pod): Quantity => quantityOf(podRequests(pod), 'cpu');

function isEnough(pod: Pod, lacks: readonly Amount[]): boolean {
  const wanted = Object.fromEntries(lacks.map(({ resource, amount }) => [resource, Quantity.parse(amount)]));
  return fits(wanted, podRequests(pod));
}
