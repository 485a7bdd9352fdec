/**
 * Whether the scheduler can bind a plan's pods where they are planned. It takes pods by priority and retries refused
 * ones later. Only rules between pods depend on the order; the order within a priority is unknown, so the check tries
 * orders in which workloads come one after another.
 */
import type { Pod } from '../api/kinds.ts';
import { podKey } from '../pods/podKey.ts';
import { controllerOf } from '../pods/podKind.ts';
import { isCrossedBy, withoutPlacements, type CompiledDemand } from './model/compiledDemand.ts';
import type { PodClass, Variant } from './model/podClass.ts';
import { Domains } from './placement/domains.ts';
import type { OpenNode } from './placement/openNode.ts';
import { presentNodes, type Place } from './presentNodes.ts';
import { intAt, itemAt } from './rows.ts';

interface Placed {
  readonly podClass: PodClass;
  /** With its preferences dropped: the scheduler may ignore them. */
  readonly variant: Variant;
  readonly priority: number;
  readonly workload: string;
  readonly place: Place;
}

/** Up to this many pods, refused pods are also retried after every other pod. */
const MAX_EAGER = 400;

/** Spread over hostnames restricts a pod only when it is bound, and affinity accepts any matching pod. */
const AS_THE_SCHEDULER = {
  avoidsReserved: false,
  isLenient: true,
  keepsZones: 'none',
  comparesOpened: false,
  ties: 'best',
  settlesDoubts: false,
} as const;

/**
 * `rank`: order in which the search placed the classes, lower first; `isByClass`: placed class by class, by priority,
 * and nothing moved afterwards.
 */
export function holdsInOrder(
  compiled: CompiledDemand,
  planned: readonly OpenNode[],
  onExisting: ReadonlyMap<number, readonly Pod[]>,
  rank: (podClass: PodClass) => number,
  isByClass: boolean,
): boolean {
  if (!dependsOnOrder(compiled) || (isByClass && !splitsWorkloads(compiled))) return true;
  const placed = placements(compiled, planned, onExisting);
  const byClass = placed.toSorted((left, right) => left.podClass.id - right.podClass.id);
  const byRank = byClass.toSorted((left, right) => rank(left.podClass) - rank(right.podClass));
  const amongEquals = [() => 0, comingAsIn(byRank), comingAsIn(byClass)];
  return amongEquals.some((compare) => {
    const order = placed.toSorted((left, right) => right.priority - left.priority || compare(left, right));
    const isSmall = order.length <= MAX_EAGER;
    return bindsAll(compiled, planned, order, false) || (isSmall && bindsAll(compiled, planned, order, true));
  });
}

/**
 * Workload by workload, in order of each workload's first pod in the list. Pods of a workload stay together: a plan
 * that needs another workload's pods in between is valid only by luck.
 */
function comingAsIn(list: readonly Placed[]): (left: Placed, right: Placed) => number {
  const turns = new Map<string, number>();
  for (const { workload } of list) if (!turns.has(workload)) turns.set(workload, turns.size);
  const turn = ({ workload }: Placed): number => turns.get(workload) ?? 0;
  return (left, right) => turn(left) - turn(right);
}

/**
 * Whether a workload has pods of several classes and one priority: then, class by class, another workload may come in
 * between.
 */
function splitsWorkloads({ classes }: CompiledDemand): boolean {
  const classOf = new Map<string, PodClass>();
  return classes.some((podClass) =>
    podClass.pods.some((pod) => {
      const name = `${workloadOf(pod)}\n${podClass.shape.priority}`;
      const first = classOf.get(name) ?? podClass;
      classOf.set(name, first);
      return first !== podClass;
    }),
  );
}

/** Pods without a controller belong together when their names differ only in the last part. */
function workloadOf(pod: Pod): string {
  return controllerOf(pod) ?? podKey(pod).replace(/-[^-]*$/, '');
}

/** Sorts planned nodes by the order of their pods, in which pods that spread over two keys were given their domains. */
export function sortByPods(compiled: CompiledDemand, planned: OpenNode[]): void {
  if (!compiled.isCrossed) return;
  const placeOf = new Map<Pod, number>();
  for (const { variants, pods } of compiled.classes) {
    if (isCrossedBy(hardest(variants), compiled.counters)) for (const [at, pod] of pods.entries()) placeOf.set(pod, at);
  }
  const first = new Map(
    planned.map((node) => {
      const places = node.entries.flatMap(({ pods }) => pods.map((pod) => placeOf.get(pod) ?? Number.MAX_SAFE_INTEGER));
      return [node, Math.min(...places)];
    }),
  );
  planned.sort((left, right) => (first.get(left) ?? 0) - (first.get(right) ?? 0));
}

/** Several classes of pods, some with rules that count others. */
function dependsOnOrder({ classes, isCrossed }: CompiledDemand): boolean {
  if (isCrossed) return true;
  if (classes.length < 2) return false;
  return classes.some(({ variants }) => hasOrderedRules(hardest(variants)));
}

/** Anti-affinity keeps pods apart in any order. */
function hasOrderedRules({ domain, hostAffinity, hostLimits }: Variant): boolean {
  return hostAffinity.length > 0 || hostLimits.length > 0 || domain.some(({ kind }) => kind !== 'anti-affinity');
}

const hardest = (variants: readonly Variant[]): Variant => itemAt(variants, variants.length - 1);

function placements(
  { classes, model }: CompiledDemand,
  planned: readonly OpenNode[],
  onExisting: ReadonlyMap<number, readonly Pod[]>,
): Placed[] {
  const placed: Placed[] = [];
  const add = (podClass: PodClass, pod: Pod, place: Place): void => {
    const priority = pod.spec?.priority ?? 0;
    placed.push({ podClass, variant: hardest(podClass.variants), priority, workload: workloadOf(pod), place });
  };
  if (onExisting.size > 0) {
    const classOf = new Map<string, PodClass>();
    for (const podClass of classes) for (const pod of podClass.pods) classOf.set(podKey(pod), podClass);
    const { rank } = model.existing;
    for (const [row, pods] of [...onExisting].sort(([left], [right]) => intAt(rank, left) - intAt(rank, right))) {
      for (const pod of pods) {
        const podClass = classOf.get(podKey(pod));
        if (podClass !== undefined) add(podClass, pod, row);
      }
    }
  }
  for (const node of planned) {
    for (const { podClass, pods } of node.entries) for (const pod of pods) add(podClass, pod, node);
  }
  return placed;
}

function bindsAll(
  shared: CompiledDemand,
  planned: readonly OpenNode[],
  order: readonly Placed[],
  isEager: boolean,
): boolean {
  const compiled = withoutPlacements(shared);
  const domains = new Domains(compiled, AS_THE_SCHEDULER);
  const present = presentNodes(compiled, planned);
  const allows = ({ podClass, variant, place }: Placed): boolean =>
    variant.domain.every((constraint) => {
      const domain = domains.domainOf(constraint.counter, place);
      if (domains.allows(constraint, domain)) return true;
      return (
        constraint.kind === 'spread' &&
        domain >= 0 &&
        domains.levels(constraint, domain, present.domains(constraint.counter))
      );
    }) &&
    variant.hostLimits.every((limit) => {
      const most = present.podsOn(place, limit.counter) + (podClass.hostAdds.includes(limit.counter) ? 1 : 0);
      return most <= limit.max || most - present.fewestOnHosts(limit) <= limit.max;
    }) &&
    variant.hostAffinity.every((affinity) =>
      domains.allowsCompany(affinity, place, present.podsOn(place, affinity.counter)),
    );
  const bind = (each: Placed): boolean => {
    if (!allows(each)) return false;
    const { podClass, variant, place } = each;
    if (typeof place === 'number') {
      domains.recordOnNode(podClass, variant, place, 1);
      return true;
    }
    domains.recordInState(podClass, variant, place.state, 1, place);
    present.add(place, podClass.hostAdds);
    return true;
  };
  return isEager ? bindEagerly(order, bind) : bindInPasses(order, bind);
}

/** A refused pod backs off until all others have been tried. */
function bindInPasses(order: readonly Placed[], bind: (each: Placed) => boolean): boolean {
  let waiting = [...order];
  for (let before = Number.POSITIVE_INFINITY; waiting.length > 0 && waiting.length < before;) {
    before = waiting.length;
    waiting = waiting.filter((each) => !bind(each));
  }
  return waiting.length === 0;
}

/** Refused pods are retried, in their order, after every binding. */
function bindEagerly(order: readonly Placed[], bind: (each: Placed) => boolean): boolean {
  const refused: Placed[] = [];
  for (const each of order) {
    if (!bind(each)) {
      refused.push(each);
      continue;
    }
    for (let at = 0; at < refused.length;) {
      if (!bind(itemAt(refused, at))) {
        at += 1;
        continue;
      }
      refused.splice(at, 1);
      at = 0;
    }
  }
  return refused.length === 0;
}
