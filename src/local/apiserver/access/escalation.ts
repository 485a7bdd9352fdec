/** Refuses to write a role or binding that grants more than the writer holds; the refusal lists what is missing. */
import { fieldsAt, listAt, sameJson, textAt, type ApiObject } from '../fields.ts';
import type { Resource } from '../resource.ts';
import { forbidden, notFound } from '../status.ts';
import type { Authorizer } from './authorizer.ts';
import { goList, readRule, ruleLines, uncovered, type PolicyRule } from './policyRules.ts';
import { MASTERS, type User } from './user.ts';

const GROUP = 'rbac.authorization.k8s.io';
const ROLES = new Set(['roles', 'clusterroles']);
const BINDINGS = new Set(['rolebindings', 'clusterrolebindings']);

export function isGuarded(resource: Resource): boolean {
  return resource.group === GROUP && (ROLES.has(resource.plural) || BINDINGS.has(resource.plural));
}

export function checkEscalation(
  authorizer: Authorizer,
  user: User,
  resource: Resource,
  draft: ApiObject,
  live: ApiObject | undefined,
): void {
  if (user.groups.includes(MASTERS)) return;
  if (ROLES.has(resource.plural)) checkRole(authorizer, user, resource, draft, live);
  else checkBinding(authorizer, user, resource, draft, live);
}

function checkRole(
  authorizer: Authorizer,
  user: User,
  resource: Resource,
  draft: ApiObject,
  live: ApiObject | undefined,
): void {
  const isSame = live !== undefined && ['rules', 'aggregationRule'].every((name) => sameJson(draft[name], live[name]));
  if (isSame || may(authorizer, user, 'escalate', resource.plural, draft.metadata)) return;
  const rules = listAt(draft, 'rules').map(readRule);
  if (draft['aggregationRule'] !== undefined) {
    // A rule that selects roles may come to grant anything.
    const everything = { apiGroups: ['*'], resources: ['*'], verbs: ['*'], resourceNames: [], nonResourceURLs: [] };
    const paths = { apiGroups: [], resources: [], verbs: ['*'], resourceNames: [], nonResourceURLs: ['*'] };
    rules.push(everything, paths);
  }
  confirm(authorizer, user, resource, draft, rules);
}

function checkBinding(
  authorizer: Authorizer,
  user: User,
  resource: Resource,
  draft: ApiObject,
  live: ApiObject | undefined,
): void {
  const isSame = live !== undefined && ['roleRef', 'subjects'].every((name) => sameJson(draft[name], live[name]));
  if (isSame) return;
  const { namespace = '' } = draft.metadata;
  const roleRef = fieldsAt(draft, 'roleRef');
  const name = textAt(roleRef, 'name') ?? '';
  const plural = textAt(roleRef, 'kind') === 'ClusterRole' ? 'clusterroles' : 'roles';
  if (may(authorizer, user, 'bind', plural, { name, namespace })) return;
  const rules = authorizer.rulesBehind(roleRef, namespace);
  // Upstream names the binding's kind where it means the role's.
  if (rules === undefined) throw notFound(resource, name);
  confirm(authorizer, user, resource, draft, rules);
}

function may(
  authorizer: Authorizer,
  user: User,
  verb: string,
  resource: string,
  { name, namespace = '' }: { readonly name: string; readonly namespace?: string | undefined },
): boolean {
  const asked = { group: GROUP, resource, subresource: '', namespace, name };
  return authorizer.decide(user, { verb, resource: asked, path: '' }).allowed;
}

function confirm(
  authorizer: Authorizer,
  user: User,
  resource: Resource,
  draft: ApiObject,
  wanted: readonly PolicyRule[],
): void {
  const { rules, errors } = authorizer.rulesOf(user, draft.metadata.namespace ?? '');
  const missing = uncovered(rules, wanted);
  if (missing.length === 0) return;
  const unresolved = errors.length === 0 ? '' : `; resolution errors: [${errors.join(', ')}]`;
  const who = `user ${JSON.stringify(user.name)} (groups=${goList(user.groups)})`;
  const why = `${who} is attempting to grant RBAC permissions not currently held:\n${ruleLines(missing)}${unresolved}`;
  throw forbidden(resource, draft.metadata.name, why);
}
