/** Whether a class may go to new machines of a pool, and in which state. Asked once per class, wish and pool. */
import { untoleratedTaints } from '../../pods/taints.ts';
import { hostPortsClash } from '../../pods/hostPorts.ts';
import type { CompiledPool } from '../model/compiledPool.ts';
import { isPreferred } from '../model/nodeKinds.ts';
import type { PodClass, CompiledDemand, Variant } from '../model/compiledDemand.ts';
import { intAt, itemAt, Rows } from '../rows.ts';

export class PoolFit {
  private readonly compiled: CompiledDemand;
  private readonly known = new Map<Variant, (readonly number[])[]>();
  private readonly accepted: (boolean | undefined)[][] = [];

  constructor(compiled: CompiledDemand) {
    this.compiled = compiled;
  }

  /** States that the pool's machines would start in for the pod: one per volume alternative that is possible. */
  startsOf(podClass: PodClass, variant: Variant, pool: number): readonly number[] {
    let byPool = this.known.get(variant);
    if (byPool === undefined) {
      byPool = [];
      this.known.set(variant, byPool);
    }
    return (byPool[pool] ??= this.find(podClass, variant, pool));
  }

  /** A state that nobody who places the pod can do without: what this question narrowed by choice is left open. */
  widest({ shape }: PodClass, variant: Variant, pool: number): number {
    const { states } = this.compiled.model;
    // Several volume alternatives: the pool's own state is the relaxation of them all.
    const [volumes, ...others] = shape.volumes?.alternatives ?? [];
    const base = states.narrow(states.base(pool), variant.requirementId);
    return volumes === undefined || others.length > 0 ? base : states.narrow(base, states.requirementId(volumes));
  }

  /** Some machine of the state holds the pod when it is alone. */
  accepts(podClass: PodClass, state: number): boolean {
    const row = (this.accepted[podClass.id] ??= []);
    const known = row[state];
    if (known !== undefined) return known;
    const { states } = this.compiled.model;
    const { pool, types, reserved } = states.at(state);
    let answer = false;
    for (let at = states.firstLargeEnough(state, podClass.row); at < types.length && !answer; at++) {
      answer = holds(pool, intAt(types, at), podClass);
    }
    answer ||= reserved.some(({ type }) => holds(pool, type, podClass));
    row[state] = answer;
    return answer;
  }

  tolerates({ shape }: PodClass, variant: Variant, pool: number): boolean {
    const { taints } = itemAt(this.compiled.model.pools, pool);
    if (taints.length === 0) return true;
    const missing = untoleratedTaints(taints, shape.tolerations);
    return missing.every((taint) => variant.rung.toleratesPreferNoSchedule && isPreferred(taint));
  }

  private find(podClass: PodClass, variant: Variant, pool: number): number[] {
    const { states } = this.compiled.model;
    if (podClass.unknownResource !== undefined || !this.tolerates(podClass, variant, pool)) return [];
    const narrowed = states.narrow(itemAt(this.compiled.bases, pool), variant.requirementId);
    if (narrowed < 0) return [];
    const alternatives = podClass.shape.volumes?.alternatives ?? [];
    const found =
      alternatives.length === 0
        ? [narrowed]
        : alternatives.map((each) => states.narrow(narrowed, states.requirementId(each)));
    return found.filter((state) => state >= 0 && this.accepts(podClass, state));
  }
}

function holds(pool: CompiledPool, type: number, { row, shape }: PodClass): boolean {
  if (!new Rows(row.length, pool.room).holds(type, row)) return false;
  const { hostPorts } = shape;
  if (hostPorts.length === 0) return true;
  return !itemAt(pool.daemonPorts, type).some((taken) => hostPorts.some((port) => hostPortsClash(port, taken)));
}
