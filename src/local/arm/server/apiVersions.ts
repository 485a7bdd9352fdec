/** The api-versions of each resource type, and ARM's refusal of others. */
import { refusal } from '../refusal.ts';
import { CATALOGUE_LOCATIONS } from '../../../catalogue/skuCatalogue.ts';
import table from './apiVersions.json' with { type: 'json' };
import { requestedType, type ResourcePath } from './resourcePath.ts';

/** Versions by namespace and type, newest first; types without a row have those of their parent type or of `*`. */
type Table = Readonly<Record<string, Readonly<Record<string, string>>>>;

const TABLE = new Map(Object.entries(table as Table).map(([name, rows]) => [name.toLowerCase(), rows]));

/** The registered namespaces in Azure's spelling. */
export const NAMESPACES: readonly string[] = Object.keys(table);
const FORMAT = /^\d{4}-\d{2}-\d{2}(-preview)?$/;

/** Returns the versions of a type, newest first; undefined for an unknown namespace. */
export function versionsOf(namespace: string | undefined, type: string): readonly string[] | undefined {
  const rows = TABLE.get((namespace ?? 'Microsoft.Resources').toLowerCase());
  if (rows === undefined) return undefined;
  const steps = type.toLowerCase().split('/');
  const below = steps.map((_step, index) => steps.slice(0, steps.length - index).join('/'));
  return listIn(rows, [...below, '*'].find((each) => Object.hasOwn(rows, each)) ?? '*');
}

/** Returns the versions of a row. A row with `=` has those of others, because any of them may poll an operation. */
function listIn(rows: Table[string], type: string): readonly string[] {
  const [first = '', ...others] = (rows[type] ?? '').split(' ');
  if (first === '=') return others.flatMap((other) => listIn(rows, other));
  return [first, ...others];
}

/** Returns the newest api-version of a type such as `Microsoft.Compute/disks` that is not a preview. */
export function newestVersion(type: string): string {
  const [namespace, ...steps] = type.split('/');
  return versionsOf(namespace, steps.join('/'))?.find((version) => !version.endsWith('-preview')) ?? '';
}

/** Throws unless the type of `path` has the version; `location` is that of the resource, if it has one. */
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
