/** A CSINode for each node: which storage drivers it has, and how many disks its VM size takes. */
import { Kinds, type Node } from '../../api/kinds.ts';
import { Labels } from '../../api/labels.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { controlLoop, type ControlPlaneContext } from '../controlLoop.ts';
import { createIfAbsent } from '../writes.ts';
import { DISK_DRIVER, FILE_DRIVER } from './storageClasses.ts';

const DEFAULT_DISKS = 16;

/** `dataDisks`: how many data disks a VM size takes; undefined for a size that is not known. */
export function csiNodeController(
  context: ControlPlaneContext,
  dataDisks: (size: string) => number | undefined,
): Controller {
  const { kube, informers } = context;

  async function reconcile(node: Node, name: string): Promise<void> {
    if (informers.csiNodes.store.get({ name })) return;
    const count = dataDisks(node.metadata.labels?.[Labels.instanceType] ?? '') ?? DEFAULT_DISKS;
    const { uid = '' } = node.metadata;
    await createIfAbsent(kube, Kinds.CSINode, {
      // The CSINode goes with its node.
      metadata: { name, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }] },
      spec: {
        drivers: [
          { name: DISK_DRIVER, nodeID: name, topologyKeys: [Labels.diskZone], allocatable: { count } },
          { name: FILE_DRIVER, nodeID: name, topologyKeys: [] },
        ],
      },
    });
  }

  return controlLoop(context, { name: 'csinodes', of: informers.nodes, untilGone: true, reconcile });
}
