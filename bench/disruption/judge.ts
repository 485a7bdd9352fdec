/** What came of a story, and which of its goals were missed. */
export interface Outcome {
  /** The bill at the end and over the whole story, as shares of the least that the pods could cost. */
  readonly cost: number;
  readonly billOverTime: number;
  /** The bill at the end as a share of the bill at the beginning. */
  readonly costRatio: number;
  /** Seconds until nodes stopped coming and going. */
  readonly settled: number;
  readonly evictions: number;
  /** Evictions of pods younger than five minutes. */
  readonly young: number;
  /** Evictions for each pod that there is. */
  readonly movesPerPod: number;
  readonly launches: number;
  /** Nodes that lived for less than five minutes. */
  readonly shortLives: number;
  readonly pendingPodSeconds: number;
  /** Pods that were evicted although they must not be, and budgets of pods that were overdrawn. */
  readonly violations: number;
  /** The most nodes that were on their way out at once, as a share of all. */
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
