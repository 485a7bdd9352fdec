/** Principals, their roles at scopes, and Azure's 403. Roles have the actions that matter here. */
import { refusal } from '../refusal.ts';

/** Actions that a role allows, and those that it takes away again; `*` stands for anything. */
interface Role {
  readonly actions: readonly string[];
  readonly notActions?: readonly string[];
}

const ROLES = {
  Owner: { actions: ['*'] },
  Contributor: { actions: ['*'], notActions: ['Microsoft.Authorization/*/write', 'Microsoft.Authorization/*/delete'] },
  Reader: { actions: ['*/read', 'Microsoft.ResourceGraph/resources/action'] },
  'Virtual Machine Contributor': {
    actions: [
      'Microsoft.Compute/virtualMachines/*',
      'Microsoft.Compute/disks/read',
      'Microsoft.Compute/disks/write',
      'Microsoft.Compute/disks/delete',
      'Microsoft.Compute/locations/*',
      'Microsoft.Compute/skus/read',
      'Microsoft.Network/networkInterfaces/join/action',
      'Microsoft.Network/networkInterfaces/read',
      'Microsoft.Resources/subscriptions/resourceGroups/read',
    ],
  },
  'Network Contributor': {
    actions: ['Microsoft.Network/*', 'Microsoft.Resources/subscriptions/resourceGroups/read'],
  },
  'Managed Identity Operator': { actions: ['Microsoft.ManagedIdentity/userAssignedIdentities/*'] },
  'Azure Kubernetes Service Contributor Role': {
    actions: ['Microsoft.ContainerService/*', 'Microsoft.Resources/subscriptions/resourceGroups/read'],
  },
  AcrPull: { actions: ['Microsoft.ContainerRegistry/registries/pull/read'] },
} as const satisfies Readonly<Record<string, Role>>;

type RoleName = keyof typeof ROLES;

/** The ids that Azure's own roles have in every tenant. */
const GUIDS: Readonly<Record<RoleName, string>> = {
  Owner: '8e3af657-a8ff-443c-a75c-2fe8c4bcb635',
  Contributor: 'b24988ac-6180-42a0-ab88-20f7382dd24c',
  Reader: 'acdd72a7-3385-48ef-bd42-f606fba81ae7',
  'Virtual Machine Contributor': '9980e02c-c2be-4d73-94e8-173b1dc7cf3c',
  'Network Contributor': '4d97b98b-1d4f-4787-a291-c67834d212e7',
  'Managed Identity Operator': 'f1a07417-d97a-45cb-824c-7a7467783830',
  'Azure Kubernetes Service Contributor Role': 'ed7f3fbd-7b88-4dd4-9017-9adb7ce333f8',
  AcrPull: '7f951dda-4ed3-4680-a7ca-43fe172d538d',
};

export const BUILT_IN_ROLES: readonly { readonly name: RoleName; readonly guid: string; readonly role: Role }[] =
  Object.entries(GUIDS).map(([name, guid]) => ({ name: name as RoleName, guid, role: ROLES[name as RoleName] }));

export interface RoleAssignment {
  /** A role of Azure by its name, or one that was defined for the occasion. */
  readonly role: RoleName | Role;
  /** The beginning of ids: a subscription, a group, a resource. */
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

/** For a resource that another refers to: a machine's interface, an interface's subnet. */
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
