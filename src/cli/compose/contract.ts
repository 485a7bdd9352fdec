/** What the verbs hand to the composition roots. */
import type { Profile } from '../../local/faults/profiles.ts';
import type { FaultOrder } from '../../local/faults/faultKinds.ts';
import type { ScenarioName } from '../../local/scenarios/scenarios.ts';
import type { Options } from '../../options/optionTable.ts';

/** `nodewright up`. */
export interface UpOptions {
  /** Lines instead of a picture. */
  readonly headless: boolean;
  /** Port of the local Kubernetes API; 0 for any free one. */
  readonly port: number;
  /** Directory of the kubeconfig and of all state of the local world. */
  readonly stateDirectory: string;
  /** Delete the world that is kept there, and begin another. */
  readonly fresh: boolean;
  /** How many seconds pass in the local world during one real second. */
  readonly speed: number;
  /** Workloads and faults to start with. */
  readonly scenario: ScenarioName;
  /** Which faults occur by themselves, and how often. */
  readonly profile: Profile;
  /** Faults that are on from the start. */
  readonly faults: readonly FaultOrder[];
  /** Makes faults come at the same moments again; absent: they come at random. */
  readonly seed?: string;
  /** Options of the controller, as `nodewright run` takes them. */
  readonly controller: Options;
}

/** Resolves when the signal has aborted and everything is stopped; rejects when the world cannot go on. */
export type RunLocalWorld = (options: UpOptions, signal: AbortSignal) => Promise<void>;

/** Resolves when the signal has aborted and everything is stopped; rejects when the controller cannot go on. */
export type RunController = (options: Options, signal: AbortSignal) => Promise<void>;
