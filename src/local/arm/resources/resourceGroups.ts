/** Resource groups; deleting one deletes everything in it, VMs first. */
import { listed, type ArmContext } from '../armContext.ts';
import { refusal } from '../refusal.ts';
import { objectAt, textAt } from '../jsonPath.ts';
import { parseEqualities } from '../server/odataFilter.ts';
import type { ResourceGroup } from '../resourceStore.ts';
import { ok, route, type ArmRequest, type ArmResponse, type Route } from '../server/router.ts';
import { CATALOGUE_LOCATIONS } from '../../../catalogue/skuCatalogue.ts';
import { result } from './operationStatus.ts';
import { checkTags, normalLocation } from './requestRules.ts';

const GROUP_NAME = /^[-\w.()]{0,89}[-\w()]$/;
const TYPE = 'Microsoft.Resources/resourceGroups';

/** Deletes everything in a group, in the order that its types require. */
type Empty = (group: string) => void;

export function resourceGroupRoutes(context: ArmContext, empty: Empty): readonly Route[] {
  const { store } = context;
  const collection = '/subscriptions/{subscription}/resourceGroups';
  const nameOf = ({ parameters: { group = '' } }: ArmRequest): string => group;
  const show = (group: ResourceGroup): object => {
    const { provisioningState, ...rest } = group;
    return { id: store.groupId(group.name), type: TYPE, ...rest, properties: { provisioningState } };
  };
  return [
    route('resourceGroups.list', 'GET', collection, ({ query }) =>
      listed(filtered(store.allGroups(), query).map(show)),
    ),
    route('resourceGroups.get', 'GET', `${collection}/{group}`, (request) => ok(show(store.group(nameOf(request))))),
    route('resourceGroups.checkExistence', 'HEAD', `${collection}/{group}`, (request) => ({
      status: store.findGroup(nameOf(request)) === undefined ? 404 : 204,
    })),
    route('resourceGroups.createOrUpdate', 'PUT', `${collection}/{group}`, (request) =>
      createGroup(context, request, show),
    ),
    route('resourceGroups.update', 'PATCH', `${collection}/{group}`, (request) => {
      const found = store.group(nameOf(request));
      const updated =
        objectAt(request.body)['tags'] === undefined ? found : { ...found, tags: checkTags(request.body) };
      store.putGroup(updated);
      return ok(show(updated));
    }),
    route('resourceGroups.delete', 'DELETE', `${collection}/{group}`, (request) =>
      deleteGroup(context, request, empty),
    ),
    route('operationResults.get', 'GET', '/subscriptions/{subscription}/operationresults/{id}', (request) => {
      const answer = result(context, request);
      return answer.status === 202 ? answer : { status: 200 };
    }),
  ];
}

function createGroup(context: ArmContext, request: ArmRequest, show: (group: ResourceGroup) => object): ArmResponse {
  const { store } = context;
  const { group: name = '' } = request.parameters;
  if (!GROUP_NAME.test(name)) throw refusal('InvalidResourceGroup', { name });
  const location = textAt(request.body, 'location');
  if (location === undefined) throw refusal('LocationRequired');
  const existing = store.findGroup(name);
  if (existing?.provisioningState === 'Deleting') throw refusal('ResourceGroupBeingDeleted', { group: name });
  if (existing !== undefined && normalLocation(existing.location) !== normalLocation(location)) {
    throw refusal('InvalidResourceGroupLocation', { location, present: existing.location });
  }
  if (!CATALOGUE_LOCATIONS.includes(normalLocation(location))) {
    throw refusal('LocationNotAvailableForResourceGroup', { location, locations: CATALOGUE_LOCATIONS.join(',') });
  }
  const managedBy = textAt(request.body, 'managedBy');
  const group: ResourceGroup = {
    name: existing?.name ?? name,
    location: normalLocation(location),
    tags: checkTags(request.body),
    ...(managedBy === undefined ? {} : { managedBy }),
    provisioningState: 'Succeeded',
  };
  store.putGroup(group);
  return { status: existing === undefined ? 201 : 200, body: show(group) };
}

function deleteGroup(context: ArmContext, request: ArmRequest, empty: Empty): ArmResponse {
  const { store, operations, durations } = context;
  const found = store.group(request.parameters['group'] ?? '');
  store.putGroup({ ...found, provisioningState: 'Deleting' });
  const operation = operations.beginFor(request, {
    milliseconds: durations.resourceGroupDelete,
    finish: () => {
      empty(found.name);
      store.deleteGroup(found.name);
    },
    failed: () => store.putGroup({ ...found, provisioningState: 'Succeeded' }),
  });
  const version = request.query.get('api-version') ?? '';
  return {
    status: 202,
    headers: {
      location: `${context.endpoint()}/subscriptions/${store.subscriptionId}/operationresults/${operation.id}?api-version=${version}`,
      'retry-after': String(Math.min(15, Math.floor(durations.resourceGroupDelete / 1000))),
    },
  };
}

/** Filters groups by `tagName eq 'a' and tagValue eq 'b'`. */
function filtered(groups: readonly ResourceGroup[], query: URLSearchParams): readonly ResourceGroup[] {
  const wanted = new Map(parseEqualities(query.get('$filter') ?? ''));
  const name = wanted.get('tagName');
  const value = wanted.get('tagValue');
  if (name === undefined) return groups;
  return groups.filter(({ tags }) => tags?.[name] !== undefined && (value === undefined || tags[name] === value));
}
