/** Wraps a launcher and counts launches, under the metric names of Karpenter on Azure. */
import { Labels } from '../api/labels.ts';
import type { MetricsRegistry } from '../kube/metrics.ts';
import { describeFailure } from './launchErrors.ts';
import type { Launcher } from './launcher.ts';

const LAUNCH_LABELS = ['image', 'size', 'zone', 'capacity_type', 'nodepool'] as const;

export function meteredLauncher(launcher: Launcher, metrics: MetricsRegistry): Launcher {
  const started = metrics.counter({
    name: 'karpenter_instance_vm_create_start_total',
    help: 'Total number of VM creation operations started.',
    labels: LAUNCH_LABELS,
  });
  const failed = metrics.counter({
    name: 'karpenter_instance_vm_create_failure_total',
    help: 'Total number of VM creation failures.',
    labels: [...LAUNCH_LABELS, 'phase', 'error_code'],
  });
  return {
    find: (claim, signal) => launcher.find(claim, signal),
    resume: (record, signal) => launcher.resume(record, signal),
    discard: (record, signal) => launcher.discard(record, signal),
    launch: async (order, signal) => {
      const { claim, offering, type } = order.choice;
      const labels = {
        image: order.image.id,
        size: type.name,
        zone: offering.zone,
        capacity_type: offering.capacityType,
        nodepool: claim.metadata.labels?.[Labels.nodePool] ?? '',
      };
      const countFailure = (phase: 'sync' | 'async', error: unknown): void =>
        failed.inc({ ...labels, phase, error_code: describeFailure(error).code });
      started.inc(labels);
      const onFailure = (error: unknown): void => {
        countFailure('async', error);
        order.onFailure(error);
      };
      try {
        return await launcher.launch({ ...order, onFailure }, signal);
      } catch (error) {
        countFailure('sync', error);
        throw error;
      }
    },
  };
}
