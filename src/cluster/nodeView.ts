import { schedulingTaints } from '../pods/taints.ts';
import { podRequests } from '../pods/podRequests.ts';
import { NodeClaimConditions } from '../api/conditionTypes.ts';
import type { Node, Pod } from '../api/kinds.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import type { Taint } from '../api/kinds/nodeTemplate.ts';
import { Labels } from '../api/labels.ts';
import { addResources, noResources, parseResources, quantityOf, type Resources } from '../units/resources.ts';
import { isDaemonPod, isTerminal } from '../pods/podPredicates.ts';

/**
 * A node as used by the rest of the code: NodeClaim and Node joined, with the claim's promised values until the Node
 * reports its own. Immutable; recreated when the claim, the Node or a pod on it changes.
 */
export interface NodeView {
  /** The Node's name once it has registered, before that the claim's. */
  readonly name: string;
  readonly providerID: string | undefined;
  readonly node: Node | undefined;
  readonly claim: NodeClaim | undefined;
  readonly nodePool: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  /** Taints that a pod must tolerate; temporary taints are left out until the node is initialized. */
  readonly taints: readonly Taint[];
  readonly capacity: Resources;
  readonly allocatable: Resources;
  /** Sum of the requests of its pods that have not ended. */
  readonly requested: Resources;
  readonly daemonRequested: Resources;
  readonly pods: readonly Pod[];
  readonly registered: boolean;
  readonly initialized: boolean;
  /** Accepts no more pods: being deleted, or its instance is being deleted. */
  readonly deleting: boolean;
}

type Halves = { node: Node; claim?: NodeClaim } | { node?: Node; claim: NodeClaim };

export function nodeView({ node, claim }: Halves, pods: readonly Pod[]): NodeView {
  const managed = claim !== undefined || node?.metadata.labels?.[Labels.nodePool] !== undefined;
  const registered = node !== undefined && (!managed || node.metadata.labels?.[Labels.registered] === 'true');
  const initialized = registered && (!managed || node?.metadata.labels?.[Labels.initialized] === 'true');
  const active = pods.filter((pod) => !isTerminal(pod));
  const source = registered || claim === undefined ? node : claim;
  const labels = source?.metadata.labels ?? {};
  return {
    name: (registered || claim === undefined ? node?.metadata.name : claim.metadata.name) ?? '',
    providerID: node?.spec?.providerID ?? claim?.status?.providerID,
    node,
    claim,
    nodePool: labels[Labels.nodePool],
    labels: claim && !registered ? { ...singleValuedLabels(claim), ...labels } : labels,
    taints: effectiveTaints(node, claim, registered, initialized),
    capacity: promised('capacity', node, claim, initialized),
    allocatable: promised('allocatable', node, claim, initialized),
    requested: sumRequests(active),
    daemonRequested: sumRequests(active.filter(isDaemonPod)),
    pods: active,
    registered,
    initialized,
    deleting: isDeleting(node, claim),
  };
}

const sumRequests = (pods: readonly Pod[]): Resources =>
  pods.reduce<Resources>((sum, pod) => addResources(sum, requestsOf(pod)), noResources);

/** Pods and resource lists are immutable: a recreated view computes only those of new pods. */
const requests = new WeakMap<Pod, Resources>();
const amounts = new WeakMap<object, Resources>();

function requestsOf(pod: Pod): Resources {
  let known = requests.get(pod);
  if (known === undefined) requests.set(pod, (known = podRequests(pod)));
  return known;
}

function amountsOf(list: Readonly<Record<string, string | number>> | undefined): Resources {
  if (list === undefined) return noResources;
  let known = amounts.get(list);
  if (known === undefined) amounts.set(list, (known = parseResources(list)));
  return known;
}

/** Before the launch, a claim promises at least the resources that it requests. */
function promised(
  field: 'capacity' | 'allocatable',
  node: Node | undefined,
  claim: NodeClaim | undefined,
  initialized: boolean,
): Resources {
  const actual = amountsOf(node?.status?.[field]);
  if (initialized || claim === undefined) return actual;
  const expected = amountsOf(claim.status?.[field] ?? claim.spec.resources?.requests);
  const missing = Object.entries(expected).filter(([name]) => quantityOf(actual, name).isZero());
  return { ...actual, ...Object.fromEntries(missing) };
}

function effectiveTaints(
  node: Node | undefined,
  claim: NodeClaim | undefined,
  registered: boolean,
  initialized: boolean,
): readonly Taint[] {
  const taints = (registered || claim === undefined ? node?.spec?.taints : claim.spec.taints) ?? [];
  const startupTaints = claim?.spec.startupTaints ?? [];
  return schedulingTaints(taints, { initialized: initialized || claim === undefined, startupTaints }) as Taint[];
}

function singleValuedLabels(claim: NodeClaim): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const { key, operator, values = [] } of claim.spec.requirements) {
    const [only] = values;
    if (operator === 'In' && values.length === 1 && only !== undefined) labels[key] = only;
  }
  return labels;
}

function isDeleting(node: Node | undefined, claim: NodeClaim | undefined): boolean {
  if (claim === undefined) return node?.metadata.deletionTimestamp !== undefined;
  const terminating = (claim.status?.conditions ?? []).some(
    ({ type, status }) => type === NodeClaimConditions.instanceTerminating && status === 'True',
  );
  return claim.metadata.deletionTimestamp !== undefined || terminating;
}
