/** CSINodes: which storage drivers a node has. In: nodes. Out: a CSINode for each, with the disks that its size takes. */
import { Kinds, type CSINode, type Node } from '../../api/kinds.ts';
import { Labels } from '../../api/labels.ts';
import type { Clock } from '../../clock/clock.ts';
import type { Random } from '../../clock/random.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Kube } from '../../kube/kube.ts';
import type { Log } from '../../kube/log.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { watch } from '../../kube/runtime/watch.ts';
import { DISK_DRIVER, FILE_DRIVER } from './storageClasses.ts';

export interface CsiNodeOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly nodes: Informer<Node>;
  readonly csiNodes: Informer<CSINode>;
  /** Data disks that a VM size takes; undefined for a size that is not known. */
  readonly dataDisks: (size: string) => number | undefined;
}

const DEFAULT_DISKS = 16;

export function csiNodeController(options: CsiNodeOptions): Controller {
  const { kube, clock, random, log, nodes, csiNodes, dataDisks } = options;

  async function reconcile(name: string): Promise<void> {
    const node = nodes.store.get({ name });
    if (!node || csiNodes.store.get({ name })) return;
    const count = dataDisks(node.metadata.labels?.[Labels.instanceType] ?? '') ?? DEFAULT_DISKS;
    const { uid = '' } = node.metadata;
    try {
      await kube.create(Kinds.CSINode, {
        // The CSINode goes with its node.
        metadata: { name, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }] },
        spec: {
          drivers: [
            { name: DISK_DRIVER, nodeID: name, topologyKeys: [Labels.diskZone], allocatable: { count } },
            { name: FILE_DRIVER, nodeID: name, topologyKeys: [] },
          ],
        },
      });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }

  return reconciler({ name: 'local.csinodes', concurrency: 8, clock, random, log, watches: [watch(nodes)], reconcile });
}
