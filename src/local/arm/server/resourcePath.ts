/** The path of an ARM request: subscription, group, provider, type, names, and the action or collection after them. */
export interface ResourcePath {
  readonly subscription: string | undefined;
  readonly group: string | undefined;
  /** `Microsoft.Compute`; undefined for ARM's own objects. */
  readonly namespace: string | undefined;
  /** For example `virtualMachines/extensions`. */
  readonly type: string;
  readonly names: readonly string[];
  /** The last segment when it is not a name: an action, or the type of a collection. */
  readonly tail: string | undefined;
}

export function parseResourcePath(path: string): ResourcePath {
  const segments = path.split('/').filter((segment) => segment !== '');
  const words = segments.map((segment) => segment.toLowerCase());
  const after = (word: string): string | undefined => {
    const index = words.indexOf(word);
    return index < 0 ? undefined : segments[index + 1];
  };
  const provider = words.lastIndexOf('providers');
  const subscription = words[0] === 'subscriptions' ? segments[1] : undefined;
  const group = subscription === undefined ? undefined : after('resourcegroups');
  if (provider < 0 || segments[provider + 1] === undefined) {
    const own = group === undefined ? 'subscriptions' : 'subscriptions/resourceGroups';
    return { subscription, group, namespace: undefined, type: own, names: [], tail: undefined };
  }
  const rest = segments.slice(provider + 2);
  // The registration of a provider is ARM's own object, too.
  if (rest.length === 0 || (rest.length === 1 && rest[0]?.toLowerCase() === 'register')) {
    return { subscription, group, namespace: undefined, type: 'subscriptions/providers', names: [], tail: rest[0] };
  }
  const types: string[] = [];
  const names: string[] = [];
  for (let index = 0; index + 1 < rest.length; index += 2) {
    types.push(rest[index] ?? '');
    names.push(rest[index + 1] ?? '');
  }
  const tail = rest.length % 2 === 1 ? rest.at(-1) : undefined;
  return { subscription, group, namespace: segments[provider + 1], type: types.join('/'), names, tail };
}

/** Returns the type of the collection or resource of a request, without its action. */
export function requestedType({ type, tail }: ResourcePath, method: string): string {
  if (tail === undefined || method === 'POST') return type === '' ? (tail ?? '') : type;
  return type === '' ? tail : `${type}/${tail}`;
}

const VERBS: Readonly<Record<string, string>> = {
  GET: 'read',
  HEAD: 'read',
  PUT: 'write',
  PATCH: 'write',
  DELETE: 'delete',
};

/** Returns the action that a role must allow, such as `Microsoft.Compute/virtualMachines/write`. */
export function actionOf(path: ResourcePath, method: string): string {
  const namespace = path.namespace ?? 'Microsoft.Resources';
  const type = requestedType(path, method);
  if (method !== 'POST') return `${namespace}/${type}/${VERBS[method] ?? 'read'}`;
  return type === path.tail ? `${namespace}/${type}/action` : `${namespace}/${type}/${path.tail ?? ''}/action`;
}
