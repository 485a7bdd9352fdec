/** The status endpoint writes `status`; the main endpoint writes the other fields. */
import { copyJson, type ApiObject, type Fields } from './fields.ts';
import type { Resource } from './resource.ts';

const WITH_STATUS = new Set(['apiVersion', 'kind', 'metadata', 'status']);

export function statusPart({ apiVersion, kind, metadata, status }: Fields): Fields {
  return { apiVersion, kind, metadata, status };
}

export function dropAllButStatus(draft: ApiObject): void {
  for (const name of Object.keys(draft)) if (!WITH_STATUS.has(name)) delete draft[name];
}

export function keepStatus(draft: ApiObject, live: ApiObject): void {
  copyField('status', live, draft);
}

/** Restores all fields but `status` and, for some built-in kinds, metadata, which their status endpoint may change. */
export function keepAllButStatus(draft: ApiObject, live: ApiObject, resource: Resource): void {
  for (const name of new Set([...Object.keys(draft), ...Object.keys(live)])) {
    if (name !== 'status' && name !== 'metadata') copyField(name, live, draft);
  }
  if (!resource.custom && resource.group !== 'apps') return;
  const { managedFields, resourceVersion, annotations } = draft.metadata;
  draft.metadata = { ...copyJson(live.metadata), ...(resourceVersion === undefined ? {} : { resourceVersion }) };
  if (managedFields !== undefined) draft.metadata.managedFields = managedFields;
  // The deployment controller writes the revision annotation together with the status.
  if (resource.kind === 'Deployment' && annotations !== undefined) draft.metadata.annotations = annotations;
}

function copyField(name: string, from: ApiObject, to: ApiObject): void {
  if (from[name] === undefined) delete to[name];
  else to[name] = from[name];
}
