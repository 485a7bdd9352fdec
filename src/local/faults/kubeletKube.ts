/**
 * The network between kubelets and the API server. In: a `Kube` and who cannot be heard. Out: the same `Kube`, on which
 * the words of silent kubelets get lost, and on which leases are renewed no more often than asked.
 */
import { Kinds, type Pod } from '../../api/kinds.ts';
import type { KubeObject, ResourceKind } from '../../api/object.ts';
import { KubeError } from '../../kube/errors.ts';
import type { Kube, ObjectRef } from '../../kube/kube.ts';

export interface KubeletKubeOptions {
  readonly kube: Kube;
  readonly now: () => number;
  readonly isSilent: (node: string) => boolean;
  /** The pod as the cluster knows it, to find its node. */
  readonly pod: (ref: ObjectRef) => Pod | undefined;
  /** Least milliseconds between two renewals of a lease that are written. */
  readonly leasePeriod: number;
}

type Call = (kind: ResourceKind<KubeObject>, ref: ObjectRef, ...rest: unknown[]) => Promise<unknown>;

const GUARDED = new Set(['patch', 'delete', 'get', 'replace']);

export function kubeletKube(options: KubeletKubeOptions): Kube {
  const { kube, now, isSilent, pod, leasePeriod } = options;
  const renewedAt = new Map<string, number>();

  const nodeOf = (kind: ResourceKind<KubeObject>, ref: ObjectRef): string =>
    kind.plural === Kinds.Pod.plural ? (pod(ref)?.spec?.nodeName ?? '') : ref.name;

  return new Proxy(kube, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== 'function') return value;
      const call = value.bind(target) as Call;
      if (typeof key !== 'string' || !GUARDED.has(key)) return call;
      return async (kind: ResourceKind<KubeObject>, ref: ObjectRef, ...rest: unknown[]) => {
        const isLease = kind.plural === Kinds.Lease.plural;
        if (isSilent(nodeOf(kind, ref))) {
          // A kubelet tries its lease again every period; a pod's status it must not forget.
          if (isLease) return undefined;
          throw new KubeError({ code: 0, reason: 'Unreachable', message: 'no route to host' });
        }
        if (isLease && key === 'patch') {
          const last = renewedAt.get(ref.name) ?? Number.NEGATIVE_INFINITY;
          if (now() - last < leasePeriod) return undefined;
          renewedAt.set(ref.name, now());
        }
        if (isLease && key === 'delete') renewedAt.delete(ref.name);
        return call(kind, ref, ...rest);
      };
    },
  });
}
