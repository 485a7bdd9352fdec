import { InvariantError } from '../errors/invariantError.ts';
import type { KubeObject, ResourceKind } from '../api/object.ts';
import { KubeError } from '../kube/errors.ts';
import type { Kube, ListOptions, ObjectRef, WatchEvent, WatchOptions } from '../kube/kube.ts';
import { kindKey, objectsOf, type ClusterObjects } from './clusterObjects.ts';

type Reads = Pick<Kube, 'get' | 'list'>;

/** An API server with constant objects. Reads of other kinds are forwarded to `behind`, if given. A write is a bug. */
export function objectsKube(objects: ClusterObjects, behind?: Reads): Kube {
  const refuse = async (): Promise<never> => {
    throw new InvariantError('a rehearsal must not write');
  };
  const has = (kind: ResourceKind<KubeObject>): boolean => objects.kinds.has(kindKey(kind));
  return {
    get: async <T extends KubeObject>(kind: ResourceKind<T>, ref: ObjectRef): Promise<T> => {
      if (!has(kind) && behind !== undefined) return behind.get(kind, ref);
      const found = objectsOf(objects, kind).find(
        ({ metadata }) => metadata.name === ref.name && (metadata.namespace ?? '') === (ref.namespace ?? ''),
      );
      if (found === undefined) throw notFound(kind, ref);
      return found;
    },
    list: async <T extends KubeObject>(kind: ResourceKind<T>, options: ListOptions = {}) => {
      if (!has(kind) && behind !== undefined) return behind.list(kind, options);
      if (options.labelSelector !== undefined || options.fieldSelector !== undefined) {
        throw new InvariantError('a rehearsal lists whole kinds');
      }
      const { namespace } = options;
      const all = objectsOf(objects, kind);
      const items = namespace === undefined ? all : all.filter(({ metadata }) => metadata.namespace === namespace);
      return { metadata: { resourceVersion: '1' }, items: [...items] };
    },
    watch: <T extends KubeObject>(_: ResourceKind<T>, { signal }: WatchOptions): AsyncIterable<WatchEvent<T>> =>
      silence(signal),
    create: refuse,
    replace: refuse,
    patch: refuse,
    delete: refuse,
    deleteCollection: refuse,
    evict: refuse,
    bind: refuse,
    raw: refuse,
  };
}

/** A watch without events, until it is aborted. */
function silence(signal: AbortSignal | undefined): AsyncIterable<never> {
  const next = async (): Promise<IteratorReturnResult<undefined>> => {
    if (signal !== undefined && !signal.aborted) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    }
    return { done: true, value: undefined };
  };
  return { [Symbol.asyncIterator]: () => ({ next }) };
}

function notFound(kind: ResourceKind<KubeObject>, { name }: ObjectRef): KubeError {
  return new KubeError({
    status: 'Failure',
    reason: 'NotFound',
    code: 404,
    message: `${kindKey(kind)} "${name}" not found`,
  });
}
