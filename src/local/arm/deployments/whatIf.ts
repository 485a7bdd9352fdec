/** What a deployment would change: `az deployment group what-if`. */
import { objectAt, textAt, type JsonObject } from '../jsonPath.ts';
import type { ArmResource, ResourceStore } from '../resourceStore.ts';
import type { PlannedResource } from './templateResources.ts';
import { PendingReference } from './templateScope.ts';

interface PropertyChange {
  readonly path: string;
  readonly propertyChangeType: 'Create' | 'Modify';
  readonly before?: unknown;
  readonly after: unknown;
}

const COMPARED: readonly string[] = ['location', 'tags', 'sku', 'kind', 'identity', 'zones', 'properties'];

/** Returns a resource as clients see it. */
type Shown = (resource: ArmResource) => JsonObject;

export function whatIf(store: ResourceStore, resources: readonly PlannedResource[], shown: Shown): JsonObject {
  const named = new Set(resources.map(({ id }) => id.toLowerCase()));
  const changes = resources.map((resource) => changeOf(store, resource, shown));
  const group = resources[0]?.id.split('/')[4];
  const others = group === undefined ? [] : store.all(group);
  const ignored = others
    .filter(
      ({ id, location, type }) =>
        location !== undefined && type.split('/').length === 2 && !named.has(id.toLowerCase()),
    )
    .map((resource) => ({ resourceId: resource.id, changeType: 'Ignore', before: shown(resource) }));
  return { changes: [...changes, ...ignored] };
}

function changeOf(store: ResourceStore, resource: PlannedResource, shown: Shown): object {
  const { id: resourceId, apiVersion, type, name } = resource;
  let body: JsonObject;
  try {
    body = resource.body();
  } catch (error) {
    // The body refers to resources that do not exist yet.
    if (error instanceof PendingReference) return { resourceId, changeType: 'Deploy' };
    throw error;
  }
  const after = { id: resourceId, apiVersion, type, name, ...body };
  const existing = store.find(resourceId);
  if (existing === undefined) return { resourceId, changeType: 'Create', after };
  const before = shown(existing);
  const delta = COMPARED.flatMap((member) => difference(member, before[member], body[member]));
  return { resourceId, changeType: delta.length === 0 ? 'NoChange' : 'Modify', before, after, delta };
}

/** Returns the changes of members that the template names; all others stay. */
function difference(path: string, before: unknown, after: unknown): readonly PropertyChange[] {
  if (after === undefined || after === null) return [];
  if (isNamed(after) && isNamed(before)) {
    return after.flatMap((each) => {
      const index = before.findIndex(({ name }) => name === each.name);
      return difference(`${path}.${index === -1 ? before.length : index}`, before[index], each);
    });
  }
  if (Array.isArray(after) && Array.isArray(before) && after.length === before.length) {
    return after.flatMap((each, index) => difference(`${path}.${index}`, before[index], each));
  }
  if (typeof after === 'object' && !Array.isArray(after)) {
    return Object.entries(after).flatMap(([key, value]) => difference(`${path}.${key}`, objectAt(before)[key], value));
  }
  if (before === undefined) return [{ path, propertyChangeType: 'Create', after }];
  const isSame =
    typeof before === 'string' && typeof after === 'string'
      ? before.toLowerCase() === after.toLowerCase()
      : JSON.stringify(before) === JSON.stringify(after);
  return isSame ? [] : [{ path, propertyChangeType: 'Modify', before, after }];
}

/** Whether the items of a list have names, as agent pools do: items that the template does not name stay, too. */
function isNamed(value: unknown): value is readonly { readonly name: string }[] {
  return Array.isArray(value) && value.length > 0 && value.every((each) => textAt(each, 'name') !== undefined);
}
