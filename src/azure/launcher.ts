/** How an instance is made for a claim: as a VM of ours, or as an AKS machine. */
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import type { MachineShape } from '../catalogue/overhead.ts';
import type { Sku } from '../catalogue/resourceSku.ts';
import type { NodeImage } from './images.ts';
import type { InstanceRecord } from './instanceRecord.ts';
import type { Choice } from './nodeLabels.ts';

/** What is bought, down to the image. */
export interface LaunchOrder {
  readonly choice: Choice;
  readonly sku: Sku;
  readonly image: NodeImage;
  readonly shape: MachineShape;
  /** Resource id of the group of capacity reservations that it draws on. */
  readonly reservationGroup?: string | undefined;
  /** The launch failed after it was accepted; with Azure's own error. */
  readonly onFailure: (error: unknown) => void;
}

export interface Launcher {
  /** What an earlier call made for the claim, if anything. */
  find(claim: NodeClaim, signal?: AbortSignal): Promise<InstanceRecord | undefined>;
  /** Takes up the launch of an instance that an earlier process has begun. */
  resume(record: InstanceRecord, signal?: AbortSignal): void;
  /** Resolves as soon as Azure has accepted the instance; throws Azure's own error when it refuses. */
  launch(order: LaunchOrder, signal?: AbortSignal): Promise<InstanceRecord>;
  /** Begins the removal of an instance that has failed. */
  discard(record: InstanceRecord, signal?: AbortSignal): Promise<void>;
}
