import type { KubeObject } from '../../api/object.ts';
import type { Informer, InformerEvent } from '../informer.ts';
import { keyOf } from '../store.ts';

export { keyOf };

/** A source of keys: calls `enqueue` with a key whenever it needs a reconcile, until stopped. */
export interface Watch<K extends string = string> {
  start(enqueue: (key: K) => void): () => void;
}

/**
 * Maps an informer's events to keys (by default the object's own). Starts with every object that the informer already
 * holds, so that none is missed.
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

/** What `keyOf` made a key of: the way back from a key to its object. */
export function refOf(key: string): { readonly name: string; readonly namespace?: string } {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
