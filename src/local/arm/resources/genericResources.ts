/**
 * Resources whatever their type: the lists of a subscription and of a group, and the tags of anything. In: the store.
 * Out: routes that answer as `Microsoft.Resources` does.
 */
import { paged, type ArmContext } from '../armContext.ts';
import { ArmError } from '../armError.ts';
import { textAt, textsAt } from '../jsonPath.ts';
import { parseEqualities } from '../server/odataFilter.ts';
import type { ArmResource } from '../resourceStore.ts';
import type { ArmRequest, ArmResponse, Route } from '../server/router.ts';
import { checkTags } from './requestRules.ts';

const SUBSCRIPTION = '/subscriptions/{subscription}';
const GROUP = `${SUBSCRIPTION}/resourceGroups/{group}`;
const TAGS = 'providers/Microsoft.Resources/tags/default';
/** How deep a resource with tags of its own can be. */
const SCOPES: readonly string[] = [
  SUBSCRIPTION,
  GROUP,
  `${GROUP}/providers/{namespace}/{type}/{name}`,
  `${GROUP}/providers/{namespace}/{type}/{name}/{childType}/{child}`,
];

export function genericResourceRoutes(context: ArmContext): readonly Route[] {
  const { store } = context;
  const list = (request: ArmRequest, group?: string): ArmResponse => {
    const matches = filterOf(request.query.get('$filter') ?? '');
    const tracked = store.all(group).filter((resource) => resource.location !== undefined && !isChild(resource));
    const expand = request.query.get('$expand')?.toLowerCase() ?? '';
    return paged(context, request, tracked.filter(matches), (resource) => summary(resource, expand));
  };
  return [
    {
      name: 'resources.list',
      method: 'GET',
      path: `${SUBSCRIPTION}/resources`,
      handle: (request) => list(request),
    },
    {
      name: 'resources.listByResourceGroup',
      method: 'GET',
      path: `${GROUP}/resources`,
      handle: (request) => list(request, request.parameters['group'] ?? ''),
    },
    ...SCOPES.flatMap((scope) => tagRoutes(context, `${scope}/${TAGS}`)),
  ];
}

/** Child resources such as extensions are listed below their parents only. */
function isChild({ type }: ArmResource): boolean {
  return type.split('/').length > 2;
}

function summary(
  { id, name, type, location, tags, zones, sku, kind, managedBy, identity, properties }: ArmResource,
  expand: string,
): object {
  const optional = { tags, zones, sku, kind, managedBy, identity };
  return {
    id,
    name,
    type,
    location,
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
    ...(expand.includes('createdtime') ? { createdTime: properties['timeCreated'] } : {}),
    ...(expand.includes('provisioningstate') ? { provisioningState: properties['provisioningState'] } : {}),
  };
}

type Match = (resource: ArmResource) => boolean;

const FIELDS: Readonly<Record<string, (resource: ArmResource) => string | undefined>> = {
  resourcetype: ({ type }) => type,
  name: ({ name }) => name,
  location: ({ location }) => location,
  resourcegroup: ({ id }) => id.split('/')[4],
};

function filterOf(filter: string): Match {
  const wanted = parseEqualities(filter);
  const tagName = wanted.find(([field]) => field.toLowerCase() === 'tagname')?.[1];
  return (resource) =>
    wanted.every(([field, value]) => {
      const key = field.toLowerCase();
      if (key === 'tagname') return resource.tags?.[value] !== undefined;
      if (key === 'tagvalue') return resource.tags?.[tagName ?? ''] === value;
      const read = FIELDS[key];
      if (read === undefined) {
        throw new ArmError(
          400,
          'InvalidFilterInQueryString',
          `Invalid $filter '${filter}' specified in the query string.`,
        );
      }
      return read(resource)?.toLowerCase() === value.toLowerCase();
    });
}

type Tags = Readonly<Record<string, string>>;

const PATCHES: Readonly<Record<string, (before: Tags, given: Tags) => Tags>> = {
  replace: (_before, given) => given,
  merge: (before, given) => ({ ...before, ...given }),
  delete: (before, given) =>
    Object.fromEntries(Object.entries(before).filter(([name, value]) => given[name] !== value && given[name] !== '')),
};

function tagRoutes(context: ArmContext, path: string): readonly Route[] {
  const scopeOf = ({ path: address }: ArmRequest): string => address.slice(0, -`/${TAGS}`.length);
  const answer = (request: ArmRequest, tags: Tags): ArmResponse => ({
    status: 200,
    body: {
      id: `${scopeOf(request)}/${TAGS}`,
      name: 'default',
      type: 'Microsoft.Resources/tags',
      properties: { tags },
    },
  });
  const change = (request: ArmRequest, tags: Tags): ArmResponse => {
    writeTags(context, scopeOf(request), tags);
    return answer(request, tags);
  };
  const given = (request: ArmRequest): Tags => checkTags({ tags: textsAt(request.body, 'properties', 'tags') });
  return [
    {
      name: 'tags.getAtScope',
      method: 'GET',
      path,
      handle: (request) => answer(request, readTags(context, scopeOf(request))),
    },
    {
      name: 'tags.createOrUpdateAtScope',
      method: 'PUT',
      path,
      handle: (request) => change(request, given(request)),
    },
    {
      name: 'tags.updateAtScope',
      method: 'PATCH',
      path,
      handle: (request) => {
        const operation = textAt(request.body, 'operation') ?? '';
        const patch = PATCHES[operation.toLowerCase()];
        if (patch === undefined) {
          throw new ArmError(
            400,
            'InvalidTagsPatchOperation',
            `The operation '${operation}' is not one of Replace, Merge, Delete.`,
          );
        }
        return change(request, checkTags({ tags: patch(readTags(context, scopeOf(request)), given(request)) }));
      },
    },
    {
      name: 'tags.deleteAtScope',
      method: 'DELETE',
      path,
      handle: (request) => {
        writeTags(context, scopeOf(request), {});
        return { status: 200 };
      },
    },
  ];
}

const GROUP_SCOPE = /^\/subscriptions\/[^/]+\/resourceGroups\/([^/]+)$/i;

function readTags({ store }: ArmContext, scope: string): Tags {
  const group = GROUP_SCOPE.exec(scope)?.[1];
  if (group !== undefined) return store.group(decodeURIComponent(group)).tags ?? {};
  if (/^\/subscriptions\/[^/]+$/i.test(scope)) return store.subscriptionTags();
  return resourceAt(store.find(scope), scope).tags ?? {};
}

function writeTags({ store, random }: ArmContext, scope: string, tags: Tags): void {
  const group = GROUP_SCOPE.exec(scope)?.[1];
  if (group !== undefined) {
    store.putGroup({ ...store.group(decodeURIComponent(group)), tags });
  } else if (/^\/subscriptions\/[^/]+$/i.test(scope)) {
    store.tagSubscription(tags);
  } else {
    store.put({ ...resourceAt(store.find(scope), scope), tags, etag: `"${random.uuid()}"` });
  }
}

function resourceAt(found: ArmResource | undefined, scope: string): ArmResource {
  if (found !== undefined) return found;
  const [, , , , group = '', , namespace = '', ...rest] = scope.split('/');
  throw new ArmError(
    404,
    'ResourceNotFound',
    `The Resource '${namespace}/${rest.join('/')}' under resource group '${group}' was not found. For more details please go to https://aka.ms/ARMResourceNotFoundFix`,
  );
}
