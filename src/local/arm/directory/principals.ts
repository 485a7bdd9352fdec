/** Principals, their roles at scopes, and Azure's 403. Roles list only the actions that matter here. */
import { refusal } from '../refusal.ts';
import roles from './roles.json' with { type: 'json' };

/** Actions that a role allows, and exceptions from them; `*` matches anything. */
interface Role {
  readonly actions: readonly string[];
  readonly notActions?: readonly string[];
}

/** Azure's own roles, with the ids that they have in every tenant. */
const ROLES: Readonly<Record<RoleName, Role & { readonly id: string }>> = roles;

type RoleName = keyof typeof roles;

export const BUILT_IN_ROLES = Object.entries(ROLES).map(([name, { id, ...role }]) => ({
  name: name as RoleName,
  guid: id,
  role,
}));

export interface RoleAssignment {
  /** A built-in role by its name, or a custom role. */
  readonly role: RoleName | Role;
  /** Prefix of ids: a subscription, a group or a resource. */
  readonly scope: string;
}

export interface Principal {
  readonly clientId: string;
  readonly objectId: string;
  readonly clientSecret: string;
  readonly assignments: readonly RoleAssignment[];
}

export class Principals {
  private readonly byClient = new Map<string, Principal>();

  add(principal: Principal): void {
    this.byClient.set(principal.clientId, principal);
  }

  remove(clientId: string): void {
    this.byClient.delete(clientId);
  }

  find(clientId: string): Principal | undefined {
    return this.byClient.get(clientId);
  }
}

/** Throws the 403 of ARM when no role of the principal allows the action at the scope. */
export function authorize(principal: Principal, action: string, scope: string): void {
  if (mayDo(principal, action, scope)) return;
  throw refusal('AuthorizationFailed.action', {
    clientId: principal.clientId,
    objectId: principal.objectId,
    action,
    scope,
  });
}

/** The same for a resource that another one refers to: a VM's interface, an interface's subnet. */
export function authorizeLinked(principal: Principal | undefined, action: string, linked: string, doing: string): void {
  if (principal === undefined || mayDo(principal, action, linked)) return;
  throw refusal('LinkedAuthorizationFailed.action', {
    clientId: principal.clientId,
    objectId: principal.objectId,
    doing,
    action,
    linked,
  });
}

export function mayDo({ assignments }: Principal, action: string, scope: string): boolean {
  const place = `${scope.toLowerCase()}/`;
  return assignments.some(({ role, scope: from }) => {
    const { actions, notActions = [] }: Role = typeof role === 'string' ? ROLES[role] : role;
    if (!place.startsWith(`${from.toLowerCase().replace(/\/$/, '')}/`)) return false;
    return actions.some((each) => matches(each, action)) && !notActions.some((each) => matches(each, action));
  });
}

function matches(pattern: string, action: string): boolean {
  if (pattern === '*') return true;
  const source = pattern
    .split('*')
    .map((part) => part.replace(/[.\\+?^$()[\]{}|]/g, '\\$&'))
    .join('.*');
  return new RegExp(`^${source}$`, 'i').test(action);
}
