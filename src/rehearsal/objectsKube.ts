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
      if (options.labelSelector !== undefined) throw new InvariantError('a rehearsal does not select by labels');
      const { namespace, fieldSelector = '' } = options;
      const items = objectsOf(objects, kind).filter(
        (object) =>
          (namespace === undefined || object.metadata.namespace === namespace) && hasFields(object, fieldSelector),
      );
      return { metadata: { resourceVersion: '1' }, items };
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

/** Whether the object has all of `a.b=c,d=e`. */
function hasFields(object: KubeObject, selector: string): boolean {
  const wanted = selector.split(',').filter((each) => each !== '');
  return wanted.every((each) => {
    const [path = '', value] = each.split('=');
    const found = path
      .split('.')
      .reduce<unknown>((within, key) => (within as Record<string, unknown> | undefined)?.[key], object);
    return found === value;
  });
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
