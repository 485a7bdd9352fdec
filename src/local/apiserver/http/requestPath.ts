/** The resource, object and subresource of a request's path. */
export interface ResourcePath {
  readonly group: string;
  readonly version: string;
  readonly namespace: string | undefined;
  readonly plural: string;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

/** Returns the decoded path and the query of a request line; undefined if the path is malformed. */
export function parseUrl(url: string): { readonly path: string; readonly query: URLSearchParams } | undefined {
  const [, path = '', query = ''] = /^([^?#]*)\??([^#]*)/s.exec(url) ?? [];
  if (!path.startsWith('/')) return undefined;
  try {
    return { path: decodeURIComponent(path), query: new URLSearchParams(query) };
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

/** Returns undefined for paths that are not of resources: discovery, health, OpenAPI. */
export function parseResourcePath(path: string): ResourcePath | undefined {
  const [root, ...parts] = path.split('/').filter((part) => part !== '');
  if (root !== 'api' && root !== 'apis') return undefined;
  const [group = '', version = '', ...tail] = root === 'api' ? ['', ...parts] : parts;
  if (tail.length === 0) return undefined;
  // `namespaces/x/pods` is in a namespace; `namespaces/x` and `namespaces/x/status` are the namespace itself.
  const inNamespace =
    tail[0] === 'namespaces' &&
    tail.length >= 3 &&
    !(group === '' && (tail[2] === 'status' || tail[2] === 'finalize') && tail.length === 3);
  const namespace = inNamespace ? tail[1] : undefined;
  const [plural = '', name, subresource, ...beyond] = inNamespace ? tail.slice(2) : tail;
  // After `proxy` comes the path on the proxied server.
  if (plural === '' || (beyond.length > 0 && subresource !== 'proxy')) return undefined;
  return { group, version, namespace, plural, name, subresource };
}
