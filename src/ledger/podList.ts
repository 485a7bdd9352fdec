/** Pods by `podKey`. Only the first few are named, because one decision may affect a hundred thousand. */
export interface PodList {
  readonly count: number;
  readonly names: readonly string[];
}

const NAMED_PODS = 20;

export function podList(keys: readonly string[]): PodList {
  return { count: keys.length, names: keys.slice(0, NAMED_PODS) };
}
