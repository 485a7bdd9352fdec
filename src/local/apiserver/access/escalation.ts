/** Throws when a role or binding grants permissions that its writer does not have; the message lists them. */
import { fieldsAt, listAt, sameJson, textAt, type ApiObject } from '../fields.ts';
import type { Resource } from '../resource.ts';
import { forbidden, notFound } from '../status.ts';
import type { Authorizer } from './authorizer.ts';
import { goList, readRule, ruleLines, uncovered, type PolicyRule } from './policyRules.ts';
import { MASTERS, type User } from './user.ts';

const GROUP = 'rbac.authorization.k8s.io';
const KINDS = new Set(['Role', 'ClusterRole', 'RoleBinding', 'ClusterRoleBinding']);
/** The permissions of an aggregated role, because any role may match its selectors later. */
const EVERYTHING = [
  { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
  { nonResourceURLs: ['*'], verbs: ['*'] },
].map(readRule);

export function checkEscalation(
  authorizer: Authorizer,
  user: User,
  resource: Resource,
  draft: ApiObject,
  live: ApiObject | undefined,
): void {
  if (resource.group !== GROUP || !KINDS.has(resource.kind) || user.groups.includes(MASTERS)) return;
  const { name, namespace = '' } = draft.metadata;
  const isSame = (...fields: string[]): boolean =>
    live !== undefined && fields.every((field) => sameJson(draft[field], live[field]));
  const may = (verb: string, plural: string, on: string): boolean => {
    const asked = { group: GROUP, resource: plural, subresource: '', namespace, name: on };
    return authorizer.decide(user, { verb, resource: asked, path: '' }).allowed;
  };
  let wanted: readonly PolicyRule[] | undefined;
  if (resource.kind.endsWith('Role')) {
    if (isSame('rules', 'aggregationRule') || may('escalate', resource.plural, name)) return;
    const selects = draft['aggregationRule'] !== undefined;
    wanted = [...listAt(draft, 'rules').map(readRule), ...(selects ? EVERYTHING : [])];
  } else {
    if (isSame('roleRef', 'subjects')) return;
    const roleRef = fieldsAt(draft, 'roleRef');
    const role = textAt(roleRef, 'name') ?? '';
    if (may('bind', textAt(roleRef, 'kind') === 'ClusterRole' ? 'clusterroles' : 'roles', role)) return;
    wanted = authorizer.rulesOfRole(roleRef, namespace);
    // Upstream's message names the binding's resource instead of the role's.
    if (wanted === undefined) throw notFound(resource, role);
  }
  const { rules, errors } = authorizer.rulesOf(user, namespace);
  const missing = uncovered(rules, wanted);
  if (missing.length === 0) return;
  const unresolved = errors.length === 0 ? '' : `; resolution errors: [${errors.join(', ')}]`;
  const who = `user ${JSON.stringify(user.name)} (groups=${goList(user.groups)})`;
  const why = `${who} is attempting to grant RBAC permissions not currently held:\n${ruleLines(missing)}${unresolved}`;
  throw forbidden(resource, name, why);
}
