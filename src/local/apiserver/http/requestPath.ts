/** The address of a request. In: a URL path. Out: which resource, object and subresource it names, if any. */
export interface ResourcePath {
  readonly group: string;
  readonly version: string;
  readonly namespace: string | undefined;
  readonly plural: string;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

/** `undefined` for everything that is not below a resource: discovery, health, OpenAPI. */
export function parseResourcePath(path: string): ResourcePath | undefined {
  const parts = path
    .split('/')
    .filter((part) => part !== '')
    .map(decodeURIComponent);
  let group = '';
  let rest: string[];
  if (parts[0] === 'api' && parts.length >= 3) rest = parts.slice(1);
  else if (parts[0] === 'apis' && parts.length >= 4) {
    group = parts[1] ?? '';
    rest = parts.slice(2);
  } else return undefined;
  const [version = '', ...tail] = rest;
  // `namespaces/x/pods` is inside a namespace; `namespaces/x` and `namespaces/x/status` are the namespace itself.
  const inNamespace =
    tail[0] === 'namespaces' &&
    tail.length >= 3 &&
    !(group === '' && (tail[2] === 'status' || tail[2] === 'finalize') && tail.length === 3);
  const namespace = inNamespace ? tail[1] : undefined;
  const [plural = '', name, ...subresource] = inNamespace ? tail.slice(2) : tail;
  if (plural === '' || subresource.length > 1) return undefined;
  return { group, version, namespace, plural, name, subresource: subresource[0] };
}
