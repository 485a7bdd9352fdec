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

/**
 * How much dearer a planned node may become when it takes a pod that could have a new one: by any amount, by no more than
 * a new node would cost (on the first such node, or on the one where it is least), or not at all. `room` allows any amount
 * too, and new nodes are chosen by how large they can grow. With `fixed` it becomes no dearer even where no new node can be had;
 * `largest` is the same, and new nodes are of the largest type until all pods have been tried.
 */
export type Growth = 'any' | 'room' | 'own' | 'least' | 'none' | 'fixed' | 'largest';
