import type { PodClass, Variant } from '../model/podClass.ts';

/** One kind of item to pack: pods of one class with the same wishes, pool and domains, and how many there are. */
export interface Item {
  readonly podClass: PodClass;
  readonly variant: Variant;
  /** What a node that holds such a pod may still become, if it holds nothing else. */
  readonly state: number;
  count: number;
}
