/** Serves a resource type by its `ResourceKind`: create, read, list, change, delete, with operations and errors. */
import { accepted, changed, paged, type ArmContext } from '../armContext.ts';
import { ArmError } from '../armError.ts';
import { refusal } from '../refusal.ts';
import { listAt, objectAt, textAt, type JsonObject } from '../jsonPath.ts';
import type { Operation } from '../operations.ts';
import { present, type ArmResource } from '../resourceStore.ts';
import { ok, type ArmRequest, type ArmResponse, type Route } from '../server/router.ts';
import { checkGroup, checkLocation, checkPreconditions, checkTags } from './requestRules.ts';
import type { ResourceKind, ResourceWrite } from './resourceKind.ts';

const PLACEHOLDERS: readonly string[] = ['name', 'child', 'grandchild'];

export function resourceRoutes(context: ArmContext, kind: ResourceKind): readonly Route[] {
  return new KindRoutes(context, kind).routes();
}

class KindRoutes {
  private readonly context: ArmContext;
  private readonly kind: ResourceKind;
  private readonly namespace: string;
  private readonly steps: readonly string[];
  /** Operations under way, by the id of the resource in lower case. */
  private readonly busy = new Map<string, Operation>();

  constructor(context: ArmContext, kind: ResourceKind) {
    this.context = context;
    this.kind = kind;
    const [namespace = '', ...steps] = kind.type.split('/');
    this.namespace = namespace;
    this.steps = steps;
  }

  routes(): readonly Route[] {
    const { kind, context } = this;
    const last = this.steps.at(-1) ?? '';
    const operations = kind.operations ?? last;
    const group = `/subscriptions/{subscription}/resourceGroups/{group}/providers/${this.namespace}`;
    const parents = this.steps.slice(0, -1).map((step, index) => `${step}/{${PLACEHOLDERS[index] ?? ''}}`);
    const collection = [group, ...parents, last].join('/');
    const item = `${collection}/{${PLACEHOLDERS[this.steps.length - 1] ?? ''}}`;
    const route = (verb: string, method: Route['method'], path: string, handle: Route['handle']): Route => ({
      name: `${operations}.${verb}`,
      method,
      path,
      handle,
    });
    const routes = [
      route('list', 'GET', collection, (request) => this.list(request)),
      route('get', 'GET', item, (request) => {
        const found = this.find(request);
        return { status: 200, body: this.show(found, request), headers: { etag: found.etag } };
      }),
    ];
    if (kind.tracked) {
      const listAll: Route['handle'] = (request) =>
        paged(context, request, context.store.list(kind.type), (resource) => this.show(resource, request));
      routes.push(route('listAll', 'GET', `/subscriptions/{subscription}/providers/${kind.type}`, listAll));
    }
    if (kind.put) {
      const preflight = kind.preflight && ((request: ArmRequest): void => this.preflight(request));
      routes.push({ ...route('createOrUpdate', 'PUT', item, (request) => this.put(request)), preflight });
    }
    const change = kind.patch === 'tags' ? 'updateTags' : 'update';
    if (kind.patch) routes.push(route(change, 'PATCH', item, (request) => this.patch(request)));
    if (kind.remove) routes.push(route('delete', 'DELETE', item, (request) => this.delete(request)));
    return routes;
  }

  private list(request: ArmRequest): ArmResponse {
    const { group = '' } = request.parameters;
    const { store } = this.context;
    const names = this.names(request).slice(0, this.steps.length - 1);
    const found =
      names.length === 0
        ? store.list(this.kind.type, group)
        : store.children(store.get(group, this.parentType(), ...names).id, this.kind.type);
    return paged(this.context, request, found, (resource) => this.show(resource, request));
  }

  private find(request: ArmRequest): ArmResource {
    return this.context.store.get(request.parameters['group'] ?? '', this.kind.type, ...this.names(request));
  }

  private put(request: ArmRequest): ArmResponse {
    const group = request.parameters['group'] ?? '';
    checkGroup(this.context, group);
    this.checkParent(group, this.names(request));
    const write = this.writeOf(request);
    checkPreconditions(request, write.existing);
    this.checkIdle(write.id);
    return this.apply(write, this.placed(write));
  }

  private writeOf(request: ArmRequest): ResourceWrite {
    const { context, kind } = this;
    const names = this.names(request);
    const id = context.store.idOf(request.parameters['group'] ?? '', kind.type, ...names);
    const existing = context.store.find(id);
    const name = existing?.name ?? names.at(-1) ?? '';
    return { context, request, id: existing?.id ?? id, name, body: { ...objectAt(request.body) }, existing };
  }

  private preflight(request: ArmRequest): void {
    const write = this.writeOf(request);
    try {
      this.placed(write);
      this.kind.properties(write);
    } catch (error) {
      if (!(error instanceof ArmError)) throw error;
      const group = request.parameters['group'] ?? '';
      throw new ArmError(error.status, error.code, this.kind.preflight?.(write.name, group, error) ?? error.message);
    }
  }

  private patch(request: ArmRequest): ArmResponse {
    const { context, kind } = this;
    const existing = this.find(request);
    checkPreconditions(request, existing);
    this.checkIdle(existing.id);
    const given = objectAt(request.body);
    const tags = given['tags'] === undefined ? existing.tags : checkTags(given);
    if (kind.patch === 'tags') {
      const updated = { ...existing, ...(tags && { tags }), etag: this.newEtag() };
      context.store.put(updated);
      return ok(this.show(updated, request));
    }
    const properties = { ...existing.properties, ...objectAt(given, 'properties') };
    const body = { ...existing, ...given, tags, properties };
    const write: ResourceWrite = { context, request, id: existing.id, name: existing.name, body, existing };
    const { location } = existing;
    return this.apply(write, { ...(location !== undefined && { location }), ...(tags && { tags }) });
  }

  private placed({ name, body, existing }: ResourceWrite): Pick<ArmResource, 'location' | 'tags'> {
    const { context, kind } = this;
    if (kind.tracked) {
      return { location: checkLocation(kind.type, name, body, existing), tags: checkTags(body) };
    }
    return kind.tagged ? { location: context.location, tags: checkTags(body) } : {};
  }

  private apply(write: ResourceWrite, placed: Pick<ArmResource, 'location' | 'tags'>): ArmResponse {
    const { context, kind } = this;
    const { existing, id, body, request } = write;
    const given = objectAt(body);
    const zones = listAt(body, 'zones').map(String);
    const members = Object.fromEntries(
      (kind.members ?? []).filter((member) => given[member] !== undefined).map((member) => [member, given[member]]),
    );
    const state = kind.put === 'sync' ? 'Succeeded' : existing === undefined ? this.creating() : 'Updating';
    const hidden = kind.hidden?.(write) ?? existing?.hidden;
    const resource: ArmResource = {
      id,
      name: write.name,
      type: kind.type,
      ...placed,
      ...(zones.length === 0 ? {} : { zones }),
      ...(given['identity'] === undefined ? {} : { identity: given['identity'] }),
      ...(existing?.managedBy === undefined ? {} : { managedBy: existing.managedBy }),
      ...members,
      etag: this.newEtag(),
      properties: { ...kind.properties(write), provisioningState: state },
      ...(hidden && { hidden }),
    };
    context.store.put(resource);
    kind.afterPut?.(context, resource, write);
    const stored = context.store.find(id) ?? resource;
    if (kind.put === 'sync') return { status: existing === undefined ? 201 : 200, body: this.show(stored, request) };
    const operation = this.begin(request, id, () => this.settle(id, 'Succeeded', state));
    const shown = { ...stored, ...(this.show(stored, request) as ArmResource) };
    if (kind.put === 'accepted') return accepted(context, request, operation, shown);
    return changed(context, request, existing === undefined ? 201 : 200, shown, operation);
  }

  private delete(request: ArmRequest): ArmResponse {
    const { context, kind } = this;
    const group = request.parameters['group'] ?? '';
    const found = context.store.find(context.store.idOf(group, kind.type, ...this.names(request)));
    if (found === undefined) return { status: 204 };
    checkPreconditions(request, found);
    this.checkIdle(found.id);
    kind.checkDelete?.(context, found);
    if (kind.remove === 'sync') {
      this.remove(found.id);
      return { status: 200 };
    }
    this.settle(found.id, 'Deleting');
    const operation = this.begin(request, found.id, () => this.remove(found.id));
    return accepted(context, request, operation);
  }

  private begin(request: ArmRequest, id: string, finish: () => void): Operation {
    const { operations, durations } = this.context;
    const key = id.toLowerCase();
    const done = (then: () => void) => () => {
      this.busy.delete(key);
      then();
    };
    const operation = operations.begin({
      milliseconds: durations[this.kind.duration],
      // Only the end of the operation is late: the resource can be used before.
      reportDelay: request.extraTime,
      finish: done(finish),
      failure: request.lateFault && { error: request.lateFault.error, apply: done(() => this.settle(id, 'Failed')) },
      result: () => {
        const found = this.context.store.find(id);
        return found && this.show(found, request);
      },
    });
    this.busy.set(key, operation);
    return operation;
  }

  private remove(id: string): void {
    const { store } = this.context;
    const found = store.find(id);
    if (found === undefined) return;
    store.deleteTree(id);
    this.kind.afterDelete?.(this.context, found);
  }

  private settle(id: string, provisioningState: string, from?: string): void {
    const found = this.context.store.find(id);
    if (found === undefined) return;
    if (from !== undefined && found.properties['provisioningState'] !== from) return;
    this.context.store.put({ ...found, etag: this.newEtag(), properties: { ...found.properties, provisioningState } });
  }

  /** Throws while another change of the resource is in progress. */
  private checkIdle(id: string): void {
    const operation = this.busy.get(id.toLowerCase());
    if (operation === undefined || this.kind.interruptible) return;
    const { endpoint, store, location } = this.context;
    const found = store.find(id);
    if (found !== undefined && this.kind.busy !== undefined) throw this.kind.busy(found, operation);
    const address = `${endpoint()}/subscriptions/${store.subscriptionId}/providers/${this.namespace}/locations/${location}/operations/${operation.id}`;
    throw refusal('AnotherOperationInProgress', { address });
  }

  private checkParent(group: string, names: readonly string[]): void {
    if (this.steps.length === 1) return;
    const { store } = this.context;
    const parent = store.idOf(group, this.parentType(), ...names.slice(0, -1));
    if (store.find(parent) !== undefined) return;
    throw refusal('ParentResourceNotFound', { type: this.steps.join('/'), parent });
  }

  private parentType(): string {
    return [this.namespace, ...this.steps.slice(0, -1)].join('/');
  }

  private names({ parameters }: ArmRequest): readonly string[] {
    return PLACEHOLDERS.slice(0, this.steps.length).map((name) => parameters[name] ?? '');
  }

  private show(resource: ArmResource, { query }: ArmRequest): object {
    const options = { apiVersion: query.get('api-version') ?? '', expand: query.get('$expand')?.toLowerCase() ?? '' };
    const shown = this.kind.show?.(this.context, resource, options) ?? resource;
    return present(shown as ArmResource);
  }

  private creating(): string {
    return this.namespace === 'Microsoft.Network' ? 'Updating' : 'Creating';
  }

  private newEtag(): string {
    return `W/"${this.context.random.uuid()}"`;
  }
}

/** Returns the properties of a body, with defaults for absent ones. */
export function withDefaults(body: unknown, defaults: JsonObject): JsonObject {
  return { ...defaults, ...objectAt(body, 'properties') };
}

/** Returns a member of the properties; throws unless it is a text that is not empty. */
export function requiredText(body: unknown, ...path: readonly string[]): string {
  const found = textAt(body, 'properties', ...path);
  if (found !== undefined && found !== '') return found;
  throw refusal('InvalidParameter.required', { target: path.join('.') });
}
