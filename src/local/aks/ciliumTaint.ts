/** Cilium's operator: removes the start-up taint of a node once the Cilium agent on the node is ready. */
import { Kinds, type Node, type Pod } from '../../api/kinds.ts';
import { ignoreNotFound } from '../../kube/errors.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { watch } from '../../kube/runtime/watch.ts';
import { patchObject } from '../../kube/statusPatch.ts';
import type { LoopContext } from '../controlLoop.ts';
import { isReady } from '../workloads/podState.ts';

const TAINT = 'node.cilium.io/agent-not-ready';

export interface CiliumTaintOptions extends LoopContext {
  readonly nodes: Informer<Node>;
  readonly pods: Informer<Pod>;
}

const isAgent = ({ metadata }: Pod): boolean =>
  metadata.namespace === 'kube-system' && metadata.labels?.['k8s-app'] === 'cilium';

/** Does nothing in clusters without Cilium's DaemonSet. */
export function ciliumTaintController(options: CiliumTaintOptions): Controller {
  const { kube, nodes, pods } = options;
  return reconciler({
    ...options,
    name: 'cilium.taint',
    watches: [
      watch(pods, ({ object: pod }) => (isAgent(pod) && isReady(pod) && pod.spec?.nodeName ? [pod.spec.nodeName] : [])),
    ],
    reconcile: async (name) => {
      const node = nodes.store.get({ name });
      const taints = node?.spec?.taints ?? [];
      const left = taints.filter(({ key }) => key !== TAINT);
      if (node === undefined || left.length === taints.length) return undefined;
      const cleaned = { ...node, spec: { ...node.spec, taints: left } };
      await ignoreNotFound(patchObject(kube, Kinds.Node, node, cleaned, { lock: true }));
      return undefined;
    },
  });
}
