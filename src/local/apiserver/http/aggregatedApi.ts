/**
 * An aggregated API group, such as that of metrics-server: read-only lists, objects and tables, of objects computed for
 * each request.
 */
import type { Clock } from '../../../clock/clock.ts';
import type { ApiObject } from '../fields.ts';
import { selectableFields } from '../builtinResources.ts';
import type { ListedResource, Resource } from '../resource.ts';
import { objectPredicate, parseFieldSelector, parseLabelSelector } from '../selectors.ts';
import { methodNotAllowed, notFound, unknownPath } from '../status.ts';
import { keyOf } from '../store.ts';
import { negotiate, refuseAccept } from './accept.ts';
import type { ApiRequest, ApiResponse } from './message.ts';
import { renderingIn } from './rendering.ts';
import type { ResourcePath } from './requestPath.ts';

export interface AggregatedResource extends ListedResource, Pick<Resource, 'columns'> {
  /** Returns all objects, or those of a namespace. */
  all(namespace: string | undefined): readonly ApiObject[];
  /** The name of the resource in "… not found" messages, which may differ from the plural. */
  readonly notFoundPlural: string;
  /** The service of the extension API server in the APIService. */
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
  const render = renderingIn(accepted, request.query, clock.now());
  const all = resource.all(path.namespace);
  if (path.name === undefined) return render.list({ items: select(request, all), metadata: {} }, resource);
  const found = all.find(({ metadata }) => metadata.name === path.name);
  if (found !== undefined) return render.one(found, resource, 200);
  throw notFound({ group: resource.group, plural: resource.notFoundPlural }, keyOf(path.namespace, path.name));
}

function select({ query }: ApiRequest, all: readonly ApiObject[]): readonly ApiObject[] {
  const labels = parseLabelSelector(query.get('labelSelector') ?? undefined);
  const fields = parseFieldSelector(query.get('fieldSelector') ?? undefined, selectableFields([], true), true);
  const matches = objectPredicate(labels, fields);
  return matches === undefined ? all : all.filter(matches);
}
