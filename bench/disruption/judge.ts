/** The outcome of a story, and the goals that were missed. */
export interface Outcome {
  /** The bill at the end and over the whole story, as shares of the least that the pods could cost. */
  readonly cost: number;
  readonly billOverTime: number;
  /** The bill at the end as a share of the bill at the beginning. */
  readonly costRatio: number;
  /** Seconds until the last change of nodes. */
  readonly settled: number;
  readonly evictions: number;
  /** Evictions of pods younger than five minutes. */
  readonly young: number;
  /** Evictions per pod. */
  readonly movesPerPod: number;
  readonly launches: number;
  /** Nodes that lived for less than five minutes. */
  readonly shortLives: number;
  readonly pendingPodSeconds: number;
  /** Evicted pods that must not be evicted, and violated PodDisruptionBudgets. */
  readonly violations: number;
  /** The largest share of nodes being removed at once. */
  readonly mostLeaving: number;
  /** CPU seconds. */
  readonly cpu: number;
}

export type Goals = Partial<Outcome>;

/** Goals that were missed, as text; a goal is the largest value that is good. */
export function missed(outcome: Outcome, goals: Goals): string {
  return (Object.entries(goals) as [keyof Outcome, number][])
    .filter(([name, goal]) => outcome[name] > goal + 1e-9)
    .map(([name, goal]) => `${name} > ${goal}`)
    .join(', ');
}
