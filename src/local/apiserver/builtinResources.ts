/** The rows of builtin/kinds.ts as resources. */
import { builtinKinds } from './builtin/kinds.ts';
import { clusterColumns } from './columns/cluster.ts';
import { plainColumns } from './columns/column.ts';
import { networkingColumns } from './columns/networking.ts';
import { podColumns } from './columns/pod.ts';
import { serverColumns } from './columns/server.ts';
import { storageColumns } from './columns/storage.ts';
import { workloadColumns } from './columns/workloads.ts';
import { at, textAt, type ApiObject } from './fields.ts';
import { shapeNamed } from './kubernetesTypes.ts';
import type { Resource } from './resource.ts';
import type { SelectableFields } from './selectors.ts';

const columnsOf = new Map(
  Object.entries({
    Pod: podColumns,
    ...clusterColumns,
    ...networkingColumns,
    ...serverColumns,
    ...storageColumns,
    ...workloadColumns,
  }),
);
const ALL_VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

/** A field selector compares text; false is what an absent flag reads as. */
function readField(path: string): (object: ApiObject) => string {
  const names = path.split('.');
  if (path === 'source')
    return (object) => textAt(object, 'source', 'component') ?? textAt(object, 'reportingComponent') ?? '';
  const absent = path === 'spec.unschedulable' || path === 'spec.hostNetwork' ? 'false' : '';
  return (object) => {
    const value = at(object, ...names);
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
      ? String(value)
      : absent;
  };
}

export function selectableFields(paths: readonly string[], namespaced: boolean): SelectableFields {
  const all = ['metadata.name', ...(namespaced ? ['metadata.namespace'] : []), ...paths];
  return Object.fromEntries(all.map((path) => [path, readField(path)]));
}

function resourceOf(apiVersion: string, types: string, row: (typeof builtinKinds)[number]['rows'][number]): Resource {
  const { kind, plural } = row;
  const [version = '', group = ''] = apiVersion.split('/').toReversed();
  const typeName = `${types}.${kind}`;
  return {
    group,
    version,
    kind,
    plural,
    singular: kind.toLowerCase(),
    listKind: `${kind}List`,
    namespaced: row.scope !== 'Cluster',
    shortNames: row.shortNames,
    categories: row.categories ?? [],
    custom: false,
    hasStatus: row.status ?? false,
    scale: row.scale,
    actions: row.actions ?? [],
    verbs: row.verbs ?? ALL_VERBS,
    deprecation: row.deprecation,
    typeName,
    schema: undefined,
    shape: shapeNamed(typeName),
    strategy: row.strategy ?? {},
    columns: row.columns ?? columnsOf.get(kind) ?? plainColumns,
    rowConditions: row.rowConditions,
    namesSelectable: row.selectable === undefined,
    unconditionalUpdate: row.conditionalUpdate !== true,
    storageKind: row.storageKind,
    selectable: selectableFields(row.selectable ?? [], row.scope !== 'Cluster'),
    storage: row.storage ?? { group, plural },
  };
}

export function builtinResources(): Resource[] {
  return builtinKinds.flatMap(({ apiVersion, types, rows }) => rows.map((row) => resourceOf(apiVersion, types, row)));
}
