/** The built-in resources, from builtin/kinds.json. */
import { builtinKinds, rowConditions, storageViews, strategies } from './builtin/kinds.ts';
import { clusterCells, storageCells } from './columns/cluster.ts';
import { columnOf, sharedCells } from './columns/column.ts';
import { networkingCells } from './columns/networking.ts';
import { podCells } from './columns/pod.ts';
import { workloadCells } from './columns/workloads.ts';
import { at, textAt, type ApiObject } from './fields.ts';
import { shapeNamed } from './kubernetesTypes.ts';
import type { Resource } from './resource.ts';
import type { SelectableFields } from './selectors.ts';

const CELLS = {
  ...sharedCells,
  ...clusterCells,
  ...networkingCells,
  ...podCells,
  ...storageCells,
  ...workloadCells,
};
const ALL_VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const SCALE = { specReplicas: '.spec.replicas', statusReplicas: '.status.replicas', selector: '.spec.selector' };

/** Returns a reader of a field as text for field selectors; absent booleans read as `false`. */
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

function resourceOf(apiVersion: string, types: string, row: (typeof builtinKinds)[number]['kinds'][number]): Resource {
  const { kind, plural, columns = ['Name', 'Age'] } = row;
  const versioned = `${apiVersion}/${kind}`;
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
    shortNames: row.shortNames ?? [],
    categories: row.categories ?? [],
    custom: false,
    hasStatus: row.status ?? false,
    scale: row.scaled ? SCALE : undefined,
    actions: row.actions ?? [],
    verbs: row.verbs ?? ALL_VERBS,
    deprecation: row.deprecation,
    typeName,
    schema: undefined,
    shape: shapeNamed(typeName),
    strategy: strategies[versioned] ?? strategies[kind] ?? (row.tracksGeneration ? { tracksGeneration: true } : {}),
    columns: columns.map((column) => columnOf(column, CELLS)),
    rowConditions: rowConditions[kind],
    namesSelectable: row.selectable === undefined,
    unconditionalUpdate: row.conditionalUpdate !== true,
    storageKind: row.storageKind,
    selectable: selectableFields(row.selectable ?? [], row.scope !== 'Cluster'),
    storage: storageViews[versioned] ?? { group, plural },
  };
}

export function builtinResources(): Resource[] {
  return builtinKinds.flatMap(({ apiVersion, types, kinds }) => kinds.map((row) => resourceOf(apiVersion, types, row)));
}
