/** Flattens the resources of an ARM template: nested children and copies become resources of their own. */
import { asText, at, listAt, objectAt, textAt, type JsonObject } from '../jsonPath.ts';
import { refusal } from '../refusal.ts';
import type { TemplateScope } from './templateScope.ts';

/** A resource to deploy; its body is evaluated just before. */
export interface PlannedResource {
  readonly id: string;
  readonly type: string;
  readonly name: string;
  readonly apiVersion: string;
  /** Ids of resources of the same template that must be deployed first. */
  readonly dependsOn: readonly string[];
  readonly body: () => JsonObject;
}

/** Members that are not sent to the provider. */
const OWN_MEMBERS: readonly string[] = [
  'type',
  'name',
  'apiVersion',
  'dependsOn',
  'condition',
  'copy',
  'resources',
  'comments',
  'scope',
  'existing',
  'resourceGroup',
  'subscriptionId',
];

interface Entry {
  readonly symbol: string;
  readonly resource: JsonObject;
  readonly scope: TemplateScope;
  readonly parent: { readonly type: string; readonly name: string; readonly symbol: string } | undefined;
}

export function plannedResources(scope: TemplateScope, groupId: string): readonly PlannedResource[] {
  const entries = entriesOf(scope, scope.template['resources'], undefined);
  const described = entries.map((entry) => describe(entry, groupId));
  const ids = new Map<string, string[]>();
  for (const { id, name, symbol } of described) {
    for (const key of [id, name, symbol]) {
      if (key !== '') ids.set(key.toLowerCase(), [...(ids.get(key.toLowerCase()) ?? []), id]);
    }
  }
  const planned = described.map(({ entry, ...resource }) => ({
    ...resource,
    dependsOn: [
      ...listAt(entry.resource, 'dependsOn').map((each) => asText(entry.scope.evaluate(each))),
      entry.parent?.symbol ?? '',
    ]
      .filter((wanted) => wanted !== '')
      .flatMap((wanted) => dependency(wanted, ids, resource.id)),
    body: () => {
      const sent = Object.entries(entry.resource).filter(([member]) => !OWN_MEMBERS.includes(member));
      return objectAt(entry.scope.evaluate(Object.fromEntries(sent)));
    },
  }));
  checkCycles(planned);
  return planned;
}

function entriesOf(scope: TemplateScope, resources: unknown, parent: Entry['parent']): readonly Entry[] {
  const named: readonly (readonly [string, unknown])[] = Array.isArray(resources)
    ? resources.map((resource: unknown) => ['', resource] as const)
    : Object.entries(objectAt(resources));
  return named.flatMap(([symbol, value]): readonly Entry[] => {
    const resource = objectAt(value);
    if (resource['existing'] === true) return [];
    const loop = objectAt(resource, 'copy');
    if (loop['count'] === undefined) return entriesOfOne(scope, { symbol, resource, parent });
    const name = asText(loop['name']).toLowerCase();
    const count = Number(scope.evaluate(loop['count']));
    if (!Number.isInteger(count) || count < 0 || count > 800) throw refusal('InvalidTemplate.copyCount', { name });
    return Array.from({ length: count }, (_, index) =>
      entriesOfOne(scope.inCopy(name, index), { symbol: name, resource, parent }),
    ).flat();
  });
}

function entriesOfOne(scope: TemplateScope, { symbol, resource, parent }: Omit<Entry, 'scope'>): readonly Entry[] {
  if (!scope.isWanted(resource)) return [];
  const entry: Entry = { symbol, resource, scope, parent };
  const { type, name } = fullName(entry);
  const self = { type, name, symbol: name };
  return [entry, ...entriesOf(scope, resource['resources'] ?? [], self)];
}

function fullName({ resource, scope, parent }: Entry): { readonly type: string; readonly name: string } {
  const type = asText(scope.evaluate(resource['type']));
  const name = asText(scope.evaluate(resource['name']));
  if (type === '' || name === '') throw refusal('InvalidTemplate.unnamed');
  // A nested child has only the last segment of its type and name.
  return parent === undefined || type.toLowerCase().startsWith(`${parent.type.toLowerCase()}/`)
    ? { type, name }
    : { type: `${parent.type}/${type}`, name: `${parent.name}/${name}` };
}

function describe(entry: Entry, groupId: string) {
  const { type, name } = fullName(entry);
  const [namespace = '', ...steps] = type.split('/');
  const names = name.split('/');
  if (steps.length !== names.length) throw refusal('InvalidTemplate.segments', { name, type });
  const apiVersion = asText(entry.scope.evaluate(at(entry.resource, 'apiVersion')));
  if (apiVersion === '') throw refusal('InvalidTemplate.apiVersion', { name });
  const id = `${groupId}/providers/${namespace}/${steps.map((step, index) => `${step}/${names[index] ?? ''}`).join('/')}`;
  return { entry, id, type, name, apiVersion, symbol: entry.symbol };
}

/** Resolves a dependency by id, name or symbol; an id outside of the template is not waited for. */
function dependency(wanted: string, ids: ReadonlyMap<string, readonly string[]>, of: string): readonly string[] {
  const found = ids.get(wanted.toLowerCase()) ?? ids.get(wanted.split('/').at(-1)?.toLowerCase() ?? '');
  if (found !== undefined) return found;
  if (wanted.startsWith('/')) return [];
  throw refusal('InvalidTemplate.dependency', { wanted, of });
}

function checkCycles(resources: readonly PlannedResource[]): void {
  const left = new Map(resources.map((resource) => [resource.id, new Set(resource.dependsOn)]));
  for (;;) {
    const free = [...left].filter(([, waits]) => waits.size === 0).map(([id]) => id);
    if (free.length === 0) break;
    for (const id of free) left.delete(id);
    for (const waits of left.values()) for (const id of free) waits.delete(id);
  }
  if (left.size === 0) return;
  throw refusal('InvalidTemplate.cycle', { id: [...left.keys()][0] });
}

/** Returns the template of a deployment; throws when it has no version or no resources. */
export function templateOf(properties: JsonObject): JsonObject {
  const template = objectAt(properties, 'template');
  if (textAt(template, 'contentVersion') === undefined || template['resources'] === undefined) {
    throw refusal('InvalidTemplate.missing');
  }
  return template;
}
