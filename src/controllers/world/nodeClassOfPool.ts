import type { NodePool } from '../../api/kinds/nodePool.ts';
import type { KubeObject } from '../../api/object.ts';
import { watch, type Watch } from '../../kube/runtime/watch.ts';
import type { ClusterInformers } from './clusterInformers.ts';

/** The node class that a pool names, whichever of the provider's kinds it is of. */
export function classOf({ spec }: NodePool, informers: ClusterInformers): KubeObject | undefined {
  const { group, kind, name } = spec.template.spec.nodeClassRef;
  const found = informers.nodeClasses.find((entry) => entry.kind.group === group && entry.kind.kind === kind);
  return found?.informer.store.get({ name });
}

/** Names every pool that changed, and every pool whose class did. */
export function poolWatches(informers: ClusterInformers): readonly Watch[] {
  return [
    watch(informers.nodePools),
    ...informers.nodeClasses.map(({ kind, informer }) =>
      watch(informer, ({ object }) =>
        [...informers.nodePools.store.list()]
          .filter(({ spec: { template } }) => {
            const ref = template.spec.nodeClassRef;
            return ref.group === kind.group && ref.kind === kind.kind && ref.name === object.metadata.name;
          })
          .map(({ metadata }) => metadata.name),
      ),
    ),
  ];
}
