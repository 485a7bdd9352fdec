/** A cluster whose booting instances have joined, as they will have when a change is carried out. */
import { findCondition } from '../api/conditions.ts';
import { NodeClaimConditions } from '../api/conditionTypes.ts';
import { Kinds, type Node } from '../api/kinds.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import { Labels } from '../api/labels.ts';
import { nodeView } from '../cluster/nodeView.ts';
import { formatResources } from '../units/resources.ts';
import { timestamp } from '../units/timestamp.ts';
import { kindKey, objectsOf, type ClusterObjects } from './clusterObjects.ts';

const READY = 'Ready';
const JOINED: readonly string[] = [NodeClaimConditions.registered, NodeClaimConditions.initialized, READY];

/** Nodes that do not exist yet are named after their claims. Claims without an instance stay as they are. */
export function finishArrivals(objects: ClusterObjects): ClusterObjects {
  const nodes = objectsOf(objects, Kinds.Node);
  const byInstance = new Map(nodes.map((node) => [node.spec?.providerID, node]));
  const joined = new Map<NodeClaim, Node>();
  const replaced = new Set<Node>();
  for (const claim of objectsOf(objects, Kinds.NodeClaim)) {
    const { providerID } = claim.status ?? {};
    if (providerID === undefined || findCondition(claim, NodeClaimConditions.initialized)?.status === 'True') continue;
    const now = byInstance.get(providerID);
    const node = joinedNode(claim, now, objects.time);
    if (node === undefined) continue;
    joined.set(claim, node);
    if (now !== undefined) replaced.add(now);
  }
  if (joined.size === 0) return objects;
  const claims = objectsOf(objects, Kinds.NodeClaim).map((claim) => {
    const node = joined.get(claim);
    return node === undefined ? claim : joinedClaim(claim, node.metadata.name, objects.time);
  });
  const kinds = new Map(objects.kinds);
  kinds.set(kindKey(Kinds.NodeClaim), claims);
  kinds.set(kindKey(Kinds.Node), [...nodes.filter((node) => !replaced.has(node)), ...joined.values()]);
  return { ...objects, kinds };
}

/** Undefined for a node that is being removed. */
function joinedNode(claim: NodeClaim, node: Node | undefined, time: number): Node | undefined {
  const { deleting, labels, taints, capacity, allocatable } = nodeView({ claim, ...(node && { node }) }, []);
  if (deleting) return undefined;
  const name = node?.metadata.name ?? claim.metadata.name;
  const marks = { [Labels.hostname]: name, [Labels.registered]: 'true', [Labels.initialized]: 'true' };
  return {
    ...node,
    metadata: {
      uid: `node-${name}`,
      creationTimestamp: timestamp(time),
      ...node?.metadata,
      name,
      labels: { ...labels, ...node?.metadata.labels, ...marks },
    },
    spec: { ...node?.spec, providerID: claim.status?.providerID ?? '', taints: [...taints] },
    status: {
      ...node?.status,
      capacity: formatResources(capacity),
      allocatable: formatResources(allocatable),
      conditions: [{ type: READY, status: 'True' }],
    },
  };
}

function joinedClaim(claim: NodeClaim, nodeName: string, time: number): NodeClaim {
  const lastTransitionTime = timestamp(time);
  const others = (claim.status?.conditions ?? []).filter(({ type }) => !JOINED.includes(type));
  const conditions = JOINED.map((type) => ({ type, status: 'True' as const, lastTransitionTime, reason: type }));
  return { ...claim, status: { ...claim.status, nodeName, conditions: [...others, ...conditions] } };
}
