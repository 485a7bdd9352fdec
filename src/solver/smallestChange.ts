/**
 * The smallest change that would place a pod, for each kind of unplaced pod where one change is enough. Every suggestion
 * has been solved for: the pod does get a place with it.
 */
import { podKey } from '../pods/podKey.ts';
import type { Pod } from '../api/kinds.ts';
import type { RequirementItem } from '../constraints/requirement.ts';
import { untoleratedTaints } from '../pods/taints.ts';
import { Quantity } from '../units/quantity.ts';
import { quantityOf } from '../units/resources.ts';
import { isPreferred } from './model/nodeKinds.ts';
import { Model } from './model/model.ts';
import { loadKey, rulesKey } from './model/podShape.ts';
import type { Overlay, PoolOffer, Solution, SolveOptions } from './problem.ts';
import type { SmallestChange, UnplacedReason } from './reasons.ts';

type Ask = (model: Model, overlay: Overlay, options: SolveOptions) => Solution;
type Spec = NonNullable<Pod['spec']>;

interface Candidate {
  readonly change: SmallestChange;
  readonly pod?: Pod;
  readonly pools?: readonly PoolOffer[];
}

/** Kinds of pods that are looked into, and changes tried for each. */
const MAX_KINDS = 25;
const MAX_TRIES = 24;
/** Up to here all pods are placed again with each change; beyond, only those that wait. */
const MAX_PODS = 300;

export function suggestChanges(
  model: Model,
  overlay: Overlay,
  options: SolveOptions,
  solution: Solution,
  ask: Ask,
): Solution {
  const { snapshot } = model;
  const known = new Map<string, SmallestChange | undefined>();
  const byKey = new Map(overlay.pods.map((pod) => [podKey(pod), pod]));
  const unplaced = solution.unplaced.map((entry) => {
    const { reason } = entry;
    const pod = byKey.get(entry.pod);
    if (reason.kind !== 'refused' || pod === undefined) return entry;
    const key = `${pod.spec?.priority ?? 0}\n${loadKey(pod)}\n${rulesKey(pod, snapshot)}`;
    if (!known.has(key) && known.size < MAX_KINDS)
      known.set(key, findChange(model, overlay, options, solution, pod, reason, ask));
    const smallestChange = known.get(key);
    return smallestChange === undefined ? entry : { ...entry, reason: { ...reason, smallestChange } };
  });
  return { ...solution, unplaced };
}

function findChange(
  model: Model,
  overlay: Overlay,
  options: SolveOptions,
  solution: Solution,
  pod: Pod,
  reason: UnplacedReason & { kind: 'refused' },
  ask: Ask,
): SmallestChange | undefined {
  const quiet: SolveOptions = { ...options, searchRounds: 0, suggestChanges: false };
  const others = overlay.pods.length <= MAX_PODS ? overlay.pods.filter((other) => other !== pod) : [];
  const candidates = [
    ...tolerations(model, pod),
    ...looserSelectors(pod),
    ...looserTopology(pod),
    ...smallerRequests(pod, reason),
    ...higherLimits(model, pod, reason, solution),
  ];
  for (const { change, pod: changed = pod, pools } of candidates.slice(0, MAX_TRIES)) {
    const world = pools === undefined ? model : new Model({ ...model.snapshot, pools });
    const again = ask(world, { ...overlay, pods: [...others, changed] }, quiet);
    if (!again.unplaced.some((each) => each.pod === podKey(pod))) return change;
  }
  return undefined;
}

const withSpec = (pod: Pod, spec: Partial<Spec>): Pod => ({ ...pod, spec: { ...(pod.spec as Spec), ...spec } });

function tolerations(model: Model, pod: Pod): Candidate[] {
  const own = pod.spec?.tolerations ?? [];
  return model.pools.flatMap(({ taints, name }): Candidate[] => {
    const missing = untoleratedTaints(taints, own).filter((taint) => !isPreferred(taint));
    if (missing.length === 0) return [];
    const added = missing.map(({ key, value, effect }) => ({ key, operator: 'Equal', value: value ?? '', effect }));
    return [
      {
        change: { kind: 'toleration', pool: name, taints: missing },
        pod: withSpec(pod, { tolerations: [...own, ...added] }),
      },
    ];
  });
}

function looserSelectors(pod: Pod): Candidate[] {
  const { nodeSelector = {}, affinity } = pod.spec ?? {};
  const selectors = Object.entries(nodeSelector).map(([key, value]): Candidate => {
    const { [key]: _, ...rest } = nodeSelector;
    return {
      change: { kind: 'node-selector', key, value },
      pod: withSpec(pod, { nodeSelector: rest }),
    };
  });
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const terms = required?.nodeSelectorTerms ?? [];
  const expressions = terms.flatMap((term, at) =>
    (term.matchExpressions ?? []).map((expression, index): Candidate => {
      const left = (term.matchExpressions ?? []).filter((_, other) => other !== index);
      const changed = terms.map((each, other) => (other === at ? { ...each, matchExpressions: left } : each));
      // A term that says nothing matches nothing: without its last expression the whole affinity goes.
      const nodeAffinity = {
        ...affinity?.nodeAffinity,
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: changed },
      };
      const { requiredDuringSchedulingIgnoredDuringExecution: __, ...free } = nodeAffinity;
      return {
        change: { kind: 'affinity-term', term: expression as RequirementItem },
        pod: withSpec(pod, { affinity: { ...affinity, nodeAffinity: left.length > 0 ? nodeAffinity : free } }),
      };
    }),
  );
  return [...selectors, ...expressions];
}

function looserTopology(pod: Pod): Candidate[] {
  const { topologySpreadConstraints = [], affinity } = pod.spec ?? {};
  const spreads = topologySpreadConstraints.flatMap((constraint, at): Candidate[] => {
    if (constraint.whenUnsatisfiable !== 'DoNotSchedule') return [];
    const { minDomains: _, ...soft } = constraint;
    const changed = topologySpreadConstraints.map((each, other) =>
      other === at ? { ...soft, whenUnsatisfiable: 'ScheduleAnyway' } : each,
    );
    return [
      {
        change: { kind: 'spread', topologyKey: constraint.topologyKey },
        pod: withSpec(pod, { topologySpreadConstraints: changed }),
      },
    ];
  });
  const relations = (['podAffinity', 'podAntiAffinity'] as const).flatMap((kind) => {
    const terms = affinity?.[kind]?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    return terms.map((term, at): Candidate => {
      const left = terms.filter((_, other) => other !== at);
      const changed = { ...affinity?.[kind], requiredDuringSchedulingIgnoredDuringExecution: left };
      return {
        change: {
          kind: 'pod-affinity',
          relation: kind === 'podAffinity' ? 'affinity' : 'anti-affinity',
          topologyKey: term.topologyKey,
        },
        pod: withSpec(pod, { affinity: { ...affinity, [kind]: changed } }),
      };
    });
  });
  return [...spreads, ...relations];
}

/** Down to what the nearest instance type has. */
function smallerRequests(pod: Pod, reason: UnplacedReason & { kind: 'refused' }): Candidate[] {
  return reason.pools.flatMap((refusal): Candidate[] => {
    if (refusal.stage !== 'resources' || !('nearest' in refusal)) return [];
    const { instanceType, lacks } = refusal.nearest;
    const containers = (pod.spec?.containers ?? []).map((each) => ({ ...each, resources: { ...each.resources } }));
    for (const { resource, amount } of lacks) {
      const missing = Quantity.parse(amount);
      const most = containers
        .filter(({ resources }) => resources.requests?.[resource] !== undefined)
        .sort((left, right) =>
          Quantity.parse(right.resources.requests?.[resource] ?? '0').compare(
            Quantity.parse(left.resources.requests?.[resource] ?? '0'),
          ),
        )[0];
      const asked = Quantity.parse(most?.resources.requests?.[resource] ?? '0');
      if (most === undefined || asked.compare(missing) <= 0) return [];
      most.resources = {
        ...most.resources,
        requests: { ...most.resources.requests, [resource]: asked.subtract(missing).toString() },
      };
    }
    return [{ change: { kind: 'requests', less: lacks, instanceType }, pod: withSpec(pod, { containers }) }];
  });
}

/** As much more as the smallest instance type that is enough takes. */
function higherLimits(
  model: Model,
  pod: Pod,
  reason: UnplacedReason & { kind: 'refused' },
  solution: Solution,
): Candidate[] {
  const { pools } = model.snapshot;
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
      return sizes.map((size): Candidate => {
        const needed = taken.add(size).toString();
        const pool = { ...offer.pool, spec: { ...offer.pool.spec, limits: { ...limits, [resource]: needed } } };
        return {
          change: { kind: 'limit', pool: name, resource, from: String(limits[resource]), to: needed },
          pod,
          pools: pools.map((each) => (each === offer ? { ...offer, pool } : each)),
        };
      });
    });
  });
}

/** Different sizes, smallest first; more than a few are not worth trying. */
function sizesOf({ instanceTypes }: PoolOffer, resource: string): Quantity[] {
  const sizes = new Map(
    instanceTypes.map(({ capacity }) => [quantityOf(capacity, resource).toString(), quantityOf(capacity, resource)]),
  );
  return [...sizes.values()].sort((left, right) => left.compare(right)).slice(0, 8);
}
