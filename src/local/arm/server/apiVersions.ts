/** The api-versions of each resource type, and ARM's refusal of others. */
import { refusal } from '../refusal.ts';
import { CATALOGUE_LOCATIONS } from '../../../catalogue/skuCatalogue.ts';
import { requestedType, type ResourcePath } from './resourcePath.ts';

/** From 2021 on; where clients of today still ask for older ones, those too. */
const versions = (text: string): readonly string[] => text.trim().split(/\s+/).toSorted().toReversed();

const COMPUTE = versions(`
  2021-03-01 2021-04-01 2021-07-01 2021-11-01 2022-03-01 2022-08-01 2022-11-01 2023-03-01 2023-07-01 2023-09-01
  2024-03-01 2024-07-01 2024-11-01 2025-04-01 2025-11-01 2026-03-01`);
const DISKS = versions(`
  2021-04-01 2021-08-01 2021-12-01 2022-03-02 2022-07-02 2023-01-02 2023-04-02 2023-10-02 2024-03-02 2025-01-02`);
const GALLERIES = versions(`
  2021-07-01 2021-10-01 2022-01-03 2022-03-03 2022-08-03 2023-07-03 2024-03-03 2025-03-03`);
const SKUS = versions('2016-09-01 2017-03-30 2017-09-01 2019-04-01 2021-07-01');
const NETWORK = versions(`
  2021-02-01 2021-03-01 2021-05-01 2021-08-01 2022-01-01 2022-05-01 2022-07-01 2022-09-01 2022-11-01 2023-02-01
  2023-04-01 2023-05-01 2023-06-01 2023-09-01 2023-11-01 2024-01-01 2024-03-01 2024-05-01 2024-07-01 2024-10-01
  2025-01-01 2025-03-01 2025-05-01`);
const CONTAINER_SERVICE = versions(`
  2021-02-01 2021-03-01 2021-05-01 2021-07-01 2021-08-01 2021-09-01 2021-10-01 2022-01-01 2022-02-01 2022-03-01
  2022-04-01 2022-06-01 2022-07-01 2022-09-01 2022-11-01 2023-01-01 2023-02-01 2023-03-01 2023-04-01 2023-05-01
  2023-06-01 2023-07-01 2023-08-01 2023-09-01 2023-09-02-preview 2023-10-01 2023-10-02-preview 2023-11-01
  2023-11-02-preview 2024-01-01 2024-01-02-preview 2024-02-01 2024-02-02-preview 2024-03-02-preview
  2024-04-02-preview 2024-05-01 2024-05-02-preview
  2024-06-02-preview 2024-07-01 2024-07-02-preview 2024-08-01 2024-09-01 2024-09-02-preview 2024-10-01
  2024-10-02-preview 2025-01-01 2025-01-02-preview 2025-02-01 2025-02-02-preview 2025-03-01 2025-03-02-preview
  2025-04-01 2025-04-02-preview 2025-05-01 2025-05-02-preview 2025-06-02-preview 2025-07-01 2025-07-02-preview
  2025-08-01 2025-08-02-preview 2025-09-01 2025-09-02-preview 2025-10-01 2025-10-02-preview 2026-01-01
  2026-01-02-preview 2026-02-01 2026-02-02-preview 2026-03-01 2026-03-02-preview 2026-04-01 2026-04-02-preview`);
/** The list of versions that came before `locations/kubernetesVersions`. */
const ORCHESTRATORS = versions('2017-09-30 2019-04-01 2019-06-01 2019-08-01');
const RESOURCES = versions(`
  2016-06-01 2018-05-01 2019-05-01 2019-05-10 2019-06-01 2019-07-01 2019-08-01 2019-10-01 2019-11-01 2020-01-01
  2020-06-01 2020-08-01 2020-10-01 2021-01-01 2021-04-01 2022-01-01 2022-09-01 2022-12-01 2023-07-01 2024-03-01 2024-07-01 2024-11-01 2025-03-01
  2025-04-01`);
const GRAPH = versions('2018-09-01-preview 2019-04-01 2020-04-01-preview 2021-03-01 2022-10-01 2024-04-01');
const FEATURES = versions('2015-12-01 2021-07-01');
const AUTHORIZATION = versions('2015-07-01 2018-01-01-preview 2020-04-01-preview 2022-04-01');
const REGISTRY = versions('2021-09-01 2022-12-01 2023-07-01 2025-04-01 2025-11-01');
const IDENTITY = versions('2015-08-31-preview 2018-11-30 2022-01-31-preview 2023-01-31 2024-11-30');

/** By lower-case namespace: the versions of its types, those of the types below, and all others under `*`. */
const TABLE: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'microsoft.compute': {
    '*': COMPUTE,
    skus: SKUS,
    disks: DISKS,
    diskencryptionsets: DISKS,
    snapshots: DISKS,
    galleries: GALLERIES,
    'locations/communitygalleries': GALLERIES,
    'locations/sharedgalleries': GALLERIES,
    // Followed with the version of whatever began it.
    'locations/operations': [...COMPUTE, ...DISKS],
    'locations/operationresults': [...COMPUTE, ...DISKS],
  },
  'microsoft.network': { '*': NETWORK },
  'microsoft.containerregistry': { '*': REGISTRY },
  'microsoft.containerservice': { '*': CONTAINER_SERVICE, 'locations/orchestrators': ORCHESTRATORS },
  'microsoft.resources': { '*': RESOURCES },
  'microsoft.features': { '*': FEATURES },
  'microsoft.resourcegraph': { '*': GRAPH },
  'microsoft.managedidentity': { '*': IDENTITY },
  'microsoft.authorization': { '*': AUTHORIZATION },
};

/** The namespaces that are registered here, as they are written. */
export const NAMESPACES: readonly string[] = [
  'Microsoft.Authorization',
  'Microsoft.Compute',
  'Microsoft.ContainerRegistry',
  'Microsoft.ContainerService',
  'Microsoft.Features',
  'Microsoft.ManagedIdentity',
  'Microsoft.Network',
  'Microsoft.ResourceGraph',
  'Microsoft.Resources',
];
const FORMAT = /^\d{4}-\d{2}-\d{2}(-preview)?$/;

/** Newest first; undefined for a namespace that does not exist here. */
export function versionsOf(namespace: string | undefined, type: string): readonly string[] | undefined {
  const table = TABLE[(namespace ?? 'Microsoft.Resources').toLowerCase()];
  if (table === undefined) return undefined;
  const steps = type.toLowerCase().split('/');
  for (let length = steps.length; length > 0; length -= 1) {
    const known = table[steps.slice(0, length).join('/')];
    if (known !== undefined) return known;
  }
  return table['*'];
}

/** The newest api-version of a type such as `Microsoft.Compute/disks` that is no preview. */
export function newestVersion(type: string): string {
  const [namespace, ...steps] = type.split('/');
  return versionsOf(namespace, steps.join('/'))?.find((version) => !version.endsWith('-preview')) ?? '';
}

/** Throws unless `version` may be used for what `path` names; `location` is that of the resource, when it has one. */
export function checkApiVersion(
  version: string | null,
  path: ResourcePath,
  method: string,
  location: string | undefined,
): void {
  if (version === null || version === '') throw refusal('MissingApiVersionParameter');
  const type = requestedType(path, method);
  const supported = versionsOf(path.namespace, type);
  if (supported === undefined) throw refusal('InvalidResourceNamespace', { namespace: path.namespace ?? '' });
  if (supported.includes(version)) return;
  if (!FORMAT.test(version) || path.namespace === undefined) {
    throw refusal('InvalidApiVersionParameter', { version, supported: supported.join(',') });
  }
  if (location === undefined) {
    throw refusal('InvalidResourceType.version', {
      type,
      namespace: path.namespace,
      version,
      supported: supported.join(','),
    });
  }
  throw refusal('NoRegisteredProviderFound.version', {
    location,
    version,
    type,
    supported: supported.join(', '),
    locations: CATALOGUE_LOCATIONS.join(', '),
  });
}
