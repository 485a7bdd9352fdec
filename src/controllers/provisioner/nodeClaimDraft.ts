import { apiVersionOf } from '../../api/object.ts';
import { Kinds } from '../../api/kinds.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import { Annotations, Labels, WELL_KNOWN_LABELS } from '../../api/labels.ts';
import { NODE_POOL_HASH_VERSION, nodePoolHash } from '../../api/nodePoolHash.ts';
import { Requirement } from '../../constraints/requirement.ts';
import type { Requirements } from '../../constraints/requirements.ts';
import type { Draft } from '../../kube/kube.ts';
import type { NewNode } from '../../solver/problem.ts';
import { formatResources } from '../../units/resources.ts';

/** Instance types that one NodeClaim may name. */
const MAX_INSTANCE_TYPES = 600;

/** The NodeClaim that asks for a machine the solver has planned. */
export function nodeClaimDraft(node: NewNode, random: () => number): Draft<NodeClaim> {
  const { pool } = node;
  const { metadata, spec: template } = pool.spec.template;
  const { nodeClassRef, taints, startupTaints, expireAfter, terminationGracePeriod } = template;
  const alternatives = node.alternatives.slice(0, MAX_INSTANCE_TYPES);
  const requirements = node.requirements.add(
    Requirement.of(Labels.instanceType, 'In', distinct(alternatives.map(({ instanceType }) => instanceType.name))),
    Requirement.of(Labels.capacityType, 'In', distinct(alternatives.map(({ capacityType }) => capacityType))),
  );
  return {
    metadata: {
      generateName: `${pool.metadata.name}-`,
      labels: {
        ...customLabels(requirements, random),
        ...metadata?.labels,
        [Labels.nodePool]: pool.metadata.name,
        [`${nodeClassRef.group}/${nodeClassRef.kind.toLowerCase()}`]: nodeClassRef.name,
      },
      annotations: {
        ...metadata?.annotations,
        [Annotations.nodePoolHash]: nodePoolHash(pool),
        [Annotations.nodePoolHashVersion]: NODE_POOL_HASH_VERSION,
      },
      ownerReferences: [
        {
          apiVersion: apiVersionOf(Kinds.NodePool),
          kind: Kinds.NodePool.kind,
          name: pool.metadata.name,
          uid: pool.metadata.uid ?? '',
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      nodeClassRef,
      requirements: requirements.toItems() as NodeClaim['spec']['requirements'],
      resources: { requests: formatResources(node.requests) },
      expireAfter,
      ...(taints && { taints }),
      ...(startupTaints && { startupTaints }),
      ...(terminationGracePeriod !== undefined && { terminationGracePeriod }),
    },
  };
}

const distinct = (values: readonly string[]): string[] => [...new Set(values)];

/** Labels of the user's own that requirements leave open get a value now, so that the node has one. */
function customLabels(requirements: Requirements, random: () => number): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const requirement of requirements) {
    if (WELL_KNOWN_LABELS.has(requirement.key) || requirement.key === Labels.hostname) continue;
    const value = requirement.anyValue(random);
    if (value !== undefined) labels[requirement.key] = value;
  }
  return labels;
}
