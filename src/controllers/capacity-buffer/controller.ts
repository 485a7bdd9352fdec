import { CapacityBufferConditions, Reasons } from '../../api/conditionTypes.ts';
import { Kinds } from '../../api/kinds.ts';
import type { CapacityBuffer } from '../../api/kinds/capacityBuffer.ts';
import { podRequests } from '../../pods/podRequests.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { keyOf, refOf, watch } from '../../kube/runtime/watch.ts';
import { patchStatus } from '../../kube/statusPatch.ts';
import { conditionText } from '../../ledger/conditionText.ts';
import type { World } from '../world/world.ts';
import { withCondition, type BufferStatement } from './bufferConditions.ts';
import { bufferSize } from './bufferSize.ts';
import type { CapacityBuffers } from './capacityBuffers.ts';
import type { BufferReferences, Resolution } from './resolution.ts';
import { virtualPods } from './virtualPods.ts';

const INTERVAL = 30_000;

export interface CapacityBufferOptions {
  readonly buffers: Informer<CapacityBuffer>;
  readonly references: BufferReferences;
  readonly capacity: CapacityBuffers;
  /** Requests a provisioning pass. */
  readonly trigger: (element: string) => void;
}

/** Turns each CapacityBuffer into the virtual pods for which it reserves room. */
export function capacityBufferController(world: World, options: CapacityBufferOptions): Controller {
  const { kube, clock } = world;
  const { buffers, references, capacity, trigger } = options;
  return reconciler({
    ...world,
    name: 'capacitybuffer',
    concurrency: 10,
    watches: [watch(buffers), ...references.watches(buffers)],
    reconcile: async (key) => {
      const buffer = buffers.store.get(refOf(key));
      if (!buffer || buffer.metadata.deletionTimestamp) {
        capacity.set(key, []);
        return undefined;
      }
      const resolution = references.resolve(buffer);
      await write(buffer, resolution);
      if (resolution.kind === 'resolved') trigger(buffer.metadata.uid ?? key);
      return { requeueAfter: INTERVAL };
    },
  });

  async function write(buffer: CapacityBuffer, resolution: Resolution): Promise<void> {
    const count = sizeOf(buffer, resolution);
    const pods = resolution.kind === 'resolved' ? virtualPods(buffer, resolution.template, count) : [];
    capacity.set(keyOf(buffer), pods);
    let after = buffer;
    for (const statement of statements(resolution, count)) {
      after = { ...after, status: { ...after.status, conditions: withCondition(after, statement, clock.now()) } };
    }
    const { generation } = resolution.kind === 'resolved' ? resolution : {};
    const status = {
      ...after.status,
      provisioningStrategy: buffer.spec.provisioningStrategy,
      replicas: count,
      ...(generation !== undefined &&
        buffer.spec.podTemplateRef && {
          podTemplateRef: buffer.spec.podTemplateRef,
          podTemplateGeneration: generation,
        }),
    };
    await patchStatus(kube, Kinds.CapacityBuffer, buffer, { ...after, status }, { lock: true });
  }
}

function sizeOf({ spec }: CapacityBuffer, resolution: Resolution): number {
  if (resolution.kind === 'missing') return 0;
  const requests = podRequests({ spec: resolution.template.spec ?? { containers: [] } });
  return bufferSize(spec, requests, resolution.replicas);
}

function statements(resolution: Resolution, count: number): readonly BufferStatement[] {
  const { readyForProvisioning, provisioning } = CapacityBufferConditions;
  if (resolution.kind === 'missing') {
    const { reason, message } = resolution;
    return [
      { type: readyForProvisioning, status: 'False', reason, message },
      { type: provisioning, status: 'False', reason: Reasons.notReadyForProvisioning, message },
    ];
  }
  const resolved = { type: readyForProvisioning, status: 'True', reason: Reasons.resolved, message: '' } as const;
  const empty = { type: provisioning, status: 'False', ...conditionText({ kind: 'bufferEmpty' }) } as const;
  return count === 0 ? [resolved, empty] : [resolved];
}
