/**
 * An API group of another server that this one passes on, such as metrics-server's: lists, single objects and tables,
 * read only, of objects made when they are asked for.
 */
import type { Clock } from '../../../clock/clock.ts';
import type { ApiObject } from '../fields.ts';
import { apiVersionOf } from '../../../api/object.ts';
import { selectableFields } from '../builtinResources.ts';
import type { ListedResource, Resource } from '../resource.ts';
import { objectPredicate, parseFieldSelector, parseLabelSelector } from '../selectors.ts';
import { methodNotAllowed, notFound, unknownPath } from '../status.ts';
import { negotiate, refuseAccept } from './accept.ts';
import { jsonResponse, type ApiRequest, type ApiResponse } from './message.ts';
import type { ResourcePath } from './requestPath.ts';
import { includeObject, partialMetadata, partialMetadataList, renderTable } from './table.ts';

export interface AggregatedResource extends ListedResource, Pick<Resource, 'columns'> {
  /** Everything there is, of one namespace when it is given. */
  all(namespace: string | undefined): readonly ApiObject[];
  /** The word for it in "… not found", where it is not the plural. */
  readonly notFoundPlural: string;
  /** Where the server that brings it would be. */
  readonly service: { readonly namespace: string; readonly name: string; readonly port: number };
}

export function findAggregated(
  resources: readonly AggregatedResource[],
  path: ResourcePath,
): AggregatedResource | undefined {
  return resources.find(
    ({ group, version, plural }) => group === path.group && version === path.version && plural === path.plural,
  );
}

export function answerAggregated(
  request: ApiRequest,
  path: ResourcePath,
  resource: AggregatedResource,
  clock: Clock,
): ApiResponse {
  if (path.subresource !== undefined || (!resource.namespaced && path.namespace !== undefined)) throw unknownPath();
  if (request.method !== 'GET' || request.query.get('watch') === 'true') throw methodNotAllowed();
  const accepted = negotiate(request.headers['accept']);
  if (accepted === undefined) throw refuseAccept(request.headers['accept'], path.name === undefined);
  const selected = select(request, resource.all(path.namespace), path.name);
  if (path.name !== undefined && selected.length === 0) {
    const name = path.namespace === undefined ? path.name : `${path.namespace}/${path.name}`;
    throw notFound({ group: resource.group, plural: resource.notFoundPlural }, name);
  }
  const include = includeObject(request.query.get('includeObject'));
  if (accepted.as === 'table') {
    return jsonResponse(renderTable(resource, selected, {}, include, clock.now(), accepted.version));
  }
  if (accepted.as === 'partialMetadataList' || accepted.as === 'partialMetadata') {
    const [first] = selected;
    const isOne = path.name !== undefined && first !== undefined;
    return jsonResponse(isOne ? partialMetadata(first) : partialMetadataList(selected, {}));
  }
  if (path.name !== undefined) return jsonResponse(selected[0]);
  // Items of a typed list do not repeat what the list says.
  const items = selected.map(({ kind: _kind, apiVersion: _version, ...item }) => item);
  return jsonResponse({ kind: resource.listKind, apiVersion: apiVersionOf(resource), metadata: {}, items });
}

function select({ query }: ApiRequest, all: readonly ApiObject[], name: string | undefined): readonly ApiObject[] {
  if (name !== undefined) return all.filter(({ metadata }) => metadata.name === name);
  const labels = parseLabelSelector(query.get('labelSelector') ?? undefined);
  const fields = parseFieldSelector(query.get('fieldSelector') ?? undefined, selectableFields([], true), true);
  const matches = objectPredicate(labels, fields);
  return matches === undefined ? all : all.filter(matches);
}
