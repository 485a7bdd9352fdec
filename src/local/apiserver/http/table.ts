/** Renders objects as a `meta.k8s.io/v1 Table`, which `kubectl get` prints. */
import type { ApiObject } from '../fields.ts';
import type { Resource } from '../resource.ts';

type TableShape = Pick<Resource, 'columns' | 'rowConditions'>;
export type IncludeObject = 'None' | 'Metadata' | 'Object';

export function renderTable(
  resource: TableShape,
  objects: readonly ApiObject[],
  metadata: object,
  include: IncludeObject,
  now: number,
  version = 'v1',
): object {
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${version}`,
    metadata,
    columnDefinitions: resource.columns.map((column) => ({
      name: column.name,
      type: column.type,
      format: column.format ?? '',
      description: column.description ?? '',
      priority: column.priority ?? 0,
    })),
    rows: objects.map((object) => renderRow(resource, object, include, now)),
  };
}

function renderRow(resource: TableShape, object: ApiObject, include: IncludeObject, now: number): object {
  const cells = resource.columns.map((column) => column.cell(object, now));
  const conditions = resource.rowConditions?.(object);
  const shown = conditions === undefined ? { cells } : { cells, conditions };
  if (include === 'None') return { ...shown, object: null };
  return { ...shown, object: include === 'Object' ? object : partialMetadata(object) };
}

/** Returns an object with its metadata only. */
export function partialMetadata(object: ApiObject): object {
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata };
}

export function partialMetadataList(items: readonly ApiObject[], metadata: object): object {
  const type = { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1' };
  return { ...type, metadata, items: items.map(partialMetadata) };
}

export function includeObject(text: string | null): IncludeObject {
  return text === 'None' || text === 'Object' ? text : 'Metadata';
}
