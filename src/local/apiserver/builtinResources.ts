/**
 * Kubernetes' own resources that the server offers. In: the tables in builtin/. Out: one `Resource` per row. To serve
 * another kind, add its type in schemas/extract.ts and a row to a table.
 */
import { coreTable } from './builtin/core.ts';
import { extensionTable } from './builtin/extensions.ts';
import type { Row } from './builtin/row.ts';
import { workloadTable } from './builtin/workloads.ts';
import { plainColumns } from './columns/column.ts';
import { at, textAt, type ApiObject } from './fields.ts';
import { shapeNamed } from './kubernetesTypes.ts';
import type { Resource } from './resource.ts';
import type { SelectableFields } from './selectors.ts';
import { plainStrategy } from './strategies/plain.ts';

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

function resourceOf(apiVersion: string, types: string, row: Row): Resource {
  const slash = apiVersion.indexOf('/');
  const group = slash < 0 ? '' : apiVersion.slice(0, slash);
  const typeName = `${types}.${row.kind}`;
  return {
    group,
    version: apiVersion.slice(slash + 1),
    kind: row.kind,
    plural: row.plural,
    singular: row.kind.toLowerCase(),
    listKind: row.kind === 'Endpoints' ? 'EndpointsList' : `${row.kind}List`,
    namespaced: row.scope !== 'Cluster',
    shortNames: row.short ?? [],
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
    strategy: row.strategy ?? plainStrategy,
    columns: row.columns ?? plainColumns,
    rowConditions: row.rowConditions,
    namesSelectable: row.selectable === undefined,
    unconditionalUpdate: row.conditionalUpdate !== true,
    storageKind: row.storageKind,
    selectable: selectableFields(row.selectable ?? [], row.scope !== 'Cluster'),
    storage: row.storage ?? { group, plural: row.plural },
  };
}

export function builtinResources(): Resource[] {
  return [...coreTable, ...workloadTable, ...extensionTable].flatMap(({ apiVersion, types, rows }) =>
    rows.map((row) => resourceOf(apiVersion, types, row)),
  );
}
