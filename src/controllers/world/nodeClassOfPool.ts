import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import type { NodePool } from '../../api/kinds/nodePool.ts';
import type { KubeObject } from '../../api/object.ts';
import type { CloudProvider } from '../../cloud/cloudProvider.ts';
import { NodeClassNotReadyError } from '../../cloud/errors.ts';
import { NODE_CLASS_MISSING } from '../../errors/launchProblems.ts';
import type { InstanceType } from '../../cloud/instanceType.ts';
import { watch, type Watch } from '../../kube/runtime/watch.ts';
import type { ClusterInformers } from './clusterInformers.ts';

type NodeClassRef = NodeClaim['spec']['nodeClassRef'];
type NodeClassInformers = Pick<ClusterInformers, 'nodeClasses'>;

/** The node class that a pool names, of any of the provider's kinds, even if it is being deleted. */
export function classOf({ spec }: NodePool, informers: NodeClassInformers): KubeObject | undefined {
  return find(spec.template.spec.nodeClassRef, informers);
}

/** The node class of a pool or claim; a class that is being deleted counts as missing. */
export function usableNodeClass(ref: NodeClassRef, informers: NodeClassInformers): KubeObject | undefined {
  const found = find(ref, informers);
  return found?.metadata.deletionTimestamp === undefined ? found : undefined;
}

export function missingNodeClassMessage({ kind, name }: NodeClassRef): string {
  return `${kind} ${name} ${NODE_CLASS_MISSING}`;
}

/** The instance types of a pool; throws `NodeClassNotReadyError` when its node class is missing. */
export async function poolInstanceTypes(
  pool: NodePool,
  cloud: CloudProvider,
  informers: NodeClassInformers,
  signal?: AbortSignal,
): Promise<readonly InstanceType[]> {
  const ref = pool.spec.template.spec.nodeClassRef;
  const nodeClass = usableNodeClass(ref, informers);
  if (nodeClass === undefined) throw new NodeClassNotReadyError(`${ref.kind} ${ref.name}`, NODE_CLASS_MISSING);
  return cloud.instanceTypes(pool, nodeClass, signal);
}

function find({ group, kind, name }: NodeClassRef, { nodeClasses }: NodeClassInformers): KubeObject | undefined {
  const found = nodeClasses.find((entry) => entry.kind.group === group && entry.kind.kind === kind);
  return found?.informer.store.get({ name });
}

/** Reconciles every changed pool, and every pool whose class changed. */
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
