/** Exports a resource group as a template: `az group export`. */
import type { JsonObject } from '../jsonPath.ts';
import type { ArmResource, ResourceStore } from '../resourceStore.ts';
import { newestVersion } from '../server/apiVersions.ts';

/** Members that only Azure writes; in a template they would be refused or ignored. */
const READ_ONLY: ReadonlySet<string> = new Set([
  'provisioningState',
  'eTag',
  'etag',
  'resourceGuid',
  'resourceUID',
  'uniqueId',
  'timeCreated',
  'fqdn',
  'privateFQDN',
  'azurePortalFQDN',
  'currentKubernetesVersion',
  'currentOrchestratorVersion',
  'nodeImageVersion',
  'maxAgentPools',
  'principalId',
  'clientId',
  'tenantId',
]);
/** Members that are exported whole: clients write their `clientId`. */
const WHOLE: ReadonlySet<string> = new Set(['servicePrincipalProfile', 'identityProfile']);
const MEMBERS = ['location', 'tags', 'sku', 'kind', 'zones', 'identity'] as const;

export interface ExportOptions {
  readonly store: ResourceStore;
  readonly group: string;
  /** `*`, or ids of resources, which are exported with their children. */
  readonly resources: readonly string[];
  /** `IncludeParameterDefaultValue`, `SkipResourceNameParameterization`, … */
  readonly options: string;
  /** Whether clients can write the resource. */
  readonly isWritable: (resource: ArmResource) => boolean;
  /** Returns a resource as clients see it. */
  readonly shown: (resource: ArmResource) => JsonObject;
}

export function exportTemplate({ store, group, resources, options, isWritable, shown }: ExportOptions): JsonObject {
  const wanted = resources.map((id) => id.toLowerCase());
  const chosen = store
    .all(group)
    .filter(isWritable)
    .filter(({ id }) => wanted.some((each) => each === '*' || `${id.toLowerCase()}/`.startsWith(`${each}/`)));
  const isNamed = !/Skip(ResourceName|All)Parameterization/i.test(options);
  const parameters = new Map<string, object>();
  const nameOf = (resource: ArmResource): string => {
    const [first = '', ...rest] = namesOf(resource);
    if (!isNamed) return [first, ...rest].join('/');
    const parameter = `${resource.type.split('/')[1] ?? ''}_${first.replaceAll(/\W/g, '_')}_name`;
    parameters.set(parameter, {
      ...(/IncludeParameterDefaultValue/i.test(options) && { defaultValue: first }),
      type: 'String',
    });
    const reference = `parameters('${parameter}')`;
    return rest.length === 0 ? `[${reference}]` : `[concat(${reference}, '/${rest.join('/')}')]`;
  };
  const exported = chosen.map((resource) => ({
    type: resource.type,
    apiVersion: newestVersion(resource.type),
    name: nameOf(resource),
    ...Object.fromEntries(MEMBERS.flatMap((member) => memberOf(resource, member))),
    ...(namesOf(resource).length > 1 && { dependsOn: [resource.id.split('/').slice(0, -2).join('/')] }),
    properties: withoutReadOnly(shown(resource)['properties']),
  }));
  return {
    $schema: 'https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#',
    contentVersion: '1.0.0.0',
    parameters: Object.fromEntries(parameters),
    variables: {},
    resources: exported,
  };
}

function memberOf(resource: ArmResource, member: (typeof MEMBERS)[number]): readonly (readonly [string, unknown])[] {
  const value = resource[member];
  if (value === undefined) return [];
  return [[member, member === 'identity' ? withoutReadOnly(value) : value]];
}

/** Returns the value without read-only members at any depth. */
function withoutReadOnly(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutReadOnly);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => !READ_ONLY.has(name));
  return Object.fromEntries(kept.map(([name, each]) => [name, WHOLE.has(name) ? each : withoutReadOnly(each)]));
}

/** Returns the names in an id: `first` and `nodepool1` for an agent pool. */
function namesOf({ id, type }: ArmResource): readonly string[] {
  const segments = id.split('/');
  const count = type.split('/').length - 1;
  return segments.slice(-2 * count).filter((_, index) => index % 2 === 1);
}
