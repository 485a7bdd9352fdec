import type { KubeObject } from '../../api/object.ts';
import { keyOf } from '../store.ts';

export { keyOf };

/** Something that makes work: calls `enqueue` with a key for every reason to look at it, until stopped. */
export interface Watch<K extends string = string> {
  start(enqueue: (key: K) => void): () => void;
}

export type ObjectEvent<T> =
  | { readonly type: 'added'; readonly object: T }
  | { readonly type: 'updated'; readonly object: T; readonly old: T }
  | { readonly type: 'deleted'; readonly object: T };

/** What a watch needs of an informer. */
export interface ObjectSource<T extends KubeObject> {
  readonly store: { list(): Iterable<T> };
  subscribe(listener: (event: ObjectEvent<T>) => void): () => void;
}

/**
 * Binds an informer to keys. In: an informer and which keys an event concerns (by default the object's own).
 * Out: a watch that starts with every object that the informer already holds, so that none is missed.
 */
export function watch<T extends KubeObject, K extends string = string>(
  informer: ObjectSource<T>,
  keys: (event: ObjectEvent<T>) => Iterable<K> = ownKey,
): Watch<K> {
  return {
    start(enqueue) {
      const onEvent = (event: ObjectEvent<T>): void => {
        for (const key of keys(event)) enqueue(key);
      };
      const unsubscribe = informer.subscribe(onEvent);
      for (const object of informer.store.list()) onEvent({ type: 'added', object });
      return unsubscribe;
    },
  };
}

function ownKey<K extends string>(event: ObjectEvent<KubeObject>): Iterable<K> {
  return [keyOf(event.object) as K];
}

/** What `keyOf` made a key of: the way back from a key to its object. */
export function refOf(key: string): { readonly name: string; readonly namespace?: string } {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
