/** A node that will be bought, while pods may still be added to it. */
import type { Pod } from '../../api/kinds.ts';
import type { HostPort } from '../../pods/hostPorts.ts';
import type { CompiledPool } from '../model/compiledPool.ts';
import type { PodClass, Variant } from '../model/podClass.ts';

interface PlannedEntry {
  readonly podClass: PodClass;
  readonly variant: Variant;
  readonly pods: readonly Pod[];
}

export interface OpenNode {
  readonly pool: CompiledPool;
  state: number;
  /** Cheapest that holds the pods; -1 while it is empty. */
  type: number;
  price: number;
  reservation: number;
  /** What it counts against the pool's limits. */
  limitNeed: Float64Array;
  readonly used: Float64Array;
  readonly entries: PlannedEntry[];
  readonly ports: HostPort[];
  /** By hostname counter: pods here, and the most that may be. Made on first use. */
  host: Map<number, { count: number; limit: number }> | undefined;
}
