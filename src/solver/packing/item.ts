import type { PodClass, Variant } from '../model/podClass.ts';

/** Pods to pack: those of one class with the same preferences, pool and domains, and how many there are. */
export interface Item {
  readonly podClass: PodClass;
  readonly variant: Variant;
  /** State of a node that holds only such pods. */
  readonly state: number;
  count: number;
}
