/** Parameters of the composition roots. */
import type { Profile } from '../../local/faults/profiles.ts';
import type { FaultOrder } from '../../local/faults/faultKinds.ts';
import type { ScenarioName } from '../../local/scenarios/scenarios.ts';
import type { Options } from '../../options/optionTable.ts';

/** `nodewright up`. */
export interface UpOptions {
  /** Print lines instead of the live view. */
  readonly headless: boolean;
  /** Port of the local Kubernetes API; 0 for any free one. */
  readonly port: number;
  /** Directory for the kubeconfig and all state of the local world. */
  readonly stateDirectory: string;
  /** Deletes the world in that directory and starts a new one. */
  readonly fresh: boolean;
  /** Seconds that pass in the local world per real second. */
  readonly speed: number;
  /** Workloads and faults at the start. */
  readonly scenario: ScenarioName;
  /** Which faults occur spontaneously, and how often. */
  readonly profile: Profile;
  /** Faults active from the start. */
  readonly faults: readonly FaultOrder[];
  /** Makes fault times reproducible; absent: random. */
  readonly seed?: string;
  /** Options of the controller, as for `nodewright run`. */
  readonly controller: Options;
}

/** Resolves when the signal has aborted and everything is stopped; rejects when the world cannot continue. */
export type RunLocalWorld = (options: UpOptions, signal: AbortSignal) => Promise<void>;

/** Resolves when the signal has aborted and everything is stopped; rejects when the controller cannot continue. */
export type RunController = (options: Options, signal: AbortSignal) => Promise<void>;
