import type { CapacityBuffer } from '../../api/kinds/capacityBuffer.ts';
import { parseResources, quantityOf, type Resources } from '../../units/resources.ts';

/**
 * Number of pods for which a buffer reserves room: the larger of its replicas and its share of the workload, capped by
 * its limits; with limits alone, as many as they allow.
 */
export function bufferSize(spec: CapacityBuffer['spec'], requests: Resources, workloadReplicas?: number): number {
  const sizes = [spec.replicas, shareOf(workloadReplicas, spec.percentage)].filter((size) => size !== undefined);
  const cap = holds(spec.limits, requests);
  if (sizes.length === 0) return cap ?? 0;
  return Math.min(Math.max(...sizes), cap ?? Number.POSITIVE_INFINITY);
}

/** Rounded up to at least one; undefined without a workload or a percentage. */
function shareOf(replicas: number | undefined, percentage: number | undefined): number | undefined {
  if (percentage === undefined || !replicas) return undefined;
  return percentage === 0 ? 0 : Math.max(1, Math.ceil((replicas * percentage) / 100));
}

/** How many pods the limits allow; undefined if they name none of the pod's resources. */
function holds(limits: CapacityBuffer['spec']['limits'], requests: Resources): number | undefined {
  const counts = Object.entries(parseResources(limits)).flatMap(([name, limit]) => {
    const request = quantityOf(requests, name);
    return request.sign() > 0 ? [Math.floor(limit.milliValue() / request.milliValue())] : [];
  });
  return counts.length === 0 ? undefined : Math.min(...counts);
}
