/** The `Kube` of kubelets: calls of silent kubelets do not get through. */
import { Kinds, type Pod } from '../../api/kinds.ts';
import type { KubeObject, ResourceKind } from '../../api/object.ts';
import { KubeError } from '../../kube/errors.ts';
import type { Kube, ObjectRef } from '../../kube/kube.ts';
import { interceptedKube } from './apiFaults.ts';

export interface KubeletKubeOptions {
  readonly kube: Kube;
  readonly isSilent: (node: string) => boolean;
  /** The pod as the cluster knows it, to find its node. */
  readonly pod: (ref: ObjectRef) => Pod | undefined;
}

const GUARDED = new Set(['patch', 'delete', 'get', 'replace']);

export function kubeletKube({ kube, isSilent, pod }: KubeletKubeOptions): Kube {
  return interceptedKube(kube, (verb, call, parameters) => {
    if (!GUARDED.has(verb)) return call(...parameters);
    const [kind, ref] = parameters as [ResourceKind<KubeObject>, ObjectRef];
    const node = kind.plural === Kinds.Pod.plural ? (pod(ref)?.spec?.nodeName ?? '') : ref.name;
    if (!isSilent(node)) return call(...parameters);
    // A kubelet renews its lease every period anyway; a pod's status must be retried.
    if (kind.plural === Kinds.Lease.plural) return Promise.resolve();
    return Promise.reject(new KubeError({ code: 0, reason: 'Unreachable', message: 'no route to host' }));
  });
}
