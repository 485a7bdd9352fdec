/** Returns the user that a request with Impersonate headers (`kubectl --as`) is for; throws if that is not allowed. */
import { badRequest, internalError } from '../status.ts';
import type { Authorizer } from './authorizer.ts';
import type { Attributes } from './policyRules.ts';
import { refusal } from './requestAttributes.ts';
import { accountGroups, accountOf, withAuthenticated, type User } from './user.ts';

type Headers = Readonly<Record<string, readonly string[] | undefined>>;

const EXTRA = 'impersonate-extra-';

export function impersonated(authorizer: Authorizer, actor: User, headers: Headers): User {
  const [name] = headers['impersonate-user'] ?? [];
  const groups = headers['impersonate-group'] ?? [];
  const [uid] = headers['impersonate-uid'] ?? [];
  const extra = Object.entries(headers).filter(([header]) => header.startsWith(EXTRA));
  if (name === undefined) {
    if (groups.length === 0 && uid === undefined && extra.length === 0) return actor;
    throw internalError(new Error('requested impersonation without impersonating a user'));
  }
  if (name === '') throw badRequest('Impersonate-User must name a user');
  const extras = extra.map(([header, values]) => [decoded(header.slice(EXTRA.length)), values ?? []] as const);
  for (const asked of [
    subject(name),
    ...groups.map((group) => about('', 'groups', group)),
    ...(uid === undefined ? [] : [about('authentication.k8s.io', 'uids', uid)]),
    ...extras.flatMap(([key, values]) =>
      values.map((value) => about('authentication.k8s.io', 'userextras', value, key)),
    ),
  ]) {
    const { allowed, reason } = authorizer.decide(actor, asked);
    if (!allowed) throw refusal(actor, asked, reason);
  }
  const account = accountOf(name);
  const given = groups.length === 0 && account !== undefined ? accountGroups(account.namespace) : groups;
  const extended = extras.length === 0 ? {} : { extra: Object.fromEntries(extras) };
  return { name, uid, groups: withAuthenticated(name, given), ...extended };
}

function subject(name: string): Attributes {
  const account = accountOf(name);
  return account === undefined
    ? about('', 'users', name)
    : about('', 'serviceaccounts', account.name, '', account.namespace);
}

function about(group: string, resource: string, name: string, subresource = '', namespace = ''): Attributes {
  return { verb: 'impersonate', path: '', resource: { group, resource, subresource, namespace, name } };
}

/** Decodes percent escapes; returns malformed text unchanged. */
function decoded(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch (error) {
    if (error instanceof URIError) return key;
    throw error;
  }
}
