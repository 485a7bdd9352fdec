/** The attributes of a request for authorization, and the error when it is forbidden. */
import type { KubeError } from '../../../kube/errors.ts';
import { parseResourcePath } from '../http/requestPath.ts';
import { forbidden, forbiddenPath } from '../status.ts';
import type { Attributes, ResourceAttributes } from './policyRules.ts';
import type { User } from './user.ts';

const VERBS = new Map([
  ['GET', 'get'],
  ['HEAD', 'get'],
  ['POST', 'create'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
]);
const verbOf = (method: string): string => VERBS.get(method) ?? method.toLowerCase();
const NAMED = /^metadata\.name==?([^,!=]+)$/;

export function requestAttributes(method: string, path: string, query: URLSearchParams): Attributes {
  const found = parseResourcePath(path);
  if (found === undefined) return { verb: method.toLowerCase(), path };
  const { group, plural, namespace, subresource = '' } = found;
  // A namespace object is authorized like an object in that namespace.
  const home = group === '' && plural === 'namespaces' ? (found.name ?? '') : (namespace ?? '');
  const verb = found.name === undefined ? collectionVerb(method, query) : verbOf(method);
  const selected = (query.get('fieldSelector') ?? '')
    .split(',')
    .map((term) => NAMED.exec(term)?.[1])
    .find((name) => name !== undefined);
  const selects = verb === 'list' || verb === 'watch' || verb === 'deletecollection';
  const name = found.name ?? (selects ? (selected ?? '') : '');
  return { verb, path, resource: { group, resource: plural, subresource, namespace: home, name } };
}

function collectionVerb(method: string, query: URLSearchParams): string {
  if (method === 'DELETE') return 'deletecollection';
  if (method !== 'GET' && method !== 'HEAD') return verbOf(method);
  const watch = query.get('watch');
  return watch === 'true' || watch === '1' || watch === '' ? 'watch' : 'list';
}

export function refusal(user: User, attributes: Attributes, reason: string): KubeError {
  const why = reason === '' ? '' : `: ${reason}`;
  const who = `User ${JSON.stringify(user.name)} cannot ${attributes.verb}`;
  const { resource } = attributes;
  if (resource === undefined) return forbiddenPath(`${who} path ${JSON.stringify(attributes.path)}${why}`);
  const { group, name } = resource;
  const what = `resource ${JSON.stringify(fullName(resource))} in API group ${JSON.stringify(group)} ${scope(resource)}`;
  return forbidden({ group, plural: resource.resource }, name, `${who} ${what}${why}`);
}

function fullName({ resource, subresource }: ResourceAttributes): string {
  return subresource === '' ? resource : `${resource}/${subresource}`;
}

function scope({ namespace }: ResourceAttributes): string {
  return namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`;
}
