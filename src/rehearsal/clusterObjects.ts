/** A cluster as plain objects at one moment: the content of a snapshot file and the start of a rehearsal. */
import { Kinds } from '../api/kinds.ts';
import type { KubeObject, ResourceKind } from '../api/object.ts';
import { isForbidden, isNotFound } from '../kube/errors.ts';
import { isItemwise } from '../kube/itemwiseKube.ts';
import type { Kube, ListOptions } from '../kube/kube.ts';
import { trimFor } from '../kube/trim.ts';

export interface ClusterObjects {
  /** When they were read, in milliseconds since 1970. */
  readonly time: number;
  /** By `kindKey`. */
  readonly kinds: ReadonlyMap<string, readonly KubeObject[]>;
}

type AnyKind = ResourceKind<KubeObject>;

/** Kinds that loops read, besides the node classes. */
export const LOOP_KINDS: readonly AnyKind[] = [
  Kinds.Pod,
  Kinds.Node,
  Kinds.NodeClaim,
  Kinds.NodePool,
  Kinds.DaemonSet,
  Kinds.PodDisruptionBudget,
  Kinds.LimitRange,
  Kinds.Namespace,
  Kinds.PersistentVolumeClaim,
  Kinds.PersistentVolume,
  Kinds.StorageClass,
  Kinds.CSINode,
  Kinds.VolumeAttachment,
];

/** Owners of pods that can be patched. */
export const WORKLOADS: readonly AnyKind[] = [
  Kinds.Deployment,
  Kinds.ReplicaSet,
  Kinds.StatefulSet,
  Kinds.ReplicationController,
];

/** Kinds that loops do not require where reading them is forbidden. */
const OPTIONAL: readonly AnyKind[] = [Kinds.LimitRange];

const PAGE = 500;

export const kindKey = ({ plural, group }: AnyKind): string => (group === '' ? plural : `${plural}.${group}`);

export function objectsOf<T extends KubeObject>({ kinds }: ClusterObjects, kind: ResourceKind<T>): readonly T[] {
  return (kinds.get(kindKey(kind)) ?? []) as readonly T[];
}

export function findObject<T extends KubeObject>(
  objects: ClusterObjects,
  kind: ResourceKind<T>,
  ref: { readonly name: string; readonly namespace?: string | undefined },
): T | undefined {
  return objectsOf(objects, kind).find(
    ({ metadata }) => metadata.name === ref.name && (metadata.namespace ?? '') === (ref.namespace ?? ''),
  );
}

export interface ReadingOptions {
  /** Fields of each object to keep; by default what loops read. */
  readonly keep?: (object: KubeObject, kind: AnyKind) => KubeObject;
  /** Called after each page. */
  readonly onProgress?: (progress: { readonly kind: string; readonly objects: number }) => void;
  readonly signal?: AbortSignal;
}

/**
 * Lists all kinds, in pages. Lists are not from the same moment: an object that changes meanwhile is as its list
 * returned it.
 */
export async function readObjects(
  kube: Kube,
  wanted: readonly AnyKind[],
  time: number,
  options: ReadingOptions = {},
): Promise<ClusterObjects> {
  let objects = 0;
  const read = await Promise.all(
    wanted.map(async (kind): Promise<[string, readonly KubeObject[]]> => {
      const found: KubeObject[] = [];
      const trim = trimFor(kind);
      const keep = options.keep ?? ((object: KubeObject): KubeObject => trim(object, undefined));
      try {
        await listPages(
          kube,
          kind,
          options.signal,
          (object) => found.push(keep(object, kind)),
          () => {
            options.onProgress?.({ kind: kind.plural, objects: (objects += PAGE) });
          },
        );
      } catch (error) {
        if (!(OPTIONAL.includes(kind) && (isForbidden(error) || isNotFound(error)))) throw error;
      }
      return [kindKey(kind), found];
    }),
  );
  return { time, kinds: new Map(read) };
}

async function listPages(
  kube: Kube,
  kind: AnyKind,
  signal: AbortSignal | undefined,
  visit: (object: KubeObject) => void,
  onPage: () => void,
): Promise<void> {
  let paging: Pick<ListOptions, 'limit' | 'continue'> = { limit: PAGE };
  for (;;) {
    const options = { ...paging, ...(signal && { signal }) };
    let next: string | undefined;
    if (isItemwise(kube)) next = (await kube.listEach(kind, options, visit)).continue;
    else {
      const page = await kube.list(kind, options);
      page.items.forEach(visit);
      next = page.metadata.continue;
    }
    if (next === undefined || next === '') return;
    onPage();
    paging = { limit: PAGE, continue: next };
  }
}
