/** Lists of resources of all types: routes of `Microsoft.Resources`. */
import { paged, type ArmContext } from '../armContext.ts';
import { refusal } from '../refusal.ts';
import { parseEqualities } from '../server/odataFilter.ts';
import type { ArmResource } from '../resourceStore.ts';
import { route, type ArmRequest, type ArmResponse, type Route } from '../server/router.ts';

const SUBSCRIPTION = '/subscriptions/{subscription}';
const GROUP = `${SUBSCRIPTION}/resourceGroups/{group}`;

export function genericResourceRoutes(context: ArmContext): readonly Route[] {
  const { store } = context;
  const list = (request: ArmRequest, group?: string): ArmResponse => {
    const matches = filterOf(request.query.get('$filter') ?? '');
    const tracked = store.all(group).filter((resource) => resource.location !== undefined && !isChild(resource));
    const expand = request.query.get('$expand')?.toLowerCase() ?? '';
    return paged(context, request, tracked.filter(matches), (resource) => summary(resource, expand));
  };
  return [
    route('resources.list', 'GET', `${SUBSCRIPTION}/resources`, (request) => list(request)),
    route('resources.listByResourceGroup', 'GET', `${GROUP}/resources`, (request) =>
      list(request, request.parameters['group'] ?? ''),
    ),
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
      if (read === undefined) throw refusal('InvalidFilterInQueryString', { filter });
      return read(resource)?.toLowerCase() === value.toLowerCase();
    });
}
