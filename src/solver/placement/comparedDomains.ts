/**
 * Domains that a spread compares. A domain that only pods of other rules could open counts once they open it, because
 * the scheduler compares only existing nodes: a pod that may go to two zones need not wait for pods in a third zone
 * that has no node.
 */
import type { CompiledDemand } from '../model/compiledDemand.ts';
import type { DomainConstraint, PodClass, Variant } from '../model/podClass.ts';

export class ComparedDomains {
  private readonly compiled: CompiledDemand;
  private readonly reachable: ReadonlyMap<DomainConstraint, ReadonlySet<number>>;
  private readonly opened = new Set<number>();

  private constructor(compiled: CompiledDemand, reachable: ReadonlyMap<DomainConstraint, ReadonlySet<number>>) {
    this.compiled = compiled;
    this.reachable = reachable;
  }

  static in(compiled: CompiledDemand): ComparedDomains {
    const reachable = new Map<DomainConstraint, ReadonlySet<number>>();
    for (const variant of compiled.classes.flatMap(({ variants }) => variants)) {
      for (const constraint of variant.domain) {
        if (constraint.kind === 'spread') reachable.set(constraint, reachOf(compiled, variant, constraint));
      }
    }
    return new ComparedDomains(compiled, reachable);
  }

  /** Registers a planned node in this state. */
  open(state: number): void {
    this.opened.add(state);
  }

  of(constraint: DomainConstraint): Int32Array {
    const { counters } = this.compiled;
    const own = this.reachable.get(constraint);
    const present = new Set(counters.present(constraint.counter, this.opened));
    return counters.eligible(constraint.counter).filter((domain) => present.has(domain) || own?.has(domain) !== false);
  }
}

/** Whether some spread of the class compares domains that neither its own pods nor any existing node can open. */
export function looksBeyondReach(compiled: CompiledDemand, { variants }: PodClass): boolean {
  const { counters } = compiled;
  return variants.some((variant) =>
    variant.domain.some((constraint) => {
      if (constraint.kind !== 'spread') return false;
      const known = reachOf(compiled, variant, constraint);
      for (const domain of counters.present(constraint.counter, [])) known.add(domain);
      return counters.eligible(constraint.counter).some((domain) => !known.has(domain));
    }),
  );
}

/** Domains that nodes for the variant could be in. */
function reachOf(
  { model, bases, counters }: CompiledDemand,
  variant: Variant,
  { counter }: DomainConstraint,
): Set<number> {
  const { spec, domains } = counters.at(counter);
  const values = bases.flatMap((base) =>
    model.states.valuesOf(model.states.narrow(base, variant.requirementId), spec.topologyKey),
  );
  return new Set(values.map((value) => domains.numberOf(value)));
}
