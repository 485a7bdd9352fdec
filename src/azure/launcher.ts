/** Launches an instance for a claim, as a VM of ours or as an AKS machine. */
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import type { MachineShape } from '../catalogue/overhead.ts';
import type { Sku } from '../catalogue/resourceSku.ts';
import type { NodeImage } from './images.ts';
import type { InstanceRecord } from './instanceRecord.ts';
import type { Choice } from './nodeLabels.ts';

/** The purchase in full detail, including the image. */
export interface LaunchOrder {
  readonly choice: Choice;
  readonly sku: Sku;
  readonly image: NodeImage;
  readonly shape: MachineShape;
  /** Resource id of the capacity reservation group to use. */
  readonly reservationGroup?: string | undefined;
  /** The launch failed after it was accepted; called with Azure's error. */
  readonly onFailure: (error: unknown) => void;
}

export interface Launcher {
  /** The instance launched by an earlier call for the claim, if any. */
  find(claim: NodeClaim, signal?: AbortSignal): Promise<InstanceRecord | undefined>;
  /** Resumes a launch started by an earlier process. */
  resume(record: InstanceRecord, signal?: AbortSignal): void;
  /** Resolves when Azure has accepted the instance; throws Azure's error when it refuses. */
  launch(order: LaunchOrder, signal?: AbortSignal): Promise<InstanceRecord>;
  /** Starts the removal of a failed instance. */
  discard(record: InstanceRecord, signal?: AbortSignal): Promise<void>;
}
