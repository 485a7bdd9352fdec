/** What the verbs hand to the composition roots. */
import type { Profile } from '../../local/faults/profiles.ts';
import type { FaultOrder } from '../../local/faults/faultKinds.ts';
import type { ScenarioName } from '../../local/scenarios/scenarios.ts';
import type { Options } from '../../options/optionTable.ts';

/** `nodewright up`. */
export interface UpOptions {
  /** Without a dashboard, and without anything that needs a terminal. */
  readonly headless: boolean;
  /** Port of the local Kubernetes API; 0 for any free one. */
  readonly port: number;
  /** Where the kubeconfig and all state of the local world go. */
  readonly stateDirectory: string;
  /** Forget the world that is kept there, and begin another. */
  readonly fresh: boolean;
  /** How many seconds pass in the local world during one real second. */
  readonly speed: number;
  /** What lives in the world at first. */
  readonly scenario: ScenarioName;
  /** How rough the world is. */
  readonly profile: Profile;
  /** Faults that are on from the start. */
  readonly faults: readonly FaultOrder[];
  /** Makes faults come at the same moments again; absent: they come at random. */
  readonly seed?: string;
  /** Options of the controller, as `nodewright run` takes them. */
  readonly controller: Options;
}

/** Resolves when the signal has been heeded and everything is stopped; rejects when the world could not be kept up. */
export type RunLocalWorld = (options: UpOptions, signal: AbortSignal) => Promise<void>;

/** Resolves when the signal has been heeded and everything is stopped; rejects when the controller cannot go on. */
export type RunController = (options: Options, signal: AbortSignal) => Promise<void>;
