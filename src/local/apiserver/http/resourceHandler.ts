/** Requests on resources. In: an `ApiRequest` and the resource that its path names. Out: objects, lists, tables, watches. */
import type { Clock } from '../../../clock/clock.ts';
import { stringify as stringifyYaml } from 'yaml';
import { scaleColumns } from '../columns/server.ts';
import { deleteObject } from '../deletion.ts';
import { isFields, textAt, type ApiObject } from '../fields.ts';
import type { Objects, WriteRequest } from '../objects.ts';
import { patchObject } from '../patch/patchObject.ts';
import { listObjects, watchObjects, type ListPage } from '../reading.ts';
import { apiVersionText, type Resource } from '../resource.ts';
import { listItemText, objectText } from '../serialise.ts';
import { requestToken } from '../serviceAccountToken.ts';
import {
  badRequest,
  internalError,
  methodNotAllowed,
  notFound,
  notForLists,
  successStatus,
  unknownPath,
} from '../status.ts';
import { bindPod, evictPod, readScale, writeScale } from '../subresources.ts';
import { negotiate, refuseAccept, type Accepted } from './accept.ts';
import { parseObject, parsePatch } from './decodeBody.ts';
import { failureResponse } from './failure.ts';
import { containerOf, logOptions, type KubeletDoor } from './kubeletDoor.ts';
import { jsonResponse, textResponse, type ApiRequest, type ApiResponse } from './message.ts';
import { deleteOptions, isWatch, patchType, readRequest, writeRequest } from './requestOptions.ts';
import type { ResourcePath } from './requestPath.ts';
import { includeObject, partialMetadata, renderTable } from './table.ts';
import { watchLines } from './watchLines.ts';

/** Subresources that are the object itself, in part. */
const WRITABLE = new Set(['status', 'scale', 'finalize', 'approval', 'ephemeralcontainers', 'resize']);
/** What only a node's kubelet could answer. */
const KUBELET = new Set(['log', 'exec', 'attach', 'portforward', 'proxy']);
const YAML = { sortMapEntries: true } as const;

const NOTHING: ApiResponse = { code: 204, contentType: '', body: '' };
const SUCCESS = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };

interface Notes {
  readonly warnings: string[];
  readonly guard: NonNullable<WriteRequest['guard']>;
}

const isCollectionRead = ({ method }: ApiRequest, { name }: ResourcePath): boolean =>
  method === 'GET' && name === undefined;

export class ResourceHandler {
  private readonly objects: Objects;
  private readonly clock: Clock;
  private readonly kubelets: KubeletDoor | undefined;

  constructor(objects: Objects, clock: Clock, kubelets: KubeletDoor | undefined) {
    this.objects = objects;
    this.clock = clock;
    this.kubelets = kubelets;
  }

  /** `guard`: the writer's right to write just this object. */
  handle(
    request: ApiRequest,
    path: ResourcePath,
    resource: Resource,
    guard: NonNullable<WriteRequest['guard']>,
  ): ApiResponse {
    const accepted = negotiate(request.headers['accept']);
    if (accepted === undefined) throw refuseAccept(request.headers['accept'], isCollectionRead(request, path));
    if (resource.namespaced ? path.name !== undefined && path.namespace === undefined : path.namespace !== undefined) {
      throw unknownPath();
    }
    const warnings: string[] = resource.deprecation === undefined ? [] : [resource.deprecation];
    const notes = { warnings, guard };
    let response: ApiResponse;
    try {
      response =
        path.name === undefined
          ? this.collection(request, path, resource, accepted, notes)
          : this.single(request, { ...path, name: path.name }, resource, accepted, notes);
    } catch (error) {
      response = failureResponse(error, request);
    }
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
    { warnings, guard }: Notes,
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
        if (resource.namespaced && path.namespace === undefined) throw methodNotAllowed();
        if (resource.group === '' && resource.plural === 'bindings') return this.bind(request, path.namespace);
        const options = { ...writeRequest(request, undefined, warnings), guard };
        const object = this.objects.create(resource, path.namespace, parseObject(request, resource.kind), options);
        return this.one(request, object, resource, accepted, 201);
      }
      case 'DELETE':
        return this.deleteAll(request, path.namespace, resource);
      default:
        throw methodNotAllowed();
    }
  }

  private single(
    request: ApiRequest,
    path: ResourcePath & { readonly name: string },
    resource: Resource,
    accepted: Accepted,
    { warnings, guard }: Notes,
  ): ApiResponse {
    const { namespace, name, subresource } = path;
    if (subresource !== undefined) this.checkSubresource(resource, subresource);
    const options = { ...writeRequest(request, subresource, warnings), guard };
    switch (request.method) {
      case 'GET': {
        const object = this.objects.get(resource, namespace, name);
        if (subresource === 'log') return this.logs(request, object);
        if (subresource !== undefined && KUBELET.has(subresource)) throw this.noEntry(request, object, subresource);
        return subresource === 'scale'
          ? this.one(request, readScale(resource, object), { ...resource, columns: scaleColumns }, accepted, 200)
          : this.one(request, object, resource, accepted, 200);
      }
      case 'PUT': {
        if (subresource !== undefined && !WRITABLE.has(subresource)) throw methodNotAllowed();
        const body = parseObject(request, subresource === 'scale' ? 'Scale' : resource.kind);
        const object =
          subresource === 'scale'
            ? writeScale(this.objects, resource, namespace, name, options, () => body)
            : this.objects.update(resource, namespace, name, options, () => body);
        return this.one(request, object, resource, accepted, 200);
      }
      case 'PATCH': {
        const type = patchType(request);
        const force = request.query.get('force') === 'true';
        const patch = { ...options, type, body: parsePatch(request), force };
        const { object, created } = patchObject(this.objects, resource, namespace, name, patch);
        return this.one(request, object, resource, accepted, created ? 201 : 200);
      }
      case 'DELETE': {
        if (subresource !== undefined) throw methodNotAllowed();
        const body = request.body.length === 0 ? undefined : parseObject(request, undefined);
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
        throw methodNotAllowed();
    }
  }

  /** POST bindings: the same as POST pods/binding, with the pod named in the body. */
  private bind(request: ApiRequest, namespace: string | undefined): ApiResponse {
    const pods = this.objects.catalog.find('', 'v1', 'pods');
    if (pods === undefined) throw unknownPath();
    const body = parseObject(request, 'Binding');
    const dryRun = request.query.get('dryRun') === 'All';
    bindPod(this.objects, pods, namespace, textAt(body, 'metadata', 'name') ?? '', body, { dryRun });
    return jsonResponse(SUCCESS, 201);
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
    switch (path.subresource ?? '') {
      case 'eviction': {
        const body = parseObject(request, 'Eviction');
        const target = textAt(body, 'metadata', 'name') ?? name;
        if (target !== name) throw badRequest('name in URL does not match name in Eviction object');
        const inner = isFields(body['deleteOptions']) ? body['deleteOptions'] : undefined;
        evictPod(this.objects, resource, namespace, name, deleteOptions(request, inner), this.clock.now());
        return jsonResponse(SUCCESS, 201);
      }
      case 'binding':
        bindPod(this.objects, resource, namespace, name, parseObject(request, 'Binding'), { dryRun });
        return jsonResponse(SUCCESS, 201);
      case 'log':
      case 'exec':
      case 'attach':
      case 'portforward':
      case 'proxy':
        throw this.noEntry(request, this.objects.get(resource, namespace, name), path.subresource ?? '');
      case 'token': {
        const account = this.objects.get(resource, namespace, name);
        const body = parseObject(request, 'TokenRequest');
        const { fieldManager } = writeRequest(request, 'token', []);
        const uuid = (): string => this.objects.context.uuid();
        const { store } = this.objects;
        return jsonResponse(requestToken(account, body, { now: this.clock.now(), fieldManager, uuid, store }), 201);
      }
      default:
        throw methodNotAllowed();
    }
  }

  private deleteAll(request: ApiRequest, namespace: string | undefined, resource: Resource): ApiResponse {
    if (!resource.verbs.includes('deletecollection')) throw methodNotAllowed();
    const body = request.body.length === 0 ? undefined : parseObject(request, undefined);
    const options = deleteOptions(request, body);
    const page = listObjects(this.objects, resource, readRequest(request, namespace));
    for (const { metadata } of page.items) {
      deleteObject(this.objects, resource, metadata.namespace, metadata.name, options, this.clock.now());
    }
    // The answer lists what was there.
    return this.list(request, page, resource, { as: 'json', version: 'v1' });
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
        const now = this.clock.now();
        return jsonResponse(renderTable(resource, [object], metadata, include, now, accepted.version), code);
      }
      case 'partialMetadata':
        return jsonResponse(partialMetadata(object), code);
      case 'yaml':
        return { code, contentType: 'application/yaml', body: stringifyYaml(object, YAML) };
      case 'json':
      case 'partialMetadataList':
      case 'aggregatedDiscovery':
        return jsonResponse(`${objectText(object)}\n`, code);
    }
  }

  private list(request: ApiRequest, page: ListPage, resource: Resource, accepted: Accepted): ApiResponse {
    // Lists of custom resources always have the field.
    const metadata = resource.custom ? { continue: '', ...page.metadata } : page.metadata;
    const head = { kind: resource.listKind, apiVersion: apiVersionText(resource), metadata };
    switch (accepted.as) {
      case 'table': {
        const include = includeObject(request.query.get('includeObject'));
        const now = this.clock.now();
        return jsonResponse(renderTable(resource, page.items, page.metadata, include, now, accepted.version));
      }
      case 'partialMetadata':
        throw notForLists(resource);
      case 'partialMetadataList':
        return jsonResponse({
          kind: 'PartialObjectMetadataList',
          apiVersion: 'meta.k8s.io/v1',
          metadata: page.metadata,
          items: page.items.map(partialMetadata),
        });
      case 'yaml':
        return {
          code: 200,
          contentType: 'application/yaml',
          body: stringifyYaml({ ...head, items: page.items }, YAML),
        };
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

  private logs(request: ApiRequest, pod: ApiObject): ApiResponse {
    const options = logOptions(request, pod, this.clock.now());
    // Upstream has nothing to say about the logs of a pod without a node, and says it politely.
    if ((textAt(pod, 'spec', 'nodeName') ?? '') === '') return NOTHING;
    const body = this.kubelets?.logs(pod, options, request.signal);
    if (body === undefined) throw this.noKubelet(pod);
    return { ...textResponse(''), body };
  }

  private noEntry(request: ApiRequest, object: ApiObject, way: string): Error {
    if (way === 'exec' || way === 'attach') containerOf(object, request.query.get('container') ?? '');
    return this.kubelets?.refuseEntry(object, way) ?? this.noKubelet(object);
  }

  /** Nodes without a kubelet have no address to call: what a client hears when its pod has no node, or a node that does not answer. */
  private noKubelet(object: ApiObject): Error {
    const node = textAt(object, 'spec', 'nodeName') ?? '';
    const { name } = object.metadata;
    if (node === '') return badRequest(`pod ${name} does not have a host assigned`);
    // Upstream looks the node up on behalf of the pod, and says so.
    if (this.objects.store.table('', 'nodes').get(node) === undefined) {
      return notFound({ group: '', plural: 'pods' }, node);
    }
    return internalError(new Error(`no kubelet answers for node ${node}`));
  }
}
