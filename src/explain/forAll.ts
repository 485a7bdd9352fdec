/**
 * Asks a question about one pod for all waiting pods of its owner: a place that another of them would take does not
 * count.
 */
import type { Pod } from '../api/kinds.ts';
import { mergedWith } from '../kube/mergedWith.ts';
import { mergePatch } from '../kube/mergePatch.ts';
import { podKey } from '../pods/podKey.ts';
import type { PlannedNode, PoolOffer, Solution } from '../solver/problem.ts';
import type { Asked } from '../solver/smallestChange.ts';
import { Quantity } from '../units/quantity.ts';
import { quantityOf } from '../units/resources.ts';

export interface OwnPods {
  readonly pod: Pod;
  /** Keys of the other pods of the owner. */
  readonly siblings: ReadonlySet<string>;
  /** A template change brings new pods one by one, and nodes are bought for each as it arrives. */
  readonly inSteps: boolean;
  /** The template has been changed on the way here: the pods that wait are made anew whatever else changes. */
  readonly isRemade?: boolean;
  /** Other pods of the owner that nothing is planned for now, and that wait as well once they are made anew. */
  readonly held?: readonly Pod[];
}

/** Edits of the pod are made to its siblings too, as their owner would. */
export function forAll(asked: Asked, { pod, siblings, inSteps, isRemade = false, held = [] }: OwnPods): Asked {
  const own = podKey(pod);
  const told = (solution: Solution): Solution => {
    const { unplaced } = solution;
    const other = unplaced.find((each) => siblings.has(each.pod));
    if (other === undefined || unplaced.some((each) => each.pod === own)) return solution;
    return { ...solution, unplaced: [...unplaced, { pod: own, reason: other.reason }] };
  };
  // Limits are first removed when larger ones are searched, so check the current pools' limits.
  const isLimited = asked.pools.some(({ pool }) => Object.keys(pool.spec.limits ?? {}).length > 0);
  const ask: Asked['ask'] = (overlay, options, pools) => {
    const edited = overlay.pods.find((each) => podKey(each) === own);
    const change = edited && changeOf(pod, edited);
    if (edited === undefined || (change === undefined && !isRemade)) return told(asked.ask(overlay, options, pools));
    const pods =
      change === undefined
        ? overlay.pods
        : [...overlay.pods, ...held].map((each) =>
            siblings.has(podKey(each)) ? (mergedWith(each, change) as Pod) : each,
          );
    const atOnce = told(asked.ask({ ...overlay, pods }, options, pools));
    const all = [edited, ...pods.filter((each) => siblings.has(podKey(each)))];
    if (!inSteps || !isLimited || all.length === 1 || atOnce.unplaced.some((each) => each.pod === own)) return atOnce;
    const others = pods.filter((each) => !all.includes(each));
    const askFor = (some: readonly Pod[], offers: readonly PoolOffer[]): Solution =>
      asked.ask({ ...overlay, pods: some }, options, offers);
    return stepByStep(atOnce, { own: all.slice(0, MOST_STEPS), others }, pools, askFor);
  };
  const { overlay, options, pools } = asked;
  return { ...asked, ask, solution: isRemade ? ask(overlay, options, pools) : told(asked.solution) };
}

/** Undefined when the template stays: questions put a pod last by its priority, and that alone recreates no pod. */
function changeOf({ spec }: Pod, edited: Pod): ReturnType<typeof mergePatch> {
  const kept = { spec: { ...edited.spec, priority: spec?.priority } };
  if (mergePatch({ spec: { ...spec, priority: spec?.priority } }, kept) === undefined) return undefined;
  return mergePatch({ spec }, { spec: edited.spec });
}

/** Most pods simulated one by one. */
const MOST_STEPS = 8;

/**
 * The plan if each pod arrives after nodes were bought for the earlier ones; the same plan if that makes no difference.
 */
function stepByStep(
  atOnce: Solution,
  { own, others }: { readonly own: readonly Pod[]; readonly others: readonly Pod[] },
  pools: readonly PoolOffer[],
  ask: (pods: readonly Pod[], pools: readonly PoolOffer[]) => Solution,
): Solution {
  const keys = own.map(podKey);
  const nodes: PlannedNode[] = [];
  /** Pods without a new node yet: some of them fit on existing nodes and keep their places there. */
  let besides = others;
  let left = pools;
  for (const [at, pod] of own.entries()) {
    const { plannedNodes, unplaced } = ask([...besides, pod], left);
    const refused = unplaced.find((each) => each.pod === podKey(pod));
    if (refused !== undefined) {
      const first = podKey(own[0] as Pod);
      return { ...atOnce, unplaced: [...atOnce.unplaced, { pod: first, reason: refused.reason }] };
    }
    const node = plannedNodes.find((each) => each.pods.includes(podKey(pod)));
    const planned = atOnce.plannedNodes.find((each) => each.pods.includes(podKey(pod)));
    // The node bought first has the same type as in the plan for all, and no other pods take its room.
    const expected = new Set(planned?.pods);
    const isAsPlanned = [...keys.slice(at), ...(node?.pods ?? [])].every((key) => expected.has(key));
    if (nodes.length === 0 && node !== undefined && typeOf(node) === typeOf(planned) && isAsPlanned) return atOnce;
    nodes.push(...plannedNodes);
    for (const each of plannedNodes) {
      left = left.map((offer) => (offer.pool.metadata.name === each.pool ? withoutShare(offer, each) : offer));
    }
    const bought = new Set(plannedNodes.flatMap(({ pods }) => pods));
    besides = [...besides, pod].filter((each) => !bought.has(podKey(each)));
  }
  return nodes.length === 0 ? atOnce : { ...atOnce, plannedNodes: nodes };
}

const typeOf = (node: PlannedNode | undefined): string | undefined => node?.alternatives[0]?.instanceType;

/** The pool with its limits reduced by the node's usage. */
function withoutShare(offer: PoolOffer, node: PlannedNode): PoolOffer {
  const { spec } = offer.pool;
  const capacity = offer.instanceTypes.find(({ name }) => name === typeOf(node))?.capacity ?? {};
  const limits = Object.fromEntries(
    Object.entries(spec.limits ?? {}).map(([resource, limit]) => {
      const share = resource === 'nodes' ? Quantity.fromValue(1) : quantityOf(capacity, resource);
      const rest = Quantity.parse(String(limit)).subtract(share);
      return [resource, (rest.compare(Quantity.zero) < 0 ? Quantity.zero : rest).toString()];
    }),
  );
  return { ...offer, pool: { ...offer.pool, spec: { ...spec, limits } } };
}
