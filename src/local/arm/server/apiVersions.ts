/** The api-versions of each resource type, and ARM's refusal of others. */
import { refusal } from '../refusal.ts';
import { CATALOGUE_LOCATIONS } from '../../../catalogue/skuCatalogue.ts';
import table from './apiVersions.json' with { type: 'json' };
import { requestedType, type ResourcePath } from './resourcePath.ts';

/** By namespace: the versions of its types, those of the types below, and all others under `*`; newest first. */
type Table = Readonly<Record<string, Readonly<Record<string, string>>>>;

const TABLE = new Map(Object.entries(table as Table).map(([name, rows]) => [name.toLowerCase(), rows]));

/** The namespaces that are registered here, as they are written. */
export const NAMESPACES: readonly string[] = Object.keys(table);
const FORMAT = /^\d{4}-\d{2}-\d{2}(-preview)?$/;

/** Newest first; undefined for a namespace that does not exist here. */
export function versionsOf(namespace: string | undefined, type: string): readonly string[] | undefined {
  const rows = TABLE.get((namespace ?? 'Microsoft.Resources').toLowerCase());
  if (rows === undefined) return undefined;
  const steps = type.toLowerCase().split('/');
  const below = steps.map((_step, index) => steps.slice(0, steps.length - index).join('/'));
  return listIn(rows, [...below, '*'].find((each) => Object.hasOwn(rows, each)) ?? '*');
}

/** A row may name others whose versions it has: operations are followed with the version of whatever began them. */
function listIn(rows: Table[string], type: string): readonly string[] {
  const [first = '', ...others] = (rows[type] ?? '').split(' ');
  if (first === '=') return others.flatMap((other) => listIn(rows, other));
  return [first, ...others];
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
    const { namespace } = path;
    throw refusal('InvalidResourceType.version', { type, namespace, version, supported: supported.join(',') });
  }
  throw refusal('NoRegisteredProviderFound.version', {
    location,
    version,
    type,
    supported: supported.join(', '),
    locations: CATALOGUE_LOCATIONS.join(', '),
  });
}
