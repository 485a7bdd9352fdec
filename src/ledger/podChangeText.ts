import type { PodChange } from './podChange.ts';

/** The change as an instruction. */
export function podChangeText(change: PodChange): string {
  switch (change.kind) {
    case 'ungate':
      return `remove the scheduling gates ${change.gates.join(', ')}`;
    case 'scheduler':
      return `let ${change.to} place it instead of ${change.from}`;
    case 'opt-in':
      return `drop ${change.label} DoesNotExist from node affinity`;
    case 'drop-invalid':
      return `drop ${change.keys.join(', ')} from its node selectors`;
    case 'drop-resource-claims':
      return 'drop its resource claims';
    case 'drop-apartness':
      return `drop the required anti-affinity over ${change.topologyKeys.join(', ')} and recreate all its pods`;
    case 'replace-at-once':
      return 'let the rollout replace all old pods at once: they exclude the new ones';
    case 'empty-dir':
      return `use an emptyDir volume in place of PersistentVolumeClaim ${change.claim}; its data is then lost with the pod`;
    case 'remake-claim':
      return change.storageClass === undefined
        ? `delete PersistentVolumeClaim ${change.claim} and create it again, with a new and empty volume`
        : `delete PersistentVolumeClaim ${change.claim} and create it again with the StorageClass ${change.storageClass}`;
    case 'claim-class':
      return `give PersistentVolumeClaim ${change.claim} the StorageClass ${change.storageClass}`;
    case 'ephemeral-class':
      return `give its volume ${change.volume} the StorageClass ${change.storageClass}`;
    case 'create':
      return `create ${change.what} ${change.name}`;
    case 'create-pool':
      return 'create a NodePool';
    case 'node-class':
      return `let NodePool "${change.pool}" use the node class ${change.to}, which is ready, instead of ${change.from}`;
    case 'replicas': {
      const { pool, from, to, zone, drop } = change;
      const steps = [
        ...(drop === undefined ? [] : [`drop the requirement on ${drop} from NodePool "${pool}"`]),
        ...(to === from ? [] : [`raise replicas of NodePool "${pool}" from ${from} to ${to}`]),
        ...(zone === undefined ? [] : [`require zone ${zone} of it`]),
      ];
      return steps.join(', and ');
    }
    case 'make-way':
      return `delete pod ${change.pod}, which its owner makes again for another node`;
    case 'daemon-requests':
      return `lower the requests of daemonset/${change.daemonSet} to ${change.percent} % of what they are`;
  }
}
