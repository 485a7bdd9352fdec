/** Handles requests for resources; responds with objects, lists, tables or watches. */
import { scaleColumns } from '../columns/cluster.ts';
import { deleteObject } from '../deletion.ts';
import { isFields, textAt } from '../fields.ts';
import type { Objects } from '../objects.ts';
import type { Target } from '../resource.ts';
import { patchObject } from '../patch/patchObject.ts';
import { listObjects, watchObjects } from '../reading.ts';
import type { Resource } from '../resource.ts';
import { requestToken } from '../serviceAccountToken.ts';
import { badRequest, methodNotAllowed, successStatus, unknownPath } from '../status.ts';
import { bindPod, evictPod, readScale, writeScale } from '../subresources.ts';
import type { WriteRequest } from '../writeRequest.ts';
import { negotiate, refuseAccept, type Accepted } from './accept.ts';
import { parseObject, parsePatch } from './decodeBody.ts';
import { failureResponse } from './failure.ts';
import type { KubeletApi } from './kubeletApi.ts';
import { answerForKubelet, isForKubelet } from './kubeletRequests.ts';
import { jsonResponse, type ApiRequest, type ApiResponse } from './message.ts';
import { renderingIn, type Rendering } from './rendering.ts';
import { deleteOptions, isWatch, patchType, readRequest, writeRequest } from './requestOptions.ts';
import type { ResourcePath } from './requestPath.ts';
import { includeObject } from './table.ts';
import { watchLines } from './watchLines.ts';

/** Subresources that can be replaced and patched. */
const WRITABLE = new Set(['status', 'scale', 'finalize', 'approval', 'ephemeralcontainers', 'resize']);
const SUCCESS = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };

/** A request with its parsed path, resource and representation of the response. */
interface Call {
  readonly request: ApiRequest;
  readonly path: ResourcePath;
  readonly resource: Resource;
  readonly accepted: Accepted;
  readonly write: () => WriteRequest;
  readonly render: Rendering;
}

export type ResourceHandler = (
  request: ApiRequest,
  path: ResourcePath,
  resource: Resource,
  /** Throws if the writer is not authorized to write the object. */
  guard: NonNullable<WriteRequest['guard']>,
) => ApiResponse;

export function resourceHandler(objects: Objects, kubelets: KubeletApi | undefined): ResourceHandler {
  const { clock } = objects;

  function collection({ request, path, resource, accepted, write, render }: Call): ApiResponse {
    const { namespace } = path;
    switch (request.method) {
      case 'GET': {
        const options = readRequest(request, namespace);
        if (!isWatch(request)) return render.list(listObjects(objects, resource, options), resource);
        const events = watchObjects(objects, resource, options);
        const include = includeObject(request.query.get('includeObject'));
        const lines = watchLines(events, resource, accepted, include, () => clock.now());
        return { code: 200, contentType: 'application/json', body: lines };
      }
      case 'POST': {
        if (resource.namespaced && namespace === undefined) throw methodNotAllowed();
        if (resource.kind === 'Binding' && resource.group === '') return bind(request, namespace);
        const body = parseObject(request, resource.kind);
        return render.one(objects.create(resource, namespace, body, write()), resource, 201);
      }
      case 'DELETE': {
        if (!resource.verbs.includes('deletecollection')) throw methodNotAllowed();
        const options = deleteOptions(request);
        const page = listObjects(objects, resource, readRequest(request, namespace));
        for (const { metadata } of page.items) {
          deleteObject(objects, { resource, namespace: metadata.namespace, name: metadata.name }, options);
        }
        // The response is the list of the deleted objects.
        return renderingIn({ as: 'json', version: 'v1' }, request.query, clock.now()).list(page, resource);
      }
      default:
        throw methodNotAllowed();
    }
  }

  function single(call: Call, target: Target): ApiResponse {
    const { request, path, resource, render } = call;
    const { subresource } = path;
    if (subresource !== undefined && !hasSubresource(resource, subresource)) throw unknownPath();
    // Validates the options also for requests that do not use them.
    const write = call.write();
    if (isForKubelet(request.method, subresource)) {
      return answerForKubelet(objects, kubelets, request, target, subresource ?? '');
    }
    switch (request.method) {
      case 'GET': {
        const object = objects.get(target);
        return subresource === 'scale'
          ? render.one(readScale(resource, object), { ...resource, columns: scaleColumns }, 200)
          : render.one(object, resource, 200);
      }
      case 'PUT': {
        if (subresource !== undefined && !WRITABLE.has(subresource)) throw methodNotAllowed();
        const isScale = subresource === 'scale';
        const body = parseObject(request, isScale ? 'Scale' : resource.kind);
        const object = isScale
          ? writeScale(objects, target, write, () => body)
          : objects.update(target, write, () => body);
        return render.one(object, resource, 200);
      }
      case 'PATCH': {
        const type = patchType(request);
        const force = request.query.get('force') === 'true';
        const patch = { ...write, type, body: parsePatch(request), force };
        const { object, created } = patchObject(objects, target, patch);
        return render.one(object, resource, created ? 201 : 200);
      }
      case 'DELETE': {
        if (subresource !== undefined) throw methodNotAllowed();
        const { object, gone } = deleteObject(objects, target, deleteOptions(request));
        if (!gone || resource.plural === 'pods') return render.one(object, resource, 200);
        return jsonResponse(successStatus(resource, target.name, object.metadata.uid));
      }
      case 'POST':
        return act(call, target, write);
      default:
        throw methodNotAllowed();
    }
  }

  /** POST bindings: like POST pods/binding, with the pod's name in the body. */
  function bind(request: ApiRequest, namespace: string | undefined): ApiResponse {
    const body = parseObject(request, 'Binding');
    const target = {
      resource: objects.builtin('', 'pods'),
      namespace,
      name: textAt(body, 'metadata', 'name') ?? '',
    };
    bindPod(objects, target, body, request.query.get('dryRun') === 'All');
    return jsonResponse(SUCCESS, 201);
  }

  /** POST on a subresource. */
  function act({ request, path }: Call, target: Target, { dryRun, fieldManager }: WriteRequest): ApiResponse {
    switch (path.subresource ?? '') {
      case 'eviction': {
        const body = parseObject(request, 'Eviction');
        if ((textAt(body, 'metadata', 'name') ?? target.name) !== target.name) {
          throw badRequest('name in URL does not match name in Eviction object');
        }
        const inner = isFields(body['deleteOptions']) ? body['deleteOptions'] : {};
        evictPod(objects, target, deleteOptions(request, inner));
        return jsonResponse(SUCCESS, 201);
      }
      case 'binding':
        bindPod(objects, target, parseObject(request, 'Binding'), dryRun);
        return jsonResponse(SUCCESS, 201);
      case 'token':
        return jsonResponse(
          requestToken(objects, objects.get(target), parseObject(request, 'TokenRequest'), fieldManager),
          201,
        );
      default:
        throw methodNotAllowed();
    }
  }

  return (request, path, resource, guard) => {
    const { accept } = request.headers;
    const accepted = negotiate(accept);
    if (accepted === undefined) throw refuseAccept(accept, request.method === 'GET' && path.name === undefined);
    const { name, namespace } = path;
    if (resource.namespaced ? name !== undefined && namespace === undefined : namespace !== undefined) {
      throw unknownPath();
    }
    const warnings: string[] = resource.deprecation === undefined ? [] : [resource.deprecation];
    const write = (): WriteRequest => ({ ...writeRequest(request, path.subresource, warnings), guard });
    const render = renderingIn(accepted, request.query, clock.now());
    const call: Call = { request, path, resource, accepted, write, render };
    let response: ApiResponse;
    try {
      response = name === undefined ? collection(call) : single(call, { resource, namespace, name });
    } catch (error) {
      response = failureResponse(error, request);
    }
    if (warnings.length === 0) return response;
    const warning = warnings.map((text) => `299 - ${JSON.stringify(text)}`);
    return { ...response, headers: { ...response.headers, warning } };
  };
}

function hasSubresource({ hasStatus, scale, actions }: Resource, subresource: string): boolean {
  return (
    (subresource === 'status' && hasStatus) ||
    (subresource === 'scale' && scale !== undefined) ||
    actions.some((action) => action.name === subresource)
  );
}
