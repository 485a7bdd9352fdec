/** The `Kube` of kubelets: calls of silent kubelets do not get through. */
import { Kinds, type Pod } from '../../api/kinds.ts';
import type { KubeObject, ResourceKind } from '../../api/object.ts';
import { KubeError } from '../../kube/errors.ts';
import type { Kube, ObjectRef } from '../../kube/kube.ts';

export interface KubeletKubeOptions {
  readonly kube: Kube;
  readonly isSilent: (node: string) => boolean;
  /** The pod as the cluster knows it, to find its node. */
  readonly pod: (ref: ObjectRef) => Pod | undefined;
}

type Call = (kind: ResourceKind<KubeObject>, ref: ObjectRef, ...rest: unknown[]) => Promise<unknown>;

const GUARDED = new Set(['patch', 'delete', 'get', 'replace']);

export function kubeletKube(options: KubeletKubeOptions): Kube {
  const { kube, isSilent, pod } = options;

  const nodeOf = (kind: ResourceKind<KubeObject>, ref: ObjectRef): string =>
    kind.plural === Kinds.Pod.plural ? (pod(ref)?.spec?.nodeName ?? '') : ref.name;

  return new Proxy(kube, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== 'function') return value;
      const call = value.bind(target) as Call;
      if (typeof key !== 'string' || !GUARDED.has(key)) return call;
      return async (kind: ResourceKind<KubeObject>, ref: ObjectRef, ...rest: unknown[]) => {
        if (isSilent(nodeOf(kind, ref))) {
          // A kubelet renews its lease every period anyway; a pod's status must be retried.
          if (kind.plural === Kinds.Lease.plural) return undefined;
          throw new KubeError({ code: 0, reason: 'Unreachable', message: 'no route to host' });
        }
        return call(kind, ref, ...rest);
      };
    },
  });
}
