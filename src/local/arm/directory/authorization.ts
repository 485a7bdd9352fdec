/** Role definitions and role assignments: the routes of `Microsoft.Authorization`, and the rights of identities. */
import { refusal } from '../refusal.ts';
import { listed, timestamp, type ArmContext } from '../armContext.ts';
import { listAt, objectAt, textAt, type JsonObject } from '../jsonPath.ts';
import { present, type ArmResource } from '../resourceStore.ts';
import { parseEqualities } from '../server/odataFilter.ts';
import { ok, route, type ArmRequest, type ArmResponse, type Route } from '../server/router.ts';
import { BUILT_IN_ROLES, type Principals, type RoleAssignment } from './principals.ts';

const PROVIDER = 'providers/Microsoft.Authorization';
const DEFINITIONS = 'Microsoft.Authorization/roleDefinitions';
const ASSIGNMENTS = 'Microsoft.Authorization/roleAssignments';
const IDENTITIES = 'Microsoft.ManagedIdentity/userAssignedIdentities';

const SUBSCRIPTION = '/subscriptions/{subscription}';
const GROUP = `${SUBSCRIPTION}/resourceGroups/{group}`;
/** Where roles can be assigned: a subscription, a group, a resource, a child of one. */
const SCOPES: readonly string[] = [
  SUBSCRIPTION,
  GROUP,
  `${GROUP}/providers/{namespace}/{type}/{resource}`,
  `${GROUP}/providers/{namespace}/{type}/{resource}/{childType}/{child}`,
];

export function authorizationRoutes(context: ArmContext): readonly Route[] {
  const { store } = context;
  const get = ({ path }: ArmRequest): ArmResponse => ok(present(found(context, path)));
  const remove = ({ path }: ArmRequest): ArmResponse => {
    const existing = store.find(path);
    if (existing === undefined) return { status: 204 };
    store.delete(path);
    return ok(present(existing));
  };
  const definition = `${SUBSCRIPTION}/${PROVIDER}/roleDefinitions`;
  return [
    route('roleDefinitions.list', 'GET', definition, (request) => listed(definitions(context, request))),
    route('roleDefinitions.get', 'GET', `${definition}/{role}`, ({ path }) => {
      const builtIn = builtInDefinitions(context).find(({ id }) => id.toLowerCase() === path.toLowerCase());
      return ok(builtIn ?? present(found(context, path)));
    }),
    route('roleDefinitions.createOrUpdate', 'PUT', `${definition}/{role}`, (request) => define(context, request)),
    route('roleDefinitions.delete', 'DELETE', `${definition}/{role}`, remove),
    ...SCOPES.flatMap((scope, depth) => [
      route(`roleAssignments.list.${depth}`, 'GET', `${scope}/${PROVIDER}/roleAssignments`, (request) =>
        listed(assignmentsAt(context, request)),
      ),
      route(`roleAssignments.get.${depth}`, 'GET', `${scope}/${PROVIDER}/roleAssignments/{assignment}`, get),
      route(`roleAssignments.create.${depth}`, 'PUT', `${scope}/${PROVIDER}/roleAssignments/{assignment}`, (request) =>
        assign(context, request),
      ),
      route(`roleAssignments.delete.${depth}`, 'DELETE', `${scope}/${PROVIDER}/roleAssignments/{assignment}`, remove),
    ]),
  ];
}

/** Keeps a principal for each managed identity, with the rights of its role assignments. */
export function linkIdentities({ store, random }: ArmContext, principals: Principals): void {
  const assignmentsOf = (principalId: string): RoleAssignment[] =>
    store
      .list(ASSIGNMENTS)
      .filter(({ properties }) => textAt(properties, 'principalId') === principalId)
      .flatMap(({ properties }) => {
        const definition = textAt(properties, 'roleDefinitionId') ?? '';
        const role = roleOf(store.find(definition), definition);
        return role === undefined ? [] : [{ role, scope: textAt(properties, 'scope') ?? '' }];
      });
  const link = ({ properties }: ArmResource): void => {
    const clientId = textAt(properties, 'clientId') ?? '';
    const objectId = textAt(properties, 'principalId') ?? '';
    const clientSecret = principals.find(clientId)?.clientSecret ?? random.uuid();
    principals.add({ clientId, objectId, clientSecret, assignments: assignmentsOf(objectId) });
  };
  store.onChange((before, after) => {
    const changed = after ?? before;
    if (changed?.type === IDENTITIES) {
      if (after === undefined) principals.remove(textAt(changed.properties, 'clientId') ?? '');
      else link(after);
    } else if (changed?.type === ASSIGNMENTS || changed?.type === DEFINITIONS) {
      for (const identity of store.list(IDENTITIES)) link(identity);
    }
  });
}

function roleOf(custom: ArmResource | undefined, id: string): RoleAssignment['role'] | undefined {
  if (custom === undefined) return BUILT_IN_ROLES.find(({ guid }) => id.toLowerCase().endsWith(guid))?.name;
  const permissions = listAt(custom.properties, 'permissions');
  return {
    actions: permissions.flatMap((each) => listAt(each, 'actions').map(String)),
    notActions: permissions.flatMap((each) => listAt(each, 'notActions').map(String)),
  };
}

function found({ store }: ArmContext, path: string): ArmResource {
  const resource = store.find(path);
  if (resource !== undefined) return resource;
  const code = path.includes('roleDefinitions') ? 'RoleDefinitionNotFound' : 'RoleAssignmentNotFound';
  throw refusal(code, { name: path.split('/').at(-1) });
}

function builtInDefinitions({
  store,
}: ArmContext): readonly { readonly id: string; readonly properties: JsonObject }[] {
  return BUILT_IN_ROLES.map(({ name, guid, role }) => ({
    id: `/subscriptions/${store.subscriptionId}/${PROVIDER}/roleDefinitions/${guid}`,
    name: guid,
    type: DEFINITIONS,
    properties: {
      roleName: name,
      type: 'BuiltInRole',
      description: name,
      assignableScopes: ['/'],
      permissions: [{ actions: [...role.actions], notActions: [...(role.notActions ?? [])] }],
    },
  }));
}

function definitions(context: ArmContext, request: ArmRequest): readonly object[] {
  const custom = context.store.list(DEFINITIONS).map((each) => present(each));
  const wanted = parseEqualities(request.query.get('$filter') ?? '');
  const name = wanted.find(([field]) => field.toLowerCase() === 'rolename')?.[1].toLowerCase();
  return [...builtInDefinitions(context), ...custom].filter(
    ({ properties }) => name === undefined || textAt(properties, 'roleName')?.toLowerCase() === name,
  );
}

function define(context: ArmContext, { path, body }: ArmRequest): ArmResponse {
  const { store } = context;
  const properties = objectAt(body, 'properties');
  const roleName = textAt(properties, 'roleName') ?? '';
  const taken = store
    .list(DEFINITIONS)
    .find((each) => textAt(each.properties, 'roleName') === roleName && each.id.toLowerCase() !== path.toLowerCase());
  if (taken !== undefined) throw refusal('RoleDefinitionWithSameNameExists');
  const existing = store.find(path);
  return written(context, path, existing, DEFINITIONS, { ...properties, type: 'CustomRole' });
}

/** Stores a resource at a path and returns the response; `before` is the resource that it replaces. */
function written(
  { store, random }: ArmContext,
  path: string,
  before: ArmResource | undefined,
  type: string,
  properties: JsonObject,
): ArmResponse {
  const resource = { id: path, name: path.split('/').at(-1) ?? '', type, etag: random.uuid(), properties };
  store.put(resource);
  return { status: before === undefined ? 201 : 200, body: present(resource) };
}

function scopeOf(path: string): string {
  return path.slice(0, path.toLowerCase().lastIndexOf(`/${PROVIDER.toLowerCase()}/`));
}

/** Returns the assignments at the scope, above it and below it, as Azure lists them. */
function assignmentsAt({ store }: ArmContext, { path, query }: ArmRequest): readonly object[] {
  const scope = scopeOf(path).toLowerCase();
  const wanted = parseEqualities(query.get('$filter') ?? '');
  const principal = wanted.find(([field]) => /^(principalid|assignedto)/i.test(field))?.[1];
  return store
    .list(ASSIGNMENTS)
    .filter(({ properties }) => {
      const own = (textAt(properties, 'scope') ?? '').toLowerCase();
      const isNear = `${own}/`.startsWith(`${scope}/`) || `${scope}/`.startsWith(`${own}/`);
      return isNear && (principal === undefined || textAt(properties, 'principalId') === principal);
    })
    .map((each) => present(each));
}

function assign(context: ArmContext, { path, body }: ArmRequest): ArmResponse {
  const { store, clock } = context;
  const given = objectAt(body, 'properties');
  const roleDefinitionId = textAt(given, 'roleDefinitionId') ?? '';
  const principalId = textAt(given, 'principalId') ?? '';
  const scope = scopeOf(path);
  if (roleOf(store.find(roleDefinitionId), roleDefinitionId) === undefined) {
    throw refusal('RoleDefinitionDoesNotExist', { id: roleDefinitionId.split('/').at(-1) });
  }
  if (!store.list(IDENTITIES).some(({ properties }) => textAt(properties, 'principalId') === principalId)) {
    throw refusal('PrincipalNotFound', { principalId });
  }
  const same = store
    .list(ASSIGNMENTS)
    .find(
      ({ properties }) =>
        textAt(properties, 'principalId') === principalId &&
        textAt(properties, 'scope')?.toLowerCase() === scope.toLowerCase() &&
        textAt(properties, 'roleDefinitionId')?.toLowerCase() === roleDefinitionId.toLowerCase(),
    );
  if (same !== undefined && same.id.toLowerCase() !== path.toLowerCase()) {
    throw refusal('RoleAssignmentExists');
  }
  const principalType = textAt(given, 'principalType') ?? 'ServicePrincipal';
  const createdOn = timestamp(clock.now());
  return written(context, path, same, ASSIGNMENTS, { roleDefinitionId, principalId, principalType, scope, createdOn });
}
