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
    const change = edited && mergePatch({ spec: pod.spec }, { spec: edited.spec });
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
      asked.ask({ ...overlay, pods: [...others, ...some] }, options, offers);
    return stepByStep(atOnce, all.slice(0, MOST_STEPS), pools, askFor);
  };
  const { overlay, options, pools } = asked;
  return { ...asked, ask, solution: isRemade ? ask(overlay, options, pools) : told(asked.solution) };
}

/** Most pods simulated one by one. */
const MOST_STEPS = 8;

/**
 * The plan if each pod arrives after nodes were bought for the earlier ones; the same plan if that makes no difference.
 */
function stepByStep(
  atOnce: Solution,
  pods: readonly Pod[],
  pools: readonly PoolOffer[],
  ask: (pods: readonly Pod[], pools: readonly PoolOffer[]) => Solution,
): Solution {
  const own = new Set(pods.map(podKey));
  const nodes: PlannedNode[] = [];
  /** Pods that fit on existing nodes; they keep their places. */
  const seated: Pod[] = [];
  let left = pools;
  for (const pod of pods) {
    const { plannedNodes, unplaced } = ask([...seated, pod], left);
    const refused = unplaced.find((each) => each.pod === podKey(pod));
    if (refused !== undefined) {
      const first = podKey(pods[0] as Pod);
      return { ...atOnce, unplaced: [...atOnce.unplaced, { pod: first, reason: refused.reason }] };
    }
    const node = plannedNodes.find((each) => each.pods.includes(podKey(pod)));
    const planned = atOnce.plannedNodes.find((each) => each.pods.includes(podKey(pod)));
    if (node === undefined) {
      seated.push(pod);
      continue;
    }
    // The node bought first has the same type as in the plan for all.
    if (nodes.length === 0 && typeOf(node) === typeOf(planned)) return atOnce;
    nodes.push(node);
    left = left.map((offer) => (offer.pool.metadata.name === node.pool ? withoutShare(offer, node) : offer));
  }
  if (nodes.length === 0) return atOnce;
  const others = atOnce.plannedNodes.filter((node) => !node.pods.some((pod) => own.has(pod)));
  return { ...atOnce, plannedNodes: [...others, ...nodes] };
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
