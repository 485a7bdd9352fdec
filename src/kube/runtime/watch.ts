import type { KubeObject } from '../../api/object.ts';
import type { Informer, InformerEvent } from '../informer.ts';
import { keyOf } from '../store.ts';

export { keyOf };

/** A source of keys: calls `enqueue` with each key that needs a reconcile, until stopped. */
export interface Watch<K extends string = string> {
  start(enqueue: (key: K) => void): () => void;
}

/**
 * Maps an informer's events to keys (by default the object's own). Starts with all objects already in the informer, so
 * that none is missed.
 */
export function watch<T extends KubeObject, K extends string = string>(
  informer: Pick<Informer<T>, 'subscribe'>,
  keys: (event: InformerEvent<T>) => Iterable<K> = ownKey,
): Watch<K> {
  return {
    start: (enqueue) =>
      informer.subscribe((event) => {
        for (const key of keys(event)) enqueue(key);
      }),
  };
}

function ownKey<K extends string>(event: InformerEvent<KubeObject>): Iterable<K> {
  return [keyOf(event.object) as K];
}

/** The inverse of `keyOf`. */
export function refOf(key: string): { readonly name: string; readonly namespace?: string } {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
