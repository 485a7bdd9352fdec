/**
 * Changes of a pod or of a pool's limits that may place an unplaced pod. Each is a separate edit, so that several can
 * be combined; solving with an edit shows whether it helps.
 */
import type { Pod } from '../api/kinds.ts';
import type { RequirementItem } from '../constraints/requirement.ts';
import { untoleratedTaints } from '../pods/taints.ts';
import { Quantity } from '../units/quantity.ts';
import { quantityOf } from '../units/resources.ts';
import type { Edit, Refused } from './edit.ts';
import { isPreferred } from './model/nodeKinds.ts';
import { isExtended, poolEdits, typesWithResource } from './poolEdits.ts';
import type { PoolOffer, Solution } from './problem.ts';
import type { PoolRefusal, RefusalStage, SmallestChange } from './reasons.ts';
import { roomsWithout, within } from './requestEdits.ts';

type Spec = NonNullable<Pod['spec']>;
/**
 * Which parts of the pod's spec may change: all (through its owner), only tolerations (a pod without an owner), or
 * none.
 */
export type PodSpecChange = 'any' | 'tolerations' | 'none';

/** Ordered from the least to the most intrusive. */
export function editsFor(
  pools: readonly PoolOffer[],
  pod: Pod,
  reason: Refused,
  solution: Solution,
  podSpec: PodSpecChange,
): Edit[] {
  const isWhole = podSpec === 'any';
  const tolerated = podSpec === 'none' ? [] : distinct(tolerations(pools, pod));
  const selectors = isWhole ? looserSelectors(pod) : [];
  const demands = isWhole
    ? [...looserTopology(pod), ...otherPorts(pod, reason), ...distinct(smallerRequests(pod, reason))]
    : [];
  const limits = higherLimits(pools, reason, solution);
  const first = [...tolerated, ...typesWithResource(pools, pod, reason)];
  const near = reason.pools.filter(isNear);
  if (near.length === 0) return [...first, ...selectors, ...demands, ...limits, ...poolEdits(reason.pools)];
  // What the pod selects is had there: something else keeps it out.
  const far = reason.pools.filter((refusal) => !isNear(refusal));
  return [...first, ...demands, ...limits, ...poolEdits(near), ...selectors, ...poolEdits(far)];
}

/** Pools may refuse a pod for the same reason, and one change of the pod is then enough for all of them. */
function distinct(edits: readonly Edit[]): Edit[] {
  const keyOf = ({ change }: Edit): string => JSON.stringify(change.kind === 'toleration' ? change.taints : change);
  return [...new Map(edits.map((edit) => [keyOf(edit), edit] as const).reverse()).values()].reverse();
}

const FAR: readonly RefusalStage[] = ['taints', 'requirements', 'instance-types', 'offerings'];

/** The pool has nodes as the pod selects them, and tolerates. */
const isNear = ({ stage }: PoolRefusal): boolean => !FAR.includes(stage);

function podEdit(change: SmallestChange, edit: (spec: Spec) => Partial<Spec>): Edit {
  return {
    change,
    apply: ({ pod, pools }) => {
      const spec = pod.spec as Spec;
      return { pools, pod: { ...pod, spec: { ...spec, ...edit(spec) } } };
    },
  };
}

function tolerations(pools: readonly PoolOffer[], pod: Pod): Edit[] {
  return pools.flatMap(({ pool: { metadata, spec } }): Edit[] => {
    const { name } = metadata;
    const missing = untoleratedTaints(spec.template.spec.taints ?? [], pod.spec?.tolerations ?? []).filter(
      (taint) => !isPreferred(taint),
    );
    if (missing.length === 0) return [];
    const added = missing.map(({ key, value, effect }) => ({ key, operator: 'Equal', value: value ?? '', effect }));
    return [
      podEdit({ kind: 'toleration', pool: name, taints: missing }, ({ tolerations: own = [] }) => ({
        tolerations: [...own, ...added],
      })),
    ];
  });
}

function looserSelectors(pod: Pod): Edit[] {
  const { nodeSelector = {}, affinity } = pod.spec ?? {};
  const selectors = Object.entries(nodeSelector).map(([key, value]) =>
    podEdit({ kind: 'node-selector', key, value }, ({ nodeSelector: own = {} }) => {
      const { [key]: _, ...rest } = own;
      return { nodeSelector: rest };
    }),
  );
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const expressions = (required?.nodeSelectorTerms ?? []).flatMap(({ matchExpressions = [] }, term) =>
    matchExpressions.map((expression, at) =>
      podEdit({ kind: 'affinity-term', term: expression as RequirementItem }, (spec) =>
        withoutExpression(spec, term, at),
      ),
    ),
  );
  return [...selectors, ...expressions];
}

/** An empty term matches nothing, so removing its last expression removes the whole affinity. */
function withoutExpression(spec: Spec, term: number, at: number): Partial<Spec> {
  const { requiredDuringSchedulingIgnoredDuringExecution: required, ...free } = spec.affinity?.nodeAffinity ?? {};
  if (required === undefined) return {};
  const terms = required.nodeSelectorTerms.map((each, index) =>
    index === term ? { ...each, matchExpressions: without(each.matchExpressions, at) } : each,
  );
  const isSatisfiable = terms.every(
    ({ matchExpressions = [], matchFields = [] }) => matchExpressions.length + matchFields.length > 0,
  );
  const kept = { ...free, requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } };
  return { affinity: { ...spec.affinity, nodeAffinity: isSatisfiable ? kept : free } };
}

const without = <T>(list: readonly T[] = [], at: number): T[] => list.filter((_, index) => index !== at);

function looserTopology(pod: Pod): Edit[] {
  const { topologySpreadConstraints = [], affinity } = pod.spec ?? {};
  const spreads = topologySpreadConstraints.flatMap(({ topologyKey, whenUnsatisfiable }, at) =>
    whenUnsatisfiable === 'DoNotSchedule'
      ? [podEdit({ kind: 'spread', topologyKey }, (spec) => withSoftSpread(spec, at))]
      : [],
  );
  const relations = (['podAffinity', 'podAntiAffinity'] as const).flatMap((kind) =>
    (affinity?.[kind]?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map(({ topologyKey }, at) => {
      const relation = kind === 'podAffinity' ? 'affinity' : 'anti-affinity';
      return podEdit({ kind: 'pod-affinity', relation, topologyKey }, ({ affinity: own }) => ({
        affinity: {
          ...own,
          [kind]: {
            ...own?.[kind],
            requiredDuringSchedulingIgnoredDuringExecution: without(
              own?.[kind]?.requiredDuringSchedulingIgnoredDuringExecution,
              at,
            ),
          },
        },
      }));
    }),
  );
  return [...spreads, ...relations];
}

function withSoftSpread({ topologySpreadConstraints = [] }: Spec, at: number): Partial<Spec> {
  return {
    topologySpreadConstraints: topologySpreadConstraints.map((each, index) => {
      if (index !== at) return each;
      const { minDomains: _, ...soft } = each;
      return { ...soft, whenUnsatisfiable: 'ScheduleAnyway' };
    }),
  };
}

/** Moves the pod off host ports that daemons hold on every node. */
function otherPorts(pod: Pod, reason: Refused): Edit[] {
  const taken = new Set(
    reason.pools.flatMap((refusal) => (refusal.stage === 'host-ports' ? refusal.ports.map(({ port }) => port) : [])),
  );
  if (taken.size === 0) return [];
  return [
    podEdit({ kind: 'host-ports', ports: [...taken].sort((left, right) => left - right) }, ({ containers }) => ({
      containers: containers.map((container) => ({
        ...container,
        ...(container.ports && {
          ports: container.ports.map(({ hostPort, ...port }) =>
            hostPort === undefined || taken.has(hostPort) ? port : { ...port, hostPort },
          ),
        }),
      })),
      ...(pod.spec?.hostNetwork === true && { hostNetwork: false }),
    })),
  ];
}

/** Lowers requests to what the nearest instance type has. */
function smallerRequests(pod: Pod, reason: Refused): Edit[] {
  return reason.pools.flatMap((refusal): Edit[] => {
    if (refusal.stage !== 'resources') return [];
    if ('unknownResource' in refusal) return [withoutResource(refusal.unknownResource)];
    const { instanceType, lacks } = refusal.nearest;
    const change: SmallestChange = { kind: 'requests', less: lacks, instanceType };
    const rooms = roomsWithout(pod, lacks);
    if (rooms !== undefined) return [podEdit(change, (spec) => within(spec, rooms))];
    return lacks.filter(({ resource }) => isExtended(resource)).map(({ resource }) => withoutResource(resource));
  });
}

function withoutResource(resource: string): Edit {
  return podEdit({ kind: 'resource', resource }, ({ containers }) => ({
    containers: containers.map((container) => {
      const { [resource]: _, ...requests } = container.resources?.requests ?? {};
      const { [resource]: __, ...limits } = container.resources?.limits ?? {};
      return { ...container, resources: { ...container.resources, requests, limits } };
    }),
  }));
}

/** Raises limits by what the smallest sufficient instance type needs. */
function higherLimits(pools: readonly PoolOffer[], reason: Refused, solution: Solution): Edit[] {
  return reason.pools.flatMap(({ pool: name, stage }) => {
    const offer = pools.find(({ pool }) => pool.metadata.name === name);
    const limits = offer?.pool.spec.limits as Record<string, string | number> | undefined;
    if (stage !== 'limits' || offer === undefined || limits === undefined) return [];
    const planned = solution.plannedNodes.filter((node) => node.pool === name);
    const capacities = new Map(offer.instanceTypes.map((type) => [type.name, type.capacity]));
    return Object.keys(limits).flatMap((resource) => {
      const capacityOf = (node: (typeof planned)[number]): Quantity =>
        resource === 'nodes'
          ? Quantity.fromValue(1)
          : quantityOf(capacities.get(node.alternatives[0]?.instanceType ?? '') ?? {}, resource);
      const taken = planned.reduce((sum, node) => sum.add(capacityOf(node)), quantityOf(offer.used, resource));
      const sizes = resource === 'nodes' ? [Quantity.fromValue(1)] : sizesOf(offer, resource);
      return sizes.map((size): Edit => {
        const to = taken.add(size).toString();
        return {
          change: { kind: 'limit', pool: name, resource, from: String(limits[resource]), to },
          apply: ({ pod, pools }) => ({ pod, pools: pools.map((each) => withLimit(each, name, resource, to)) }),
        };
      });
    });
  });
}

/** Limits with room for these nodes. */
export function limitsFor(offer: PoolOffer, planned: Solution['plannedNodes']): Edit[] {
  const { name } = offer.pool.metadata;
  const limits = (offer.pool.spec.limits ?? {}) as Record<string, string | number>;
  const capacities = new Map(offer.instanceTypes.map((type) => [type.name, type.capacity]));
  const own = planned.filter(({ pool }) => pool === name);
  // Limits must have room for as many types as minValues asks for.
  const choices = Math.max(1, ...offer.pool.spec.template.spec.requirements.map(({ minValues = 1 }) => minValues));
  const roomFor = ({ alternatives }: (typeof own)[number], resource: string): Quantity => {
    if (resource === 'nodes') return ONE;
    const types = [...new Set(alternatives.map(({ instanceType }) => instanceType))].slice(0, choices);
    const sizes = types.map((type) => quantityOf(capacities.get(type) ?? {}, resource));
    return sizes.reduce((most, size) => (size.compare(most) > 0 ? size : most), Quantity.fromValue(0));
  };
  return Object.keys(limits).flatMap((resource) => {
    const needed = own.reduce((sum, node) => sum.add(roomFor(node, resource)), quantityOf(offer.used, resource));
    if (needed.compare(Quantity.parse(limits[resource] ?? '0')) <= 0) return [];
    const to = needed.toString();
    return [
      {
        change: { kind: 'limit', pool: name, resource, from: String(limits[resource]), to },
        apply: ({ pod, pools }) => ({ pod, pools: pools.map((each) => withLimit(each, name, resource, to)) }),
      },
    ];
  });
}

const ONE = Quantity.fromValue(1);

function withLimit(offer: PoolOffer, pool: string, resource: string, to: string): PoolOffer {
  const { metadata, spec } = offer.pool;
  if (metadata.name !== pool) return offer;
  return { ...offer, pool: { ...offer.pool, spec: { ...spec, limits: { ...spec.limits, [resource]: to } } } };
}

/** Different sizes, smallest first; only a few are worth trying. */
function sizesOf({ instanceTypes }: PoolOffer, resource: string): Quantity[] {
  const sizes = new Map(
    instanceTypes.map(({ capacity }) => [quantityOf(capacity, resource).toString(), quantityOf(capacity, resource)]),
  );
  return [...sizes.values()].sort((left, right) => left.compare(right)).slice(0, 8);
}
