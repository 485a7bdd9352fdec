import { Kinds, type Pod } from '../../api/kinds.ts';
import type { KubeObject, ResourceKind } from '../../api/object.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { isGone } from '../../kube/deletion.ts';
import type { Kube } from '../../kube/kube.ts';
import { trimFor } from '../../kube/trim.ts';

/**
 * The API server for loops: the answer to every read and write of a NodeClaim, a Node or a Pod updates the cluster
 * before the caller gets it, so that no loop works with state older than its own write. Loops get no other `Kube`.
 */
export function writeThroughKube(kube: Kube, cluster: Cluster): Kube {
  const record = recorder(cluster);
  return {
    list: (...request) => kube.list(...request),
    watch: (...request) => kube.watch(...request),
    deleteCollection: (...request) => kube.deleteCollection(...request),
    evict: (...request) => kube.evict(...request),
    bind: (...request) => kube.bind(...request),
    raw: (...request) => kube.raw(...request),
    get: async (kind, ref, options) => {
      const answer = await kube.get(kind, ref, options);
      if (options?.subresource === undefined) record.updated(kind, answer);
      return answer;
    },
    create: async (kind, object, options) => {
      const answer = await kube.create(kind, object, options);
      if (!options?.dryRun) record.created(kind, answer);
      return answer;
    },
    replace: async (kind, object, options) => {
      const answer = await kube.replace(kind, object, options);
      if (!options?.dryRun) record.updated(kind, answer);
      return answer;
    },
    patch: async (kind, ref, patch, options) => {
      const answer = await kube.patch(kind, ref, patch, options);
      if (!options?.dryRun) record.updated(kind, answer);
      return answer;
    },
    delete: async (kind, ref, options) => {
      const answer = await kube.delete(kind, ref, options);
      if (options?.dryRun) return answer;
      if (answer === undefined) record.removed(kind, { ...ref, uid: options?.preconditions?.uid });
      else record.updated(kind, answer);
      return answer;
    },
  };
}

interface Removed {
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly uid: string | undefined;
}

/** Updates of the cluster for objects of one kind. */
interface Shelf<T extends KubeObject> {
  readonly kind: ResourceKind<T>;
  created?(object: T): void;
  updated(object: T): void;
  removed(object: Removed): void;
}

interface Recorder {
  created(kind: ResourceKind<KubeObject>, object: KubeObject): void;
  updated(kind: ResourceKind<KubeObject>, object: KubeObject): void;
  removed(kind: ResourceKind<KubeObject>, object: Removed): void;
}

function recorder(cluster: Cluster): Recorder {
  const trimClaim = trimFor(Kinds.NodeClaim);
  const trimNode = trimFor(Kinds.Node);
  const trimPod = trimFor(Kinds.Pod);
  const shelves = [
    shelf({
      kind: Kinds.NodeClaim,
      created: (claim) => cluster.addClaim(trimClaim(claim, undefined)),
      updated: (claim) => cluster.updateClaim(trimClaim(claim, cluster.claim(claim.metadata.name))),
      removed: ({ name, uid }) => cluster.removeClaim(name, uid ?? cluster.claim(name)?.metadata.uid),
    }),
    shelf({
      kind: Kinds.Node,
      updated: (node) => cluster.updateNode(trimNode(node, cluster.node(node.metadata.name))),
      removed: ({ name, uid }) => cluster.removeNode(name, uid),
    }),
    shelf({
      kind: Kinds.Pod,
      updated: (pod) => cluster.updatePod(trimPod(pod, cluster.pod(pod.metadata))),
      removed: ({ name, namespace, uid }) => {
        const known: Pod | undefined = cluster.pod({ name, namespace });
        if (known && (uid === undefined || uid === known.metadata.uid)) cluster.removePod(known);
      },
    }),
  ];
  const shelfOf = (kind: ResourceKind<KubeObject>): Shelf<KubeObject> | undefined =>
    shelves.find((known) => known.kind.kind === kind.kind && known.kind.group === kind.group);
  const updated: Recorder['updated'] = (kind, object) => {
    const found = shelfOf(kind);
    // A subresource may return an object of another kind.
    if (found === undefined || (object.kind !== undefined && object.kind !== kind.kind)) return;
    if (isGone(object)) found.removed({ ...object.metadata, uid: object.metadata.uid });
    else found.updated(object);
  };
  return {
    // Objects not created here arrive through the watch.
    created: (kind, object) => shelfOf(kind)?.created?.(object),
    updated,
    removed: (kind, object) => shelfOf(kind)?.removed(object),
  };
}

/** Erases the object type; `shelfOf` passes each shelf only objects of its kind. */
const shelf = <T extends KubeObject>(of: Shelf<T>): Shelf<KubeObject> => of as unknown as Shelf<KubeObject>;
