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
  /** The cheapest type that holds the pods; -1 while the node is empty. */
  type: number;
  price: number;
  reservation: number;
  /** What it adds to the usage of the pool's limits. */
  limitNeed: Float64Array;
  readonly used: Float64Array;
  readonly entries: PlannedEntry[];
  readonly ports: HostPort[];
  /** By hostname counter: pods on the node, and the limit. Created on first use. */
  host: Map<number, { count: number; limit: number }> | undefined;
}

/**
 * How much dearer a planned node may become by taking a pod that could have a new node:
 * `any`: by any amount;
 * `room`: by any amount, and new nodes are chosen by how large they can grow;
 * `own`: by no more than a new node costs, on the first such node;
 * `least`: by no more than a new node costs, on the node where the increase is least;
 * `none`: not at all;
 * `fixed`: not at all, even when no new node is possible;
 * `largest`: as `fixed`, and new nodes have the largest type until all pods have been tried.
 */
export type Growth = 'any' | 'room' | 'own' | 'least' | 'none' | 'fixed' | 'largest';
