import { Kinds, type Pod } from '../api/kinds.ts';
import { apiVersionOf, type KubeObject, type ResourceKind } from '../api/object.ts';
import { isNotFound } from '../kube/errors.ts';
import type { Kube } from '../kube/kube.ts';
import type { PodSource } from './podFixes.ts';

type Spec = PodSource['spec'];

interface Templated extends KubeObject {
  readonly spec?: { readonly template?: { readonly spec?: Spec } };
}

/** Kinds whose pod template may change, and those that another object makes. */
const OWNERS: readonly ResourceKind<KubeObject>[] = [
  Kinds.Deployment,
  Kinds.ReplicaSet,
  Kinds.StatefulSet,
  Kinds.DaemonSet,
  Kinds.ReplicationController,
];

/** How many owners of owners are followed. */
const MAX_OWNERS = 4;

/** What to change to get another pod: its outermost owner that has a template of its own, else the pod itself. */
export async function podSource(kube: Kube, pod: Pod): Promise<PodSource> {
  const { namespace = 'default', name } = pod.metadata;
  let source: PodSource | undefined;
  let object: KubeObject = pod;
  for (let depth = 0; depth < MAX_OWNERS; depth++) {
    const owner = (object.metadata.ownerReferences ?? []).find(({ controller }) => controller === true);
    const kind = OWNERS.find((each) => each.kind === owner?.kind && apiVersionOf(each) === owner.apiVersion);
    if (owner === undefined || kind === undefined) break;
    try {
      object = await kube.get(kind, { namespace, name: owner.name });
    } catch (error) {
      if (isNotFound(error)) break;
      throw error;
    }
    const spec = (object as Templated).spec?.template?.spec;
    const target = { apiVersion: owner.apiVersion, kind: owner.kind, namespace, name: owner.name };
    if (spec !== undefined) source = { target, templatePath: ['spec', 'template'], spec };
  }
  if (source !== undefined) return source;
  const stored = await kube.get(Kinds.Pod, { namespace, name });
  const target = { apiVersion: 'v1', kind: 'Pod', namespace, name };
  return { target, templatePath: [], spec: stored.spec ?? { containers: [] } };
}
