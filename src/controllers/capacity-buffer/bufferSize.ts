import type { CapacityBuffer } from '../../api/kinds/capacityBuffer.ts';
import { parseResources, quantityOf, type Resources } from '../../units/resources.ts';

/**
 * For how many pods a buffer keeps room: the larger of its number and its share of the workload, but never more than
 * its limits hold; with limits alone, as many as they hold.
 */
export function bufferSize(spec: CapacityBuffer['spec'], requests: Resources, workloadReplicas?: number): number {
  const sizes = [spec.replicas, shareOf(workloadReplicas, spec.percentage)].filter((size) => size !== undefined);
  const cap = holds(spec.limits, requests);
  if (sizes.length === 0) return cap ?? 0;
  return Math.min(Math.max(...sizes), cap ?? Number.POSITIVE_INFINITY);
}

/** Rounded up to at least one; undefined when there is nothing to have a share of. */
function shareOf(replicas: number | undefined, percentage: number | undefined): number | undefined {
  if (percentage === undefined || !replicas) return undefined;
  return percentage === 0 ? 0 : Math.max(1, Math.ceil((replicas * percentage) / 100));
}

/** How many pods the limits hold; undefined when they say nothing about what the pod asks for. */
function holds(limits: CapacityBuffer['spec']['limits'], requests: Resources): number | undefined {
  const counts = Object.entries(parseResources(limits)).flatMap(([name, limit]) => {
    const request = quantityOf(requests, name);
    return request.sign() > 0 ? [Math.floor(limit.milliValue() / request.milliValue())] : [];
  });
  return counts.length === 0 ? undefined : Math.min(...counts);
}
