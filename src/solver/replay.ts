/**
 * Whether the scheduler can bind the pods of a plan where they are planned: it takes them by priority, and those that it
 * refuses again later. Only rules between pods depend on the order, and only where priorities differ is the order known.
 */
import type { Pod } from '../api/kinds.ts';
import { podKey } from '../pods/podKey.ts';
import { withoutPlacements, type CompiledDemand, type PodClass, type Variant } from './model/compiledDemand.ts';
import { Domains } from './placement/domains.ts';
import type { OpenNode } from './placement/openNode.ts';
import { itemAt } from './rows.ts';

/** An existing node by its row, or a planned one. */
type Place = number | OpenNode;

interface Placed {
  readonly podClass: PodClass;
  /** With the wishes dropped: the scheduler may leave them ungranted. */
  readonly variant: Variant;
  readonly priority: number;
  readonly place: Place;
}

/** Spread over hostnames binds a pod only when it comes, and affinity holds wherever there is company. */
const AS_THE_SCHEDULER = {
  avoidsReserved: false,
  isLenient: true,
  keepsZones: false,
  takesLast: false,
  settlesDoubts: false,
};

export function holdsInOrder(
  compiled: CompiledDemand,
  planned: readonly OpenNode[],
  onExisting: ReadonlyMap<number, readonly Pod[]>,
): boolean {
  if (!dependsOnOrder(compiled)) return true;
  const placed = placements(compiled, planned, onExisting);
  const byPriority = (left: Placed, right: Placed): number => right.priority - left.priority;
  const asPlanned = placed.toSorted(byPriority);
  if (bindAll(compiled, asPlanned)) return true;
  return bindAll(
    compiled,
    placed.toSorted((left, right) => byPriority(left, right) || left.podClass.id - right.podClass.id),
  );
}

/** Pods of several priorities, of which some have rules that count others. */
function dependsOnOrder({ classes }: CompiledDemand): boolean {
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

function bindAll(shared: CompiledDemand, order: readonly Placed[]): boolean {
  const compiled = withoutPlacements(shared);
  const domains = new Domains(compiled, AS_THE_SCHEDULER);
  const hosts = new Map<OpenNode, Map<number, number>>();
  const countOn = (place: Place, counter: number): number =>
    typeof place === 'number' ? compiled.counters.at(counter).hosts.on(place) : (hosts.get(place)?.get(counter) ?? 0);
  const allows = ({ podClass, variant, place }: Placed): boolean => {
    const isAllowed =
      typeof place === 'number' ? domains.allowsNode(variant, place) : domains.allowsState(variant, place.state);
    if (!isAllowed) return false;
    const isWithin = variant.hostLimits.every(
      ({ counter, max }) => countOn(place, counter) + (podClass.hostAdds.includes(counter) ? 1 : 0) <= max,
    );
    return (
      isWithin &&
      variant.hostAffinity.every((affinity) => domains.allowsCompany(affinity, place, countOn(place, affinity.counter)))
    );
  };
  const record = ({ podClass, variant, place }: Placed): void => {
    if (typeof place === 'number') {
      domains.recordOnNode(podClass, variant, place, 1);
      return;
    }
    domains.recordInState(podClass, variant, place.state, 1, place);
    const own = hosts.get(place) ?? new Map<number, number>();
    hosts.set(place, own);
    for (const counter of podClass.hostAdds) own.set(counter, (own.get(counter) ?? 0) + 1);
  };
  let waiting = [...order];
  for (let before = Number.POSITIVE_INFINITY; waiting.length > 0 && waiting.length < before;) {
    before = waiting.length;
    waiting = waiting.filter((each) => {
      if (!allows(each)) return true;
      record(each);
      return false;
    });
  }
  return waiting.length === 0;
}
