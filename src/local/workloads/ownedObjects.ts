import type { KubeObject } from '../../api/object.ts';
import type { Informer } from '../../kube/informer.ts';
import { keyOf } from '../../kube/runtime/watch.ts';

/** Name of the index by the UID of the controlling owner. */
export const BY_CONTROLLER = 'controller-uid';

export const controllerOf = (
  object: KubeObject,
): NonNullable<KubeObject['metadata']['ownerReferences']>[number] | undefined =>
  object.metadata.ownerReferences?.find(({ controller }) => controller);

export const byControllerIndex = (object: KubeObject): readonly string[] => {
  const owner = controllerOf(object);
  return owner ? [owner.uid] : [];
};

/**
 * The objects that a controller owns, as it must see them: what the informer has, plus what was just created, minus
 * what was just deleted. Without it a controller that is faster than its watch makes everything twice.
 */
export class OwnedObjects<T extends KubeObject> {
  private readonly informer: Informer<T>;
  private readonly created = new Map<string, Map<string, T>>();
  private readonly deleted = new Set<string>();

  constructor(informer: Informer<T>) {
    this.informer = informer;
  }

  of(ownerUid: string): readonly T[] {
    const listed = this.informer.store.byIndex(BY_CONTROLLER, ownerUid);
    const created = this.created.get(ownerUid);
    if (created) {
      for (const [key, object] of created) {
        const seen = this.informer.store.get({ name: object.metadata.name, namespace: object.metadata.namespace });
        if (seen) created.delete(key);
      }
      if (created.size === 0) this.created.delete(ownerUid);
    }
    const alive = listed.filter((object) => !this.deleted.has(object.metadata.uid ?? ''));
    return created ? [...alive, ...created.values()] : alive;
  }

  noteCreated(ownerUid: string, object: T): void {
    const created = this.created.get(ownerUid) ?? new Map<string, T>();
    this.created.set(ownerUid, created.set(keyOf(object), object));
  }

  noteDeleted(object: T): void {
    if (object.metadata.uid) this.deleted.add(object.metadata.uid);
  }

  /** Feed every informer event in: what the server has confirmed need not be remembered. */
  observe(event: { readonly type: 'added' | 'updated' | 'deleted'; readonly object: T }): void {
    const { uid, deletionTimestamp } = event.object.metadata;
    if (uid && (event.type === 'deleted' || deletionTimestamp)) this.deleted.delete(uid);
    const owner = controllerOf(event.object);
    if (owner) this.created.get(owner.uid)?.delete(keyOf(event.object));
  }
}
