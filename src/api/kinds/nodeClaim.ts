/** NodeClaim: one instance, from the request for it to its removal. */
import type { KubeObject } from '../object.ts';
import { Groups } from '../labels.ts';
import { object, quantities, required, string } from '../schema/builder.ts';
import type { Infer } from '../schema/builder.ts';
import type { KindDefinition } from '../schema/kindDefinition.ts';
import { conditionList } from './conditionList.ts';
import { expireAfter, nodeClassRef, startupTaints, taints, terminationGracePeriod } from './nodeTemplate.ts';
import { requirements } from './requirement.ts';

const spec = object(
  {
    expireAfter,
    nodeClassRef: required(nodeClassRef()),
    requirements: required(requirements('allowed')),
    resources: object(
      { requests: quantities({ description: 'The least that the instance must offer to pods.' }) },
      { description: 'What the pods that caused this claim need together.' },
    ),
    startupTaints,
    taints,
    terminationGracePeriod,
  },
  {
    description: 'The instance that is wanted. It cannot be changed: delete the claim to get another instance.',
    rules: [{ rule: 'self == oldSelf', message: 'the spec of a NodeClaim cannot be changed; delete it instead' }],
  },
);

const status = object(
  {
    allocatable: quantities({ description: 'What pods can use of the instance, by estimate until it has joined.' }),
    capacity: quantities({ description: 'The whole instance, by estimate until it has joined.' }),
    conditions: conditionList({ reasonAndMessage: 'optional', uniqueTypes: true }),
    imageID: string({ description: 'The image that the instance was created from.' }),
    lastPodEventTime: string({
      description: 'When a pod last came to or left the node; `consolidateAfter` counts from here.',
      format: 'date-time',
    }),
    nodeName: string({ description: 'The Node that the instance became.' }),
    providerID: string({ description: 'What the cloud calls the instance.' }),
  },
  { description: 'How far the instance has come.' },
);

export type NodeClaimSpec = Infer<typeof spec>;
export type NodeClaimStatus = Infer<typeof status>;

export interface NodeClaim extends KubeObject {
  spec: NodeClaimSpec;
  status?: NodeClaimStatus;
}

export const nodeClaimDefinition: KindDefinition<NodeClaimSpec, NodeClaimStatus> = {
  group: Groups.karpenter,
  kind: 'NodeClaim',
  plural: 'nodeclaims',
  scope: 'Cluster',
  shortNames: [],
  categories: ['karpenter', 'nap'],
  description:
    'A NodeClaim stands for one instance: it is launched, registers as a Node, is initialised, and is drained and ' +
    'removed when the claim is deleted. Its conditions say how far it has come.',
  versions: [{ name: 'v1', storage: true }],
  columns: [
    { name: 'Type', type: 'string', jsonPath: '.metadata.labels.node\\.kubernetes\\.io/instance-type' },
    { name: 'Capacity', type: 'string', jsonPath: '.metadata.labels.karpenter\\.sh/capacity-type' },
    { name: 'Zone', type: 'string', jsonPath: '.metadata.labels.topology\\.kubernetes\\.io/zone' },
    { name: 'Node', type: 'string', jsonPath: '.status.nodeName' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    { name: 'NodePool', type: 'string', jsonPath: '.metadata.labels.karpenter\\.sh/nodepool', priority: 1 },
    { name: 'NodeClass', type: 'string', jsonPath: '.spec.nodeClassRef.name', priority: 1 },
    { name: 'Drifted', type: 'string', jsonPath: '.status.conditions[?(@.type=="Drifted")].status', priority: 1 },
  ],
  spec: required(spec),
  status,
};
