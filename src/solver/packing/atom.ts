import type { PodClass, Variant } from '../model/compiledDemand.ts';

/** Pods of one class that go the same way: same wishes, same pool, same domains. */
export interface Atom {
  readonly podClass: PodClass;
  readonly variant: Variant;
  readonly state: number;
  count: number;
}
