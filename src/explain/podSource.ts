import { Kinds, type Pod } from '../api/kinds.ts';
import { apiVersionOf, type KubeObject, type ResourceKind } from '../api/object.ts';
import { mergePatch } from '../kube/mergePatch.ts';
import { isNotFound } from '../kube/errors.ts';
import type { Kube } from '../kube/kube.ts';
import type { Patch } from '../ledger/explanation.ts';
import type { PodSource } from './podFixes.ts';

type Spec = PodSource['spec'];

interface Templated extends KubeObject {
  readonly spec?: {
    readonly template?: { readonly spec?: Spec };
    readonly replicas?: number;
    readonly ordinals?: { readonly start?: number };
    readonly podManagementPolicy?: string;
    readonly updateStrategy?: { readonly type?: string };
  };
}

/** Kinds with a changeable pod template, and kinds created by another object. */
const OWNERS: readonly ResourceKind<KubeObject>[] = [
  Kinds.Deployment,
  Kinds.ReplicaSet,
  Kinds.StatefulSet,
  Kinds.DaemonSet,
  Kinds.ReplicationController,
  Kinds.Job,
];

/** Limit on the depth of owners. */
const MAX_OWNERS = 4;

/** The object to change to get a different pod: its outermost owner with its own template, otherwise the pod itself. */
export async function podSource(kube: Kube, pod: Pod, all: Iterable<Pod>): Promise<PodSource> {
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
    if (spec === undefined) continue;
    const scale = scaleToRemake(kind, object, pod, all);
    const isOutdated = kind === Kinds.Deployment && source !== undefined && mergePatch(source.spec, spec) !== undefined;
    const firstOrdinal = (object as Templated).spec?.ordinals?.start ?? 0;
    const remake = kind === Kinds.Job && isWhole(spec) ? jobManifest(object, target) : undefined;
    if (kind === Kinds.Job && remake === undefined) continue;
    source = {
      target,
      templatePath: ['spec', 'template'],
      spec,
      firstOrdinal,
      ...(isOutdated && { isOutdated }),
      ...(scale && { scale }),
      ...(remake && { remake }),
    };
  }
  if (source !== undefined) return source;
  const stored = await kube.get(Kinds.Pod, { namespace, name });
  const target = { apiVersion: 'v1', kind: 'Pod', namespace, name };
  const spec = stored.spec ?? { containers: [] };
  const isOwned = (pod.metadata.ownerReferences ?? []).some(({ controller }) => controller === true);
  const remake = isOwned || !isWhole(spec) ? undefined : manifestOf(stored, target, { spec });
  return { target, templatePath: [], spec, ...(remake && { remake }) };
}

/** Whether containers are complete; those in a snapshot are trimmed. */
const isWhole = ({ containers }: Spec): boolean => containers.every(({ image }) => image !== undefined);

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** The object as a user would write it. */
function manifestOf({ metadata }: KubeObject, { apiVersion, kind }: PodSource['target'], fields: object) {
  const { name, namespace, labels = {}, annotations = {} } = metadata;
  const { [LAST_APPLIED]: _, ...kept } = annotations;
  return { apiVersion, kind, metadata: { name, namespace, labels, annotations: kept }, ...fields };
}

/** Labels by which a Job identifies its own pods: a recreated Job gets new ones. */
const OF_JOB = /^(batch\.kubernetes\.io\/)?(controller-uid|job-name)$/;

/** A Job must be recreated to get different pods. */
function jobManifest(job: KubeObject, target: PodSource['target']): Patch['patch'] {
  const { selector: _, template, ...spec } = (job as Templated & { spec: Record<string, unknown> }).spec;
  const { metadata = {}, ...rest } = template as { metadata?: { labels?: Record<string, string> } };
  const labels = Object.fromEntries(Object.entries(metadata.labels ?? {}).filter(([key]) => !OF_JOB.test(key)));
  const { metadata: own, ...manifest } = manifestOf(job, target, {
    spec: { ...spec, template: { ...rest, metadata: { ...metadata, labels } } },
  });
  const kept = Object.fromEntries(Object.entries(own.labels).filter(([key]) => !OF_JOB.test(key)));
  return { ...manifest, metadata: { ...own, labels: kept } };
}

/**
 * A ReplicaSet never replaces a pod after a template change, and a StatefulSet waits forever for a pod that does not
 * become ready. Scaling down to the running pods removes the pod; scaling up recreates it from the new template.
 */
function scaleToRemake(
  kind: ResourceKind<KubeObject>,
  owner: Templated,
  pod: Pod,
  all: Iterable<Pod>,
): PodSource['scale'] {
  const { replicas = 1, ordinals, podManagementPolicy, updateStrategy } = owner.spec ?? {};
  if (kind === Kinds.StatefulSet) {
    if (podManagementPolicy === 'Parallel' && updateStrategy?.type !== 'OnDelete') return undefined;
    return { down: Math.max(0, ordinalOf(pod) - (ordinals?.start ?? 0)), up: replicas };
  }
  if (kind !== Kinds.ReplicaSet && kind !== Kinds.ReplicationController) return undefined;
  const own = [...all].filter(({ metadata }) =>
    (metadata.ownerReferences ?? []).some(({ uid }) => uid === owner.metadata.uid),
  );
  return { down: own.filter(({ spec }) => spec?.nodeName !== undefined).length, up: replicas };
}

/** The ordinal of a StatefulSet's pod. */
export const ordinalOf = ({ metadata }: Pod): number => Number(/-(\d+)$/.exec(metadata.name)?.[1] ?? 0);
