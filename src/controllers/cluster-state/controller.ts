import type { Controller } from '../../kube/runtime/controller.ts';
import { aborted } from '../../kube/runtime/windDown.ts';
import type { World } from '../world/world.ts';

/**
 * Reports that the cluster state is complete, and its size. Loops run only once it is complete, and a claim that has
 * not launched does not delay them, so the state is never reported as out of date.
 */
export function clusterStateController({ metrics, cluster }: World): Controller {
  const nodeCount = metrics.gauge({
    name: 'karpenter_cluster_state_node_count',
    help: 'Nodes and NodeClaims in the cluster state.',
  });
  const synced = metrics.gauge({
    name: 'karpenter_cluster_state_synced',
    help: '1 when the cluster state is synced with the API server, else 0.',
  });
  const unsyncedTime = metrics.gauge({
    name: 'karpenter_cluster_state_unsynced_time_seconds',
    help: 'Seconds since the cluster state was last synced; 0 while it is.',
  });
  return {
    name: 'state',
    run: async (signal) => {
      const stop = metrics.beforeRead(() => {
        nodeCount.set({}, cluster.snapshot().nodes.length);
        synced.set({}, 1);
        unsyncedTime.set({}, 0);
      });
      await aborted(signal);
      stop();
      synced.set({}, 0);
    },
  };
}
