/** Which topology constraint of a pod no domain satisfies. */
import type { DomainConstraint, PodClass, Variant } from './model/podClass.ts';
import type { PodPlan } from './planOnce.ts';
import type { TopologyConflict } from './reasons.ts';
import { itemAt } from './rows.ts';

const SHOWN_DOMAINS = 25;
const HOSTNAME = 'kubernetes.io/hostname';

/** The constraints that fail in `state`, which is what the pool's nodes can still be for this pod. */
export function topologyConflicts(plan: PodPlan, podClass: PodClass, state: number): TopologyConflict[] {
  const variant = podClass.variants.at(-1);
  if (variant === undefined) return [];
  const failing = failingConstraints(plan, variant, state);
  const conflicts = failing.map((constraint) => conflictOf(plan, constraint));
  if (conflicts.length > 0 || variant.hostAffinity.length === 0) return conflicts;
  return variant.hostAffinity.map(({ counter }) => hostConflict(plan, counter));
}

function failingConstraints(plan: PodPlan, { domain: constraints }: Variant, state: number): DomainConstraint[] {
  const reachable = new Map<string, readonly number[]>();
  const allowedBy = (constraint: DomainConstraint): readonly number[] => {
    const key = keyOf(plan, constraint);
    const known = reachable.get(key) ?? domainsOf(plan, state, key);
    reachable.set(key, known);
    return known.filter((domain) => plan.domains.allows(constraint, domain));
  };
  const isHopeless = (constraint: DomainConstraint): boolean =>
    allowedBy(constraint).length === 0 &&
    !(constraint.kind === 'anti-affinity' && hasNoDomain(plan, constraint, state));
  const alone = constraints.filter(isHopeless);
  if (alone.length > 0) return alone;
  // Each is satisfiable alone, but not all constraints on one key in the same domain.
  for (const key of new Set(constraints.map((each) => keyOf(plan, each)))) {
    const together = constraints.filter((each) => keyOf(plan, each) === key);
    if (together.length < 2) continue;
    const [first = [], ...others] = together.map(allowedBy);
    if (!first.some((domain) => others.every((list) => list.includes(domain)))) return together;
  }
  return [...constraints];
}

const keyOf = ({ compiled }: PodPlan, { counter }: DomainConstraint): string =>
  compiled.counters.at(counter).spec.topologyKey;

/** Domains of the key that nodes in the state can have. */
function domainsOf({ model, compiled }: PodPlan, state: number, key: string): number[] {
  const domains = compiled.counters.domains(key);
  return model.states.valuesOf(state, key).map((value) => domains.numberOf(value));
}

/** Anti-affinity is satisfied on nodes without the label. */
const hasNoDomain = (plan: PodPlan, constraint: DomainConstraint, state: number): boolean =>
  plan.model.states.valuesOf(state, keyOf(plan, constraint)).length === 0;

function conflictOf({ compiled }: PodPlan, constraint: DomainConstraint): TopologyConflict {
  const { spec, domains, counts } = compiled.counters.at(constraint.counter);
  const eligible =
    constraint.kind === 'spread' ? [...compiled.counters.eligible(constraint.counter)] : [...domains.values.keys()];
  const shown = eligible.slice(0, SHOWN_DOMAINS).map((id) => ({ domain: domains.at(id), pods: counts[id] ?? 0 }));
  return {
    kind: constraint.kind,
    topologyKey: spec.topologyKey,
    ...(constraint.kind === 'spread' && { maxSkew: constraint.maxSkew }),
    ...(constraint.kind === 'spread' && constraint.minDomains > 1 && { minDomains: constraint.minDomains }),
    domains: shown,
    more: Math.max(0, eligible.length - SHOWN_DOMAINS),
  };
}

/** Affinity over hostnames: the nodes with matching pods. */
function hostConflict({ compiled, model }: PodPlan, counter: number): TopologyConflict {
  const { hosts } = compiled.counters.at(counter);
  const { nodes, order } = model.existing;
  const holding = [...order].flatMap((node) => {
    const pods = hosts.on(node);
    return pods > 0 ? [{ domain: itemAt(nodes, node).name, pods }] : [];
  });
  return {
    kind: 'affinity',
    topologyKey: HOSTNAME,
    domains: holding.slice(0, SHOWN_DOMAINS),
    more: Math.max(0, holding.length - SHOWN_DOMAINS),
  };
}
