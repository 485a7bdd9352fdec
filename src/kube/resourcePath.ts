/** API paths, below the server's address, of a kind, a reference and query parameters. */
import type { KubeObject, ResourceKind } from '../api/object.ts';
import type { DeleteOptions, ListOptions, ObjectRef, WatchOptions, WriteOptions } from './kube.ts';

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** Path to list and create objects of a kind; all namespaces when none is given. */
export function collectionPath(
  kind: ResourceKind<KubeObject>,
  namespace: string | undefined,
  query: Query = {},
): string {
  const root = kind.group === '' ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  const scope = kind.namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${root}${scope}/${kind.plural}${search(query)}`;
}

export function objectPath(
  kind: ResourceKind<KubeObject>,
  ref: ObjectRef,
  subresource?: string,
  query: Query = {},
): string {
  // An empty name would address the whole collection.
  if (ref.name === '') throw new TypeError(`${kind.kind}: a request for one object needs its name`);
  const collection = collectionPath(kind, requireNamespace(kind, ref.namespace, ref.name));
  const below = subresource === undefined ? '' : `/${subresource}`;
  return `${collection}/${encodeURIComponent(ref.name)}${below}${search(query)}`;
}

export function requireNamespace(
  kind: ResourceKind<KubeObject>,
  namespace: string | undefined,
  name: string | undefined,
): string | undefined {
  if (kind.namespaced && (namespace === undefined || namespace === '')) {
    throw new TypeError(`${kind.kind} ${name ?? ''}: the kind is namespaced, but no namespace was given`);
  }
  return namespace;
}

export const listQuery = (options: ListOptions): Query => ({
  labelSelector: options.labelSelector,
  fieldSelector: options.fieldSelector,
  limit: options.limit,
  continue: options.continue,
  resourceVersion: options.resourceVersion,
  resourceVersionMatch: options.resourceVersionMatch,
});

export const watchQuery = (options: WatchOptions): Query => ({
  ...listQuery(options),
  watch: true,
  allowWatchBookmarks: options.allowBookmarks,
  sendInitialEvents: options.sendInitialEvents,
  timeoutSeconds: options.timeoutSeconds,
});

export const writeQuery = (options: WriteOptions): Query => ({
  fieldManager: options.fieldManager,
  dryRun: options.dryRun === true ? 'All' : undefined,
});

/** The body of a DELETE, or undefined for the defaults. */
export function deleteBody(options: DeleteOptions): object | undefined {
  const { gracePeriodSeconds, propagationPolicy, preconditions, dryRun } = options;
  const body = {
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
    ...(preconditions === undefined ? {} : { preconditions }),
    ...(dryRun === true ? { dryRun: ['All'] } : {}),
  };
  return Object.keys(body).length === 0 ? undefined : { apiVersion: 'v1', kind: 'DeleteOptions', ...body };
}

function search(query: Query): string {
  const parts = Object.entries(query)
    .filter((entry): entry is [string, string | number | boolean] => entry[1] !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
}
