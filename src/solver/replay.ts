/**
 * Whether the scheduler can bind the pods of a plan where they are planned: it takes them by priority, and those that it
 * refuses again later. Only rules between pods depend on the order, and only where priorities differ is the order known.
 */
import type { Pod } from '../api/kinds.ts';
import { podKey } from '../pods/podKey.ts';
import { isCrossedBy, withoutPlacements, type CompiledDemand } from './model/compiledDemand.ts';
import type { PodClass, Variant } from './model/podClass.ts';
import { Domains } from './placement/domains.ts';
import type { OpenNode } from './placement/openNode.ts';
import { presentNodes, type Place } from './presentNodes.ts';
import { itemAt } from './rows.ts';

interface Placed {
  readonly podClass: PodClass;
  /** With the wishes dropped: the scheduler may leave them ungranted. */
  readonly variant: Variant;
  readonly priority: number;
  readonly place: Place;
}

/** Up to so many pods those that are refused are also tried again after every other. */
const MAX_EAGER = 400;

/** Spread over hostnames binds a pod only when it comes, and affinity holds wherever there is company. */
const AS_THE_SCHEDULER = {
  avoidsReserved: false,
  isLenient: true,
  keepsZones: false,
  ties: 'best',
  settlesDoubts: false,
} as const;

/** `rank`: the order in which the search placed the classes, lower first. */
export function holdsInOrder(
  compiled: CompiledDemand,
  planned: readonly OpenNode[],
  onExisting: ReadonlyMap<number, readonly Pod[]>,
  rank: (podClass: PodClass) => number,
): boolean {
  if (!dependsOnOrder(compiled)) return true;
  const placed = placements(compiled, planned, onExisting);
  const amongEquals: ((left: PodClass, right: PodClass) => number)[] = [
    () => 0,
    (left, right) => rank(left) - rank(right) || left.id - right.id,
    (left, right) => left.id - right.id,
  ];
  return amongEquals.some((compare) => {
    const order = placed.toSorted(
      (left, right) => right.priority - left.priority || compare(left.podClass, right.podClass),
    );
    const isSmall = order.length <= MAX_EAGER;
    return bindsAll(compiled, planned, order, false) || (isSmall && bindsAll(compiled, planned, order, true));
  });
}

/** Planned nodes in the order in which pods that spread over two keys were given their domains: by the order of the pods. */
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

/** Pods of several priorities, of which some have rules that count others. */
function dependsOnOrder({ classes, isCrossed }: CompiledDemand): boolean {
  if (isCrossed) return true;
  const [first, ...others] = classes;
  if (first === undefined || others.every(({ shape }) => shape.priority === first.shape.priority)) return false;
  return classes.some(({ variants }) => hasOrderedRules(hardest(variants)));
}

/** Anti-affinity keeps pods apart in any order. */
function hasOrderedRules({ domain, hostAffinity, hostLimits }: Variant): boolean {
  return hostAffinity.length > 0 || hostLimits.length > 0 || domain.some(({ kind }) => kind !== 'anti-affinity');
}

const hardest = (variants: readonly Variant[]): Variant => itemAt(variants, variants.length - 1);

function placements(
  { classes }: CompiledDemand,
  planned: readonly OpenNode[],
  onExisting: ReadonlyMap<number, readonly Pod[]>,
): Placed[] {
  const placed: Placed[] = [];
  const add = (podClass: PodClass, pod: Pod, place: Place): void => {
    placed.push({ podClass, variant: hardest(podClass.variants), priority: pod.spec?.priority ?? 0, place });
  };
  if (onExisting.size > 0) {
    const classOf = new Map<string, PodClass>();
    for (const podClass of classes) for (const pod of podClass.pods) classOf.set(podKey(pod), podClass);
    for (const [row, pods] of onExisting) {
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

/** A pod that was refused backs off until all others have been tried. */
function bindInPasses(order: readonly Placed[], bind: (each: Placed) => boolean): boolean {
  let waiting = [...order];
  for (let before = Number.POSITIVE_INFINITY; waiting.length > 0 && waiting.length < before;) {
    before = waiting.length;
    waiting = waiting.filter((each) => !bind(each));
  }
  return waiting.length === 0;
}

/** Pods that were refused are tried again, in their order, whenever another is bound. */
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
