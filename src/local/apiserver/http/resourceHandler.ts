/** Requests on resources: their effects on objects, and answers as objects, lists, tables or watches. */
import type { Clock } from '../../../clock/clock.ts';
import { scaleColumns } from '../columns/server.ts';
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
import type { KubeletDoor } from './kubeletDoor.ts';
import { KubeletRequests } from './kubeletRequests.ts';
import { jsonResponse, type ApiRequest, type ApiResponse } from './message.ts';
import { Rendering } from './rendering.ts';
import { deleteOptions, isWatch, patchType, readRequest, writeRequest } from './requestOptions.ts';
import type { ResourcePath } from './requestPath.ts';
import { includeObject } from './table.ts';
import { watchLines } from './watchLines.ts';

/** Subresources that are the object itself, in part. */
const WRITABLE = new Set(['status', 'scale', 'finalize', 'approval', 'ephemeralcontainers', 'resize']);
const SUCCESS = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };

/** A request whose path, resource and form of the answer are known. */
interface Call {
  readonly request: ApiRequest;
  readonly path: ResourcePath;
  readonly resource: Resource;
  readonly accepted: Accepted;
  readonly write: () => WriteRequest;
  readonly render: Rendering;
}

export class ResourceHandler {
  private readonly objects: Objects;
  private readonly clock: Clock;
  private readonly kubelets: KubeletRequests;

  constructor(objects: Objects, clock: Clock, kubelets: KubeletDoor | undefined) {
    this.objects = objects;
    this.clock = clock;
    this.kubelets = new KubeletRequests(objects, kubelets);
  }

  /** `guard`: whether the writer may write this object. */
  handle(
    request: ApiRequest,
    path: ResourcePath,
    resource: Resource,
    guard: NonNullable<WriteRequest['guard']>,
  ): ApiResponse {
    const { accept } = request.headers;
    const accepted = negotiate(accept);
    if (accepted === undefined) throw refuseAccept(accept, request.method === 'GET' && path.name === undefined);
    if (resource.namespaced ? path.name !== undefined && path.namespace === undefined : path.namespace !== undefined) {
      throw unknownPath();
    }
    const warnings: string[] = resource.deprecation === undefined ? [] : [resource.deprecation];
    const call: Call = {
      request,
      path,
      resource,
      accepted,
      write: () => ({ ...writeRequest(request, path.subresource, warnings), guard }),
      render: new Rendering(accepted, request.query, this.clock.now()),
    };
    let response: ApiResponse;
    try {
      const { name, namespace } = path;
      response = name === undefined ? this.collection(call) : this.single(call, { resource, namespace, name });
    } catch (error) {
      response = failureResponse(error, request);
    }
    if (warnings.length === 0) return response;
    const warning = warnings.map((text) => `299 - ${JSON.stringify(text)}`);
    return { ...response, headers: { ...response.headers, warning } };
  }

  private collection({ request, path, resource, accepted, write, render }: Call): ApiResponse {
    const { namespace } = path;
    switch (request.method) {
      case 'GET': {
        const options = readRequest(request, namespace);
        if (!isWatch(request)) return render.list(listObjects(this.objects, resource, options), resource);
        const events = watchObjects(this.objects, resource, options, this.clock);
        const include = includeObject(request.query.get('includeObject'));
        const lines = watchLines(events, resource, accepted, include, () => this.clock.now());
        return { code: 200, contentType: 'application/json', body: lines };
      }
      case 'POST': {
        if (resource.namespaced && namespace === undefined) throw methodNotAllowed();
        if (resource.kind === 'Binding' && resource.group === '') return this.bind(request, namespace);
        const body = parseObject(request, resource.kind);
        return render.one(this.objects.create(resource, namespace, body, write()), resource, 201);
      }
      case 'DELETE': {
        if (!resource.verbs.includes('deletecollection')) throw methodNotAllowed();
        const options = deleteOptions(request);
        const page = listObjects(this.objects, resource, readRequest(request, namespace));
        for (const { metadata } of page.items) {
          deleteObject(this.objects, { resource, namespace: metadata.namespace, name: metadata.name }, options);
        }
        // The answer lists what was there.
        return new Rendering({ as: 'json', version: 'v1' }, request.query, this.clock.now()).list(page, resource);
      }
      default:
        throw methodNotAllowed();
    }
  }

  private single(call: Call, target: Target): ApiResponse {
    const { request, path, resource, render } = call;
    const { subresource } = path;
    if (subresource !== undefined && !hasSubresource(resource, subresource)) throw unknownPath();
    // Checks the options, also of requests that do not use them.
    const write = call.write();
    if (this.kubelets.answers(request.method, subresource)) return this.kubelets.answer(request, target, path);
    switch (request.method) {
      case 'GET': {
        const object = this.objects.get(target);
        return subresource === 'scale'
          ? render.one(readScale(resource, object), { ...resource, columns: scaleColumns }, 200)
          : render.one(object, resource, 200);
      }
      case 'PUT': {
        if (subresource !== undefined && !WRITABLE.has(subresource)) throw methodNotAllowed();
        const isScale = subresource === 'scale';
        const body = parseObject(request, isScale ? 'Scale' : resource.kind);
        const object = isScale
          ? writeScale(this.objects, target, write, () => body)
          : this.objects.update(target, write, () => body);
        return render.one(object, resource, 200);
      }
      case 'PATCH': {
        const type = patchType(request);
        const force = request.query.get('force') === 'true';
        const patch = { ...write, type, body: parsePatch(request), force };
        const { object, created } = patchObject(this.objects, target, patch);
        return render.one(object, resource, created ? 201 : 200);
      }
      case 'DELETE': {
        if (subresource !== undefined) throw methodNotAllowed();
        const { object, gone } = deleteObject(this.objects, target, deleteOptions(request));
        if (!gone || resource.plural === 'pods') return render.one(object, resource, 200);
        return jsonResponse(successStatus(resource, target.name, object.metadata.uid));
      }
      case 'POST':
        return this.act(call, target, write);
      default:
        throw methodNotAllowed();
    }
  }

  /** POST bindings: the same as POST pods/binding, with the pod named in the body. */
  private bind(request: ApiRequest, namespace: string | undefined): ApiResponse {
    const body = parseObject(request, 'Binding');
    const target = {
      resource: this.objects.builtin('', 'pods'),
      namespace,
      name: textAt(body, 'metadata', 'name') ?? '',
    };
    bindPod(this.objects, target, body, request.query.get('dryRun') === 'All');
    return jsonResponse(SUCCESS, 201);
  }

  /** POST on a subresource. */
  private act({ request, path }: Call, target: Target, { dryRun, fieldManager }: WriteRequest): ApiResponse {
    switch (path.subresource ?? '') {
      case 'eviction': {
        const body = parseObject(request, 'Eviction');
        if ((textAt(body, 'metadata', 'name') ?? target.name) !== target.name) {
          throw badRequest('name in URL does not match name in Eviction object');
        }
        const inner = isFields(body['deleteOptions']) ? body['deleteOptions'] : {};
        evictPod(this.objects, target, deleteOptions(request, inner));
        return jsonResponse(SUCCESS, 201);
      }
      case 'binding':
        bindPod(this.objects, target, parseObject(request, 'Binding'), dryRun);
        return jsonResponse(SUCCESS, 201);
      case 'token':
        return jsonResponse(
          requestToken(this.objects, this.objects.get(target), parseObject(request, 'TokenRequest'), fieldManager),
          201,
        );
      default:
        throw methodNotAllowed();
    }
  }
}

function hasSubresource({ hasStatus, scale, actions }: Resource, subresource: string): boolean {
  return (
    (subresource === 'status' && hasStatus) ||
    (subresource === 'scale' && scale !== undefined) ||
    actions.some((action) => action.name === subresource)
  );
}
