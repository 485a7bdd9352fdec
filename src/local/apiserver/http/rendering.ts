/** Renders objects and lists in the representation that a client accepts: JSON, YAML, tables or metadata only. */
import { printYaml } from '../../../api/yaml/printYaml.ts';
import { apiVersionOf } from '../../../api/object.ts';
import { goPackage } from '../apiVersion.ts';
import { sortedJson, type ApiObject } from '../fields.ts';
import type { ListedResource, Resource } from '../resource.ts';
import { listItemText, objectText } from '../serialise.ts';
import { notForLists } from '../status.ts';
import type { Accepted } from './accept.ts';
import { jsonResponse, type ApiResponse } from './message.ts';
import { includeObject, partialMetadata, partialMetadataList, renderTable } from './table.ts';

type Rendered = ListedResource & Pick<Resource, 'columns' | 'rowConditions'>;

export interface Rendering {
  one(object: ApiObject, resource: Rendered, code: number): ApiResponse;
  list(page: { readonly items: readonly ApiObject[]; readonly metadata: object }, resource: Rendered): ApiResponse;
}

export function renderingIn({ as, version }: Accepted, query: URLSearchParams, now: number): Rendering {
  const table = (resource: Rendered, items: readonly ApiObject[], metadata: object, code: number): ApiResponse => {
    const include = includeObject(query.get('includeObject'));
    return jsonResponse(renderTable(resource, items, metadata, include, now, version), code);
  };

  const one: Rendering['one'] = (object, resource, code) => {
    const { resourceVersion } = object.metadata;
    if (as === 'table')
      return table(resource, [object], resourceVersion === undefined ? {} : { resourceVersion }, code);
    if (as === 'partialMetadata') return jsonResponse(partialMetadata(object), code);
    return as === 'yaml' ? yamlResponse(object, code) : jsonResponse(`${objectText(object)}\n`, code);
  };

  const list: Rendering['list'] = ({ items, metadata: given }, resource) => {
    // Lists of custom resources always have `continue`.
    const metadata = resource.custom ? { continue: '', ...given } : given;
    const head = { kind: resource.listKind, apiVersion: apiVersionOf(resource), metadata };
    if (as === 'table') return table(resource, items, given, 200);
    if (as === 'partialMetadata') throw notForLists(goListType(resource));
    if (as === 'partialMetadataList') return jsonResponse(partialMetadataList(items, given));
    if (as === 'yaml') return yamlResponse({ ...head, items }, 200);
    const texts = items.map((item) => listItemText(item, resource.custom));
    return jsonResponse(`${JSON.stringify(head).slice(0, -1)},"items":[${texts.join(',')}]}\n`);
  };

  return { one, list };
}

function goListType({ group, listKind, custom }: Rendered): string {
  return custom ? 'unstructured.UnstructuredList' : `${goPackage(group)}.${listKind}`;
}

/** Renders YAML with members sorted by name, like Go's maps. */
export function yamlResponse(value: unknown, code: number): ApiResponse {
  return { code, contentType: 'application/yaml', body: printYaml(sortedJson(value)) };
}
