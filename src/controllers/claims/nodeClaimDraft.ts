import { apiVersionOf } from '../../api/object.ts';
import { Kinds, type Pod } from '../../api/kinds.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import type { NodePool } from '../../api/kinds/nodePool.ts';
import { Annotations, Finalizers, Labels, nodeClassLabelKey, WELL_KNOWN_LABELS } from '../../api/labels.ts';
import { NODE_POOL_HASH_VERSION, nodePoolHash } from '../../api/nodePoolHash.ts';
import { formatPlannedOfferings } from '../../cloud/plannedOfferings.ts';
import { formatPlannedKinds } from '../../cluster/plannedKinds.ts';
import { Requirement } from '../../constraints/requirement.ts';
import { Requirements } from '../../constraints/requirements.ts';
import type { Draft } from '../../kube/kube.ts';
import type { PlannedNode, PoolOffer } from '../../solver/problem.ts';

/** Most instance types in one NodeClaim. */
const MAX_INSTANCE_TYPES = 600;

/** Labels that only appear in the requirements of simulations. */
const SIMULATED: ReadonlySet<string> = new Set([Labels.hostname, Labels.registered, Labels.initialized]);

/** Facts of the plan that the claim records. */
interface Remembered {
  /** Whether overlays changed prices or capacities of the claim's instance types. */
  readonly price?: boolean;
  readonly capacity?: boolean;
  /** The pods for which the node is bought. */
  readonly pods?: readonly Pod[];
}

/** The NodeClaim for a planned node of the pool. */
export function nodeClaimDraft(
  node: PlannedNode,
  { pool, instanceTypes }: Pick<PoolOffer, 'pool' | 'instanceTypes'>,
  random: () => number,
  { price, capacity, pods = [] }: Remembered = {},
): Draft<NodeClaim> {
  const names = distinct(node.alternatives.map(({ instanceType }) => instanceType)).slice(0, MAX_INSTANCE_TYPES);
  const kept = new Set(names);
  const capacityTypes = node.alternatives
    .filter(({ instanceType }) => kept.has(instanceType))
    .map(({ capacityType }) => capacityType);
  const requirements = Requirements.fromItems(node.requirements).add(
    Requirement.of(Labels.instanceType, 'In', names),
    Requirement.of(Labels.capacityType, 'In', distinct(capacityTypes)),
  );
  const described = new Set(instanceTypes.find(({ name }) => name === names[0])?.requirements.keys());
  const claim = claimOfPool(pool, requirements, (key) => described.has(key), random, node.requests);
  const annotations = {
    ...claim.metadata.annotations,
    [Annotations.minValuesRelaxed]: String(node.minValuesRelaxed),
    [Annotations.plannedOfferings]: formatPlannedOfferings(node.alternatives),
    ...(pods.length > 0 && { [Annotations.plannedPods]: formatPlannedKinds(pods) }),
    ...(price && { [Annotations.priceOverlayApplied]: 'true' }),
    ...(capacity && { [Annotations.capacityOverlayApplied]: 'true' }),
  };
  return { ...claim, metadata: { ...claim.metadata, annotations } };
}

/** A claim with only the requirements of its static pool; the cloud chooses the instance type. */
export function staticClaimDraft(
  pool: NodePool,
  described: ReadonlySet<string>,
  random: () => number,
): Draft<NodeClaim> {
  const requirements = Requirements.fromItems(pool.spec.template.spec.requirements);
  return claimOfPool(pool, requirements, (key) => described.has(key), random);
}

function claimOfPool(
  pool: NodePool,
  requirements: Requirements,
  isDescribed: (key: string) => boolean,
  random: () => number,
  requests?: PlannedNode['requests'],
): Draft<NodeClaim> {
  const { metadata, spec: template } = pool.spec.template;
  const { nodeClassRef, taints, startupTaints, expireAfter, terminationGracePeriod } = template;
  const ownLabels = {
    ...metadata?.labels,
    [Labels.nodePool]: pool.metadata.name,
    [nodeClassLabelKey(nodeClassRef.group, nodeClassRef.kind)]: nodeClassRef.name,
  };
  const asked = requirements.without(...SIMULATED).merge(Requirements.fromLabels(ownLabels));
  return {
    metadata: {
      generateName: `${pool.metadata.name}-`,
      // Set at creation, so that no write is needed before the launch.
      finalizers: [Finalizers.termination],
      labels: { ...customLabels(asked, isDescribed, random), ...ownLabels },
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
      requirements: asked.toItems() as NodeClaim['spec']['requirements'],
      ...(requests && { resources: { requests } }),
      expireAfter,
      ...(taints && { taints }),
      ...(startupTaints && { startupTaints }),
      ...(terminationGracePeriod !== undefined && { terminationGracePeriod }),
    },
  };
}

const distinct = (values: readonly string[]): string[] => [...new Set(values)];

/**
 * Sets values of user-defined labels that the node must have and that requirements leave open. A label that may be
 * absent stays absent, because the plan was made without it (Karpenter invents a number for `NotIn`). Labels that
 * describe instance types are set by the cloud.
 */
function customLabels(
  requirements: Requirements,
  isDescribed: (key: string) => boolean,
  random: () => number,
): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const requirement of requirements) {
    if (WELL_KNOWN_LABELS.has(requirement.key) || isDescribed(requirement.key)) continue;
    if (requirement.allowsAbsence) continue;
    const value = requirement.anyValue(random);
    if (value !== undefined) labels[requirement.key] = value;
  }
  return labels;
}
