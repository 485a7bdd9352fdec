/** Requests on resources. In: an `ApiRequest` and the resource that its path names. Out: objects, lists, tables, watches. */
import type { Clock } from '../../../clock/clock.ts';
import { stringify as stringifyYaml } from 'yaml';
import { deleteObject } from '../deletion.ts';
import { isFields, type ApiObject } from '../fields.ts';
import type { Objects } from '../objects.ts';
import { patchObject } from '../patch/patchObject.ts';
import { listObjects, watchObjects, type ListPage } from '../reading.ts';
import { apiVersionText, type Resource } from '../resource.ts';
import { listItemText, objectText } from '../serialise.ts';
import { badRequest, methodNotAllowed, notAcceptable, successStatus, unknownPath } from '../status.ts';
import { bindPod, evictPod, readScale, writeScale } from '../subresources.ts';
import { negotiate, type Accepted } from './accept.ts';
import { jsonResponse, type ApiRequest, type ApiResponse } from './message.ts';
import {
  deleteOptions,
  isWatch,
  parseBody,
  parseObject,
  patchType,
  readRequest,
  writeRequest,
} from './requestOptions.ts';
import type { ResourcePath } from './requestPath.ts';
import { includeObject, partialMetadata, renderTable } from './table.ts';
import { watchLines } from './watchLines.ts';

const MEDIA_TYPES = ['application/json', 'application/yaml'];

export class ResourceHandler {
  private readonly objects: Objects;
  private readonly clock: Clock;

  constructor(objects: Objects, clock: Clock) {
    this.objects = objects;
    this.clock = clock;
  }

  handle(request: ApiRequest, path: ResourcePath, resource: Resource): ApiResponse {
    const accepted = negotiate(request.headers['accept']);
    if (accepted === undefined) throw notAcceptable(MEDIA_TYPES);
    if (resource.namespaced ? path.name !== undefined && path.namespace === undefined : path.namespace !== undefined) {
      throw unknownPath();
    }
    const warnings: string[] = [];
    const response =
      path.name === undefined
        ? this.collection(request, path, resource, accepted, warnings)
        : this.single(request, { ...path, name: path.name }, resource, accepted, warnings);
    if (warnings.length === 0) return response;
    return {
      ...response,
      headers: { ...response.headers, warning: warnings.map((text) => `299 - ${JSON.stringify(text)}`) },
    };
  }

  private collection(
    request: ApiRequest,
    path: ResourcePath,
    resource: Resource,
    accepted: Accepted,
    warnings: string[],
  ): ApiResponse {
    switch (request.method) {
      case 'GET':
        if (isWatch(request)) return this.watch(request, path.namespace, resource, accepted);
        return this.list(
          request,
          listObjects(this.objects, resource, readRequest(request, path.namespace)),
          resource,
          accepted,
        );
      case 'POST': {
        if (resource.namespaced && path.namespace === undefined) throw methodNotAllowed(resource);
        const options = writeRequest(request, undefined, warnings);
        const object = this.objects.create(resource, path.namespace, parseObject(request), options);
        return this.one(request, object, resource, accepted, 201);
      }
      case 'DELETE':
        return this.deleteAll(request, path.namespace, resource);
      default:
        throw methodNotAllowed(resource);
    }
  }

  private single(
    request: ApiRequest,
    path: ResourcePath & { readonly name: string },
    resource: Resource,
    accepted: Accepted,
    warnings: string[],
  ): ApiResponse {
    const { namespace, name, subresource } = path;
    if (subresource !== undefined) this.checkSubresource(resource, subresource);
    const options = writeRequest(request, subresource, warnings);
    switch (request.method) {
      case 'GET': {
        const object = this.objects.get(resource, namespace, name);
        return this.one(
          request,
          subresource === 'scale' ? readScale(resource, object) : object,
          resource,
          accepted,
          200,
        );
      }
      case 'PUT': {
        const body = parseObject(request);
        const object =
          subresource === 'scale'
            ? writeScale(this.objects, resource, namespace, name, options, () => body)
            : this.objects.update(resource, namespace, name, options, () => body);
        return this.one(request, object, resource, accepted, 200);
      }
      case 'PATCH': {
        const type = patchType(request);
        if (type === 'apply' && !request.query.has('fieldManager')) {
          throw badRequest(
            'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
          );
        }
        const force = request.query.get('force') === 'true';
        const patch = { ...options, type, body: parseBody(request), force };
        const { object, created } = patchObject(this.objects, resource, namespace, name, patch);
        return this.one(request, object, resource, accepted, created ? 201 : 200);
      }
      case 'DELETE': {
        if (subresource !== undefined) throw methodNotAllowed(resource);
        const body = request.body.length === 0 ? undefined : parseObject(request);
        const { object, gone } = deleteObject(
          this.objects,
          resource,
          namespace,
          name,
          deleteOptions(request, body),
          this.clock.now(),
        );
        if (gone && resource.plural !== 'pods') return jsonResponse(successStatus(resource, name, object.metadata.uid));
        return this.one(request, object, resource, accepted, 200);
      }
      case 'POST':
        return this.act(request, path, resource, options.dryRun);
      default:
        throw methodNotAllowed(resource);
    }
  }

  private checkSubresource(resource: Resource, subresource: string): void {
    const known =
      (subresource === 'status' && resource.hasStatus) ||
      (subresource === 'scale' && resource.scale !== undefined) ||
      resource.actions.some((action) => action.name === subresource);
    if (!known) throw unknownPath();
  }

  /** POST on a subresource. */
  private act(
    request: ApiRequest,
    path: ResourcePath & { readonly name: string },
    resource: Resource,
    dryRun: boolean,
  ): ApiResponse {
    const { namespace, name } = path;
    const success = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
    switch (path.subresource ?? '') {
      case 'eviction': {
        const body = parseObject(request);
        const inner = isFields(body['deleteOptions']) ? body['deleteOptions'] : undefined;
        evictPod(this.objects, resource, namespace, name, deleteOptions(request, inner), this.clock.now());
        return jsonResponse(success, 201);
      }
      case 'binding':
        bindPod(this.objects, resource, namespace, name, parseObject(request), { dryRun });
        return jsonResponse(success, 201);
      default:
        throw methodNotAllowed(resource);
    }
  }

  private deleteAll(request: ApiRequest, namespace: string | undefined, resource: Resource): ApiResponse {
    if (!resource.verbs.includes('deletecollection')) throw methodNotAllowed(resource);
    const body = request.body.length === 0 ? undefined : parseObject(request);
    const options = deleteOptions(request, body);
    const page = listObjects(this.objects, resource, readRequest(request, namespace));
    const items = page.items.map(
      ({ metadata }) =>
        deleteObject(this.objects, resource, metadata.namespace, metadata.name, options, this.clock.now()).object,
    );
    return this.list(request, { ...page, items }, resource, { as: 'json', version: 'v1' });
  }

  private one(
    request: ApiRequest,
    object: ApiObject,
    resource: Resource,
    accepted: Accepted,
    code: number,
  ): ApiResponse {
    switch (accepted.as) {
      case 'table': {
        const include = includeObject(request.query.get('includeObject'));
        const { resourceVersion } = object.metadata;
        const metadata = resourceVersion === undefined ? {} : { resourceVersion };
        return jsonResponse(renderTable(resource, [object], metadata, include, this.clock.now()), code);
      }
      case 'partialMetadata':
        return jsonResponse(partialMetadata(object), code);
      case 'yaml':
        return { code, contentType: 'application/yaml', body: stringifyYaml(object) };
      case 'json':
      case 'partialMetadataList':
      case 'aggregatedDiscovery':
        return jsonResponse(`${objectText(object)}\n`, code);
    }
  }

  private list(request: ApiRequest, page: ListPage, resource: Resource, accepted: Accepted): ApiResponse {
    const head = { kind: resource.listKind, apiVersion: apiVersionText(resource), metadata: page.metadata };
    switch (accepted.as) {
      case 'table': {
        const include = includeObject(request.query.get('includeObject'));
        return jsonResponse(renderTable(resource, page.items, page.metadata, include, this.clock.now()));
      }
      case 'partialMetadataList':
      case 'partialMetadata':
        return jsonResponse({
          kind: 'PartialObjectMetadataList',
          apiVersion: 'meta.k8s.io/v1',
          metadata: page.metadata,
          items: page.items.map(partialMetadata),
        });
      case 'yaml':
        return { code: 200, contentType: 'application/yaml', body: stringifyYaml({ ...head, items: page.items }) };
      case 'json':
      case 'aggregatedDiscovery': {
        const items = page.items.map((item) => listItemText(item, resource.custom));
        return jsonResponse(`${JSON.stringify(head).slice(0, -1)},"items":[${items.join(',')}]}\n`);
      }
    }
  }

  private watch(
    request: ApiRequest,
    namespace: string | undefined,
    resource: Resource,
    accepted: Accepted,
  ): ApiResponse {
    const events = watchObjects(this.objects, resource, readRequest(request, namespace), this.clock);
    const include = includeObject(request.query.get('includeObject'));
    const lines = watchLines(events, resource, accepted, include, () => this.clock.now());
    return { code: 200, contentType: 'application/json', body: lines };
  }
}
