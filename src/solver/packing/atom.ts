import type { PodClass, Variant } from '../model/question.ts';

/** Pods of one class that go the same way: same wishes, same pool, same domains. */
export interface Atom {
  readonly podClass: PodClass;
  readonly variant: Variant;
  readonly state: number;
  count: number;
}
