/** Objects and lists in the form that a client accepts: JSON, YAML, tables or metadata only. */
import { printYaml } from '../../../api/yaml/printYaml.ts';
import { apiVersionText } from '../apiVersion.ts';
import type { ApiObject } from '../fields.ts';
import type { ListPage } from '../reading.ts';
import type { Resource } from '../resource.ts';
import { listItemText, objectText } from '../serialise.ts';
import { notForLists } from '../status.ts';
import type { Accepted } from './accept.ts';
import { jsonResponse, type ApiResponse } from './message.ts';
import { includeObject, partialMetadata, renderTable } from './table.ts';

export class Rendering {
  private readonly accepted: Accepted;
  private readonly query: URLSearchParams;
  private readonly now: number;

  constructor(accepted: Accepted, query: URLSearchParams, now: number) {
    this.accepted = accepted;
    this.query = query;
    this.now = now;
  }

  one(object: ApiObject, resource: Resource, code: number): ApiResponse {
    switch (this.accepted.as) {
      case 'table': {
        const { resourceVersion } = object.metadata;
        return this.table(resource, [object], resourceVersion === undefined ? {} : { resourceVersion }, code);
      }
      case 'partialMetadata':
        return jsonResponse(partialMetadata(object), code);
      case 'yaml':
        return yamlResponse(object, code);
      case 'json':
      case 'partialMetadataList':
      case 'aggregatedDiscovery':
        return jsonResponse(`${objectText(object)}\n`, code);
    }
  }

  list(page: ListPage, resource: Resource): ApiResponse {
    // Lists of custom resources always have the field.
    const metadata = resource.custom ? { continue: '', ...page.metadata } : page.metadata;
    const head = { kind: resource.listKind, apiVersion: apiVersionText(resource), metadata };
    switch (this.accepted.as) {
      case 'table':
        return this.table(resource, page.items, page.metadata, 200);
      case 'partialMetadata':
        throw notForLists(resource);
      case 'partialMetadataList': {
        const items = page.items.map(partialMetadata);
        const list = {
          kind: 'PartialObjectMetadataList',
          apiVersion: 'meta.k8s.io/v1',
          metadata: page.metadata,
          items,
        };
        return jsonResponse(list);
      }
      case 'yaml':
        return yamlResponse({ ...head, items: page.items }, 200);
      case 'json':
      case 'aggregatedDiscovery': {
        const items = page.items.map((item) => listItemText(item, resource.custom));
        return jsonResponse(`${JSON.stringify(head).slice(0, -1)},"items":[${items.join(',')}]}\n`);
      }
    }
  }

  private table(resource: Resource, items: readonly ApiObject[], metadata: object, code: number): ApiResponse {
    const include = includeObject(this.query.get('includeObject'));
    return jsonResponse(renderTable(resource, items, metadata, include, this.now, this.accepted.version), code);
  }
}

export function yamlResponse(value: unknown, code: number): ApiResponse {
  return { code, contentType: 'application/yaml', body: printYaml(withSortedKeys(value)) };
}

/** As Go prints its maps. */
function withSortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSortedKeys);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(members.map(([key, member]) => [key, withSortedKeys(member)]));
}
