/** What one search works on: the question as all searches share it, and where its pods stand so far. */
import { withoutPlacements, type CompiledDemand } from './model/compiledDemand.ts';
import type { PodClass } from './model/podClass.ts';
import type { PackingOptions } from './packing/typeChoice.ts';
import type { PendingPods } from './placement/assignment.ts';
import { Domains, type DomainMode } from './placement/domains.ts';
import { ExistingPlacement } from './placement/existingPlacement.ts';
import type { Growth, OpenNode } from './placement/openNode.ts';
import type { PoolFit } from './placement/poolFit.ts';
import type { SolveOptions } from './problem.ts';

export interface SearchMode extends DomainMode {
  /** All pods take the exact path: plain first-fit-decreasing with every rule. */
  readonly isExact: boolean;
  /** How the exact path chooses between planned nodes and new ones. */
  readonly growth: Growth;
  /** By class, where it chooses otherwise. */
  readonly growthOf: ReadonlyMap<number, Growth>;
  /** The exact path opens nodes where pods that must stand beside the first one may come too. */
  readonly leads: boolean;
  /** The exact path goes pod by pod through classes of equal rank, by name, and not class by class. */
  readonly interleaves: boolean;
  /** Lower ranks come first; among equals higher priority, then the larger. */
  readonly rank: (podClass: PodClass) => number;
}

/** A question as all searches share it. */
export interface Question {
  readonly compiled: CompiledDemand;
  readonly fit: PoolFit;
  readonly packing: PackingOptions;
  readonly options: SolveOptions;
}

/** The lists change as pods find places. */
export interface Draft {
  readonly compiled: CompiledDemand;
  readonly domains: Domains;
  readonly onExisting: ExistingPlacement;
  readonly fit: PoolFit;
  readonly waiting: PendingPods[];
  readonly planned: OpenNode[];
  readonly limitLeft: readonly (Float64Array | undefined)[];
  readonly packing: PackingOptions;
}

export function emptyDraft({ compiled: shared, fit, packing }: Question, mode: SearchMode): Draft {
  const compiled = withoutPlacements(shared);
  const domains = new Domains(compiled, mode);
  return {
    compiled,
    domains,
    onExisting: new ExistingPlacement(compiled, domains),
    fit,
    // Higher priority first; among equals the larger.
    waiting: [...compiled.classes]
      .sort(
        (left, right) =>
          mode.rank(left) - mode.rank(right) || right.shape.priority - left.shape.priority || left.id - right.id,
      )
      .map((podClass) => ({ podClass, pods: Array.from(podClass.pods) })),
    planned: [],
    limitLeft: compiled.model.limitsLeft(),
    packing,
  };
}
