/**
 * Domains that a spread compares. A domain that only pods of other rules could open counts once they open it, because
 * the scheduler compares only existing nodes: a pod that may go to two zones need not wait for pods in a third zone
 * that has no node.
 */
import type { CompiledDemand } from '../model/compiledDemand.ts';
import type { DomainConstraint, PodClass, Variant } from '../model/podClass.ts';
import { PoolFit } from './poolFit.ts';

export class ComparedDomains {
  private readonly compiled: CompiledDemand;
  private readonly reachable: ReadonlyMap<DomainConstraint, ReadonlySet<number>>;
  private readonly opened = new Set<number>();

  private constructor(compiled: CompiledDemand, reachable: ReadonlyMap<DomainConstraint, ReadonlySet<number>>) {
    this.compiled = compiled;
    this.reachable = reachable;
  }

  static in(compiled: CompiledDemand): ComparedDomains {
    const fit = new PoolFit(compiled);
    const reachable = new Map<DomainConstraint, Set<number>>();
    for (const podClass of compiled.classes) {
      for (const variant of podClass.variants) {
        for (const constraint of variant.domain) {
          if (constraint.kind !== 'spread') continue;
          // Classes with different volumes may share a constraint.
          const known = reachable.get(constraint) ?? new Set();
          for (const domain of reachOf(compiled, fit, podClass, variant, constraint)) known.add(domain);
          reachable.set(constraint, known);
        }
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
export function looksBeyondReach(compiled: CompiledDemand, fit: PoolFit, podClass: PodClass): boolean {
  const { counters } = compiled;
  return podClass.variants.some((variant) =>
    variant.domain.some((constraint) => {
      if (constraint.kind !== 'spread') return false;
      const known = reachOf(compiled, fit, podClass, variant, constraint);
      for (const domain of counters.present(constraint.counter, [])) known.add(domain);
      return counters.eligible(constraint.counter).some((domain) => !known.has(domain));
    }),
  );
}

/** Domains that new nodes for the class could be in, its volumes and the taints of pools considered. */
function reachOf(
  { model, counters }: CompiledDemand,
  fit: PoolFit,
  podClass: PodClass,
  variant: Variant,
  { counter }: DomainConstraint,
): Set<number> {
  const { spec, domains } = counters.at(counter);
  const values = model.pools.flatMap(({ index }) =>
    fit.startsOf(podClass, variant, index).flatMap((state) => model.states.valuesOf(state, spec.topologyKey)),
  );
  return new Set(values.map((value) => domains.numberOf(value)));
}
