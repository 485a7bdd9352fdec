/** Working state of one search: the question shared by all searches, and where the pods are placed so far. */
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
  /** By class: exceptions from `growth`. */
  readonly growthOf: ReadonlyMap<number, Growth>;
  /** The exact path opens a new node, if possible, where pods with affinity to the first one can follow. */
  readonly leads: boolean;
  /** The exact path mixes classes of equal rank and goes pod by pod in order of name, instead of class by class. */
  readonly interleaves: boolean;
  /** The exact path gives a new node the zone and capacity type that are cheapest for its first pod. */
  readonly settlesOffers: boolean;
  /** Tries existing nodes in reverse order. */
  readonly lastNodesFirst: boolean;
  /** Lower ranks come first; ties: higher priority, then larger pods. */
  readonly rank: (podClass: PodClass) => number;
}

/** Part of a question that all searches share. */
export interface Question {
  readonly compiled: CompiledDemand;
  readonly fit: PoolFit;
  readonly packing: PackingOptions;
  readonly options: SolveOptions;
}

/** The lists change as pods are placed. */
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
    onExisting: new ExistingPlacement(compiled, domains, mode.lastNodesFirst),
    fit,
    // Higher priority first; ties: larger pods first.
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
