import { CapacityBufferConditions, Reasons } from '../../api/conditionTypes.ts';
import { Kinds, type Pod } from '../../api/kinds.ts';
import type { CapacityBuffer } from '../../api/kinds/capacityBuffer.ts';
import type { Clock } from '../../clock/clock.ts';
import { isConflict, isNotFound } from '../../kube/errors.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Kube } from '../../kube/kube.ts';
import { refOf } from '../../kube/runtime/watch.ts';
import { patchStatus } from '../../kube/statusPatch.ts';
import { conditionText, type ConditionText } from '../../ledger/conditionText.ts';
import { withCondition } from './bufferConditions.ts';
import { bufferKeyOf, isVirtual } from './virtualPods.ts';

/** Placement of the virtual pods of a pass. */
export interface BufferOutcome {
  /** On existing or launching nodes. */
  readonly fitted: readonly Pod[];
  /** On planned nodes, or nowhere. */
  readonly others: readonly Pod[];
}

export interface CapacityBuffersOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly buffers: Informer<CapacityBuffer>;
}

/** The virtual pods of all buffers, by buffer. Filled by the buffers' controller, read by the provisioner. */
export class CapacityBuffers {
  private readonly options: CapacityBuffersOptions;
  private readonly virtualPods = new Map<string, readonly Pod[]>();

  constructor(options: CapacityBuffersOptions) {
    this.options = options;
  }

  set(key: string, pods: readonly Pod[]): void {
    if (pods.length === 0) this.virtualPods.delete(key);
    else this.virtualPods.set(key, pods);
  }

  pods(): readonly Pod[] {
    return [...this.virtualPods].sort(([left], [right]) => (left < right ? -1 : 1)).flatMap(([, pods]) => pods);
  }

  /** Writes to each buffer whether its room exists. */
  async report({ fitted, others }: BufferOutcome): Promise<void> {
    const fits = countByBuffer(fitted);
    const lacks = countByBuffer(others);
    for (const [key, pods] of this.virtualPods) {
      const missing = lacks.get(key) ?? 0;
      if (missing > 0)
        await this.say(key, 'False', conditionText({ kind: 'capacityMissing', missing, wanted: pods.length }));
      else if (fits.get(key) === pods.length)
        await this.say(key, 'True', { reason: Reasons.fitsExistingCapacity, message: '' });
    }
  }

  private async say(key: string, status: 'True' | 'False', text: ConditionText): Promise<void> {
    const { kube, clock, buffers } = this.options;
    const buffer = buffers.store.get(refOf(key));
    if (!buffer) return;
    const statement = { type: CapacityBufferConditions.provisioning, status, ...text };
    const conditions = withCondition(buffer, statement, clock.now());
    try {
      const after = { ...buffer, status: { ...buffer.status, conditions } };
      await patchStatus(kube, Kinds.CapacityBuffer, buffer, after, { lock: true });
    } catch (error) {
      // The next pass writes it again.
      if (!isConflict(error) && !isNotFound(error)) throw error;
    }
  }
}

function countByBuffer(pods: readonly Pod[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const pod of pods.filter(isVirtual)) counts.set(bufferKeyOf(pod), (counts.get(bufferKeyOf(pod)) ?? 0) + 1);
  return counts;
}
