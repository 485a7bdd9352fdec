/** Creates a CSINode for each node, with its storage drivers and the maximum number of disks of its VM size. */
import { Kinds, type Node } from '../../api/kinds.ts';
import { Labels } from '../../api/labels.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { controlLoop, type ControlPlaneContext } from '../controlLoop.ts';
import { createIfAbsent } from '../writes.ts';
import { DISK_DRIVER, FILE_DRIVER } from './storageClasses.ts';

const DEFAULT_DISKS = 16;

/** `dataDisks` returns the maximum number of data disks of a VM size; undefined for an unknown size. */
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
      // The CSINode is deleted with its node.
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
