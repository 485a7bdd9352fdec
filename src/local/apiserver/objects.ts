/**
 * Reading and writing objects by the rules of their kinds. In: requests on a resource, from HTTP or in process. Out:
 * stored objects, pages, streams; refusals are `KubeError`s. Each write happens in one turn, so it is atomic.
 */
import type { ManagedFieldsEntry } from '../../api/object.ts';
import type { Clock } from '../../clock/clock.ts';
import type { Random } from '../../clock/random.ts';
import { ownershipAfterApply, ownershipAfterUpdate, type Writer } from './apply/managedFields.ts';
import { applyConfiguration, duplicateItem } from './apply/serverSideApply.ts';
import { mistypedField } from './apply/typedValue.ts';
import type { Catalog } from './catalog.ts';
import { copyJson, fieldsAt, isFields, sameJson, textAt, type ApiObject, type Fields } from './fields.ts';
import { timestamp } from './humanTime.ts';
import { fillZeroes, normalise, WrongType } from './normalise.ts';
import { carryOver, checkIdentity, checkMeta, generatedName, isUnchanged, wantsChanged } from './objectMeta.ts';
import { chargeQuota } from './admission/quota.ts';
import { apiVersionText, type Resource, type StrategyContext } from './resource.ts';
import { keyOf, type Store, type Table } from './store.ts';
import {
  alreadyExists,
  badRequest,
  conflict,
  forbidden,
  impossiblePatch,
  invalid,
  invalidValue,
  notFound,
  staleVersion,
  unclassified,
} from './status.ts';

export interface WriteRequest {
  readonly fieldManager: string;
  readonly dryRun: boolean;
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict';
  readonly subresource?: string | undefined;
  /** Fields that the request gave twice. */
  duplicates?(): readonly string[];
  /** How a patch reads in a refusal of its result; absent for whole objects. */
  readonly patchText?: ((changed: Fields) => string) | undefined;
  readonly patchKind?: string | undefined;
  /** The writer's right to write just this: throws to refuse. */
  guard?(draft: ApiObject, live: ApiObject | undefined): void;
  /** Hears about things that were accepted but are probably mistakes. */
  warn?(message: string): void;
}

const CHARGE: WriteRequest = {
  fieldManager: 'kube-apiserver',
  dryRun: false,
  fieldValidation: 'Ignore',
  subresource: 'status',
};
const NAMESPACES = { group: '', plural: 'namespaces' };
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const NAME_ATTEMPTS = 8;

type Ownership = (after: ApiObject) => ManagedFieldsEntry[];

/** How an update gets its new object: from a replacing body, a patch, or an applied configuration. */
export type Change = (live: ApiObject) => Fields;

export class Objects {
  readonly store: Store;
  readonly catalog: Catalog;
  private readonly clock: Clock;
  private readonly random: Random;
  readonly context: StrategyContext;

  constructor(store: Store, catalog: Catalog, clock: Clock, random: Random) {
    this.store = store;
    this.catalog = catalog;
    this.clock = clock;
    this.random = random;
    const now = (): string => this.now();
    this.context = {
      get now() {
        return now();
      },
      uuid: () => random.uuid(),
      suffix: () => generatedName('', random),
      find: (group, plural, key) => store.table(group, plural).get(key),
      all: (group, plural) => store.table(group, plural).values(),
      inNamespace: (group, plural, namespace) => store.table(group, plural).page({ namespace }).items,
      any: (group, plural) => store.table(group, plural).size > 0,
    };
  }

  now(): string {
    return timestamp(this.clock.now());
  }

  tableOf(resource: Resource): Table {
    return this.store.table(resource.storage.group, resource.storage.plural);
  }

  /** The stored object in the resource's own version. */
  get(resource: Resource, namespace: string | undefined, name: string): ApiObject {
    const stored = this.tableOf(resource).get(keyOf(namespace, name));
    if (stored === undefined) throw notFound(resource, name);
    return this.serve(resource, stored);
  }

  serve(resource: Resource, stored: ApiObject): ApiObject {
    return resource.storage.decode === undefined ? stored : resource.storage.decode(stored);
  }

  create(resource: Resource, namespace: string | undefined, body: Fields, request: WriteRequest): ApiObject {
    const draft = this.decode(resource, namespace, undefined, body, request);
    if ((draft.metadata.resourceVersion ?? '') !== '') {
      throw unclassified('resourceVersion should not be set on objects to be created');
    }
    this.checkNamespace(resource, namespace, draft.metadata.name ?? draft.metadata.generateName ?? '');
    const table = this.tableOf(resource);
    if ((draft.metadata.name ?? '') === '' && draft.metadata.generateName !== undefined) {
      const base = draft.metadata.generateName;
      let attempts = 0;
      do draft.metadata.name = generatedName(base, this.random);
      while (table.get(keyOf(namespace, draft.metadata.name)) !== undefined && ++attempts < NAME_ATTEMPTS);
    }
    draft.metadata.name ??= '';
    const writer = this.writer(resource, request, 'Update');
    this.prepareNew(resource, draft, request, (completed) =>
      ownershipAfterUpdate(resource.shape, undefined, completed, writer),
    );
    const existing = table.get(keyOf(namespace, draft.metadata.name));
    if (existing !== undefined) {
      throw alreadyExists(resource, draft.metadata.name, existing.metadata.deletionTimestamp !== undefined);
    }
    return this.admit(resource, draft, request);
  }

  /** Server-side apply. Returns whether it created. */
  apply(
    resource: Resource,
    namespace: string | undefined,
    name: string,
    configuration: Fields,
    force: boolean,
    request: WriteRequest,
  ): { readonly object: ApiObject; readonly created: boolean } {
    if (configuration['kind'] === undefined || configuration['apiVersion'] === undefined) {
      throw badRequest(`invalid object type: /, Kind=${textAt(configuration, 'kind') ?? ''}`);
    }
    if (fieldsAt(configuration, 'metadata')?.['managedFields'] !== undefined) {
      throw badRequest('metadata.managedFields must be nil');
    }
    const stored = this.tableOf(resource).get(keyOf(namespace, name));
    const live = stored === undefined ? undefined : this.serve(resource, stored);
    const mistyped = mistypedField(resource.shape, configuration);
    if (mistyped !== undefined) throw this.untypedPatch(resource, configuration, namespace, name, mistyped);
    const draft = this.decode(resource, namespace, name, configuration, request, true);
    const twice = duplicateItem(resource.shape, draft);
    if (twice !== undefined) throw this.untypedPatch(resource, configuration, namespace, name, twice);
    const writer = this.writer(resource, request, 'Apply');
    // Each endpoint owns its half: status cannot be applied beside spec, nor spec through status.
    if (resource.hasStatus && request.subresource === undefined) delete draft['status'];
    if (request.subresource === 'status') dropAllButStatus(draft);
    const { object, owned } = applyConfiguration(resource.shape, live, draft, writer);
    if (live === undefined) {
      if (request.subresource !== undefined) throw notFound(resource, name);
      const fresh = copyJson(object);
      delete fresh.metadata.managedFields;
      fillZeroes(resource.shape, fresh);
      this.checkNamespace(resource, namespace, name);
      this.prepareNew(resource, fresh, request, (completed) =>
        ownershipAfterApply(resource.shape, undefined, owned, completed, writer, force),
      );
      return { object: this.admit(resource, fresh, request), created: true };
    }
    const updated = this.update(
      resource,
      namespace,
      name,
      request,
      () => object,
      (after) => {
        const owners = ownershipAfterApply(resource.shape, live, owned, after, writer, force);
        keepLastApplied(after, configuration, writer.manager);
        return owners;
      },
    );
    return { object: updated, created: false };
  }

  /** Any other change of an existing object. Its draft may still carry a resourceVersion to be checked. */
  update(
    resource: Resource,
    namespace: string | undefined,
    name: string,
    request: WriteRequest,
    change: Change,
    ownership?: Ownership,
  ): ApiObject {
    const table = this.tableOf(resource);
    const key = keyOf(namespace, name);
    const stored = table.get(key);
    if (stored === undefined) throw notFound(resource, name);
    const live = this.serve(resource, stored);
    const onStatus = request.subresource === 'status';
    const changed = change(live);
    const draft = this.decode(resource, namespace, name, onStatus ? statusPart(changed) : changed, request);
    if (!resource.unconditionalUpdate && ownership === undefined && (draft.metadata.resourceVersion ?? '') === '') {
      throw invalid({ group: resource.group, kind: resource.plural }, name, [
        invalidValue('metadata.resourceVersion', 0, 'must be specified for an update'),
      ]);
    }
    this.checkVersion(resource, name, namespace, draft, live, request.patchText !== undefined);
    const deletion = draft.metadata.deletionTimestamp;
    const changesDeletion = deletion !== undefined && deletion !== live.metadata.deletionTimestamp;
    const ownedByWriter = draft.metadata.managedFields;
    carryOver(draft, live);
    if (onStatus) keepAllButStatus(draft, live, resource);
    else if (resource.hasStatus) copyField('status', live, draft);
    // Who applies is compared as applied, before anything is filled in.
    const appliers = ownership?.(draft);
    // On the status endpoint the rest is the stored object's, frozen and already complete.
    if (!onStatus || resource.custom) resource.strategy.applyDefaults?.(draft, this.context);
    if (onStatus) resource.strategy.defaultStatus?.(draft);
    // A writer may rewrite the bookkeeping, or clear it; otherwise, and through subresources, the server's own stands.
    const base =
      request.subresource === undefined && ownedByWriter !== undefined && ownedByWriter !== live.metadata.managedFields
        ? withOwners(live, ownedByWriter)
        : live;
    const owners =
      appliers ?? ownershipAfterUpdate(resource.shape, base, draft, this.writer(resource, request, 'Update'));
    const own = resource.strategy.subresources?.[request.subresource ?? ''];
    const rules = own ?? resource.strategy;
    if (request.subresource === undefined || own) rules.prepareUpdate?.(draft, live, this.context);
    request.guard?.(draft, live);
    const errors = checkMeta(resource, draft, live);
    if (!onStatus || resource.custom) errors.push(...(rules.validate?.(draft, live) ?? []));
    if (changesDeletion) {
      const error = invalidValue('metadata.deletionTimestamp', deletion, 'field is immutable');
      errors.unshift(...(resource.custom ? [error] : [error, error]));
    }
    if (errors.length > 0) throw invalid(resource, name, errors);
    if (!onStatus) for (const message of resource.strategy.warnings?.(draft) ?? []) request.warn?.(message);
    if (resource.strategy.tracksGeneration && wantsChanged(draft, live, resource.hasStatus)) {
      draft.metadata.generation = (live.metadata.generation ?? 0) + 1;
    }
    const sameOwners = sameEntries(owners, live.metadata.managedFields);
    if (owners.length > 0) draft.metadata.managedFields = owners;
    else delete draft.metadata.managedFields;
    if (sameOwners && isUnchanged(draft, live)) return live;
    if (isFinished(draft)) {
      // The answer is the object as it was before its last moment.
      if (!request.dryRun) table.remove(key, this.encode(resource, draft));
      return draft;
    }
    return this.write(resource, draft, request);
  }

  /** Writes a draft that has passed all checks. */
  write(resource: Resource, draft: ApiObject, request: { readonly dryRun: boolean }): ApiObject {
    if (request.dryRun) {
      // Never stored, so never stamped.
      if (draft.metadata.resourceVersion === '') delete draft.metadata.resourceVersion;
      return draft;
    }
    const key = keyOf(draft.metadata.namespace, draft.metadata.name);
    return this.serve(resource, this.tableOf(resource).put(key, this.encode(resource, draft)));
  }

  private encode(resource: Resource, draft: ApiObject): ApiObject {
    return resource.storage.encode === undefined ? draft : resource.storage.encode(draft);
  }

  private writer(resource: Resource, request: WriteRequest, operation: Writer['operation']): Writer {
    return {
      manager: request.fieldManager,
      operation,
      apiVersion: apiVersionText(resource),
      subresource: request.subresource,
      time: request.subresource === 'scale' ? undefined : this.now(),
    };
  }

  /** From JSON of unknown origin to a private draft of the right kind. */
  private decode(
    resource: Resource,
    namespace: string | undefined,
    name: string | undefined,
    body: Fields,
    request: WriteRequest,
    partial = false,
  ): ApiObject {
    const metadata = { ...fieldsAt(body, 'metadata') };
    const named: Fields = { ...body, metadata };
    const shown = request.patchText;
    checkIdentity(named, resource, namespace, name, shown === undefined ? undefined : () => shown(body));
    // What a patch did not touch is the stored object's own, known to be well-formed and never changed in place.
    const { managedFields } = metadata;
    const isStored = managedFields !== undefined && Object.isFrozen(managedFields);
    if (isStored) delete metadata['managedFields'];
    try {
      const { value, unknown } = normalise(resource.shape, named, { typed: !resource.custom, partial });
      if (partial && unknown[0] !== undefined) {
        throw this.untypedPatch(resource, body, namespace, name ?? '', `.${unknown[0]}: field not declared in schema`);
      }
      const twice = request.fieldValidation === 'Ignore' ? [] : (request.duplicates?.() ?? []);
      const messages = [
        ...twice.map((path) => `duplicate field ${JSON.stringify(path)}`),
        ...(resource.custom ? [...unknown].sort() : unknown).map((path) => `unknown field ${JSON.stringify(path)}`),
      ];
      if (messages.length > 0 && request.fieldValidation === 'Strict') {
        throw this.undecodable(resource, body, `strict decoding error: ${messages.join(', ')}`, request);
      }
      if (request.fieldValidation === 'Warn') for (const message of messages) request.warn?.(message);
      if (isStored) (value['metadata'] as Fields)['managedFields'] = managedFields;
      return value as unknown as ApiObject;
    } catch (error) {
      if (!(error instanceof WrongType)) throw error;
      const why = request.patchKind === 'strategic' ? error.restoring : error.message;
      throw this.undecodable(resource, body, why, request);
    }
  }

  private undecodable(resource: Resource, body: Fields, why: string, request: WriteRequest): Error {
    if (request.patchText !== undefined) return impossiblePatch(request.patchText(body), why);
    return badRequest(
      `${resource.kind} in version "${resource.version}" cannot be handled as a ${resource.kind}: ${why}`,
    );
  }

  private untypedPatch(
    resource: Resource,
    configuration: Fields,
    namespace: string | undefined,
    name: string,
    why: string,
  ): Error {
    const { group, version, kind } = resource;
    const where = textAt(configuration, 'metadata', 'namespace') ?? (resource.custom ? (namespace ?? '') : '');
    return unclassified(
      `failed to create typed patch object (${where}/${name}; ${group}/${version}, Kind=${kind}): ${why}`,
    );
  }

  /** The last gate of a create: what others have set up for this namespace. Then the write. */
  private admit(resource: Resource, draft: ApiObject, request: WriteRequest): ApiObject {
    const charged = chargeQuota(this.store, resource, draft);
    const written = this.write(resource, draft, request);
    const quotas = this.catalog.find('', 'v1', 'resourcequotas');
    if (request.dryRun || quotas === undefined) return written;
    for (const { name, namespace, status } of charged) {
      this.update(quotas, namespace, name, CHARGE, (live) => ({ ...live, status }));
    }
    return written;
  }

  private prepareNew(resource: Resource, draft: ApiObject, request: WriteRequest, ownership: Ownership): void {
    const { strategy } = resource;
    const { metadata } = draft;
    delete metadata.resourceVersion;
    delete metadata.deletionTimestamp;
    delete metadata.deletionGracePeriodSeconds;
    metadata.uid = this.random.uuid();
    // Its place: the store stamps it.
    metadata.resourceVersion = '';
    if (strategy.tracksGeneration) metadata.generation = 1;
    else delete metadata.generation;
    metadata.creationTimestamp = this.now();
    if (resource.hasStatus && strategy.keepsStatusOnCreate !== true) delete draft['status'];
    strategy.applyDefaults?.(draft, this.context);
    // Defaults belong to the writer; what admission adds and what the status says belong to nobody.
    const { status, ...rest } = draft;
    const owners = ownership(resource.hasStatus ? (rest as ApiObject) : { ...rest, status });
    if (owners.length > 0) metadata.managedFields = owners;
    else delete metadata.managedFields;
    strategy.prepareCreate?.(draft, this.context, (message) => request.warn?.(message));
    // Typed objects carry their status even while it says nothing.
    fillZeroes(resource.shape, draft);
    request.guard?.(draft, undefined);
    const errors = [...checkMeta(resource, draft, undefined), ...(strategy.validate?.(draft, undefined) ?? [])];
    if (errors.length > 0) throw invalid(resource, metadata.name, errors);
    for (const message of strategy.warnings?.(draft) ?? []) request.warn?.(message);
  }

  private checkNamespace(resource: Resource, namespace: string | undefined, name: string): void {
    if (namespace === undefined) return;
    const found = this.store.table('', 'namespaces').get(namespace);
    if (found === undefined) throw notFound(NAMESPACES, namespace);
    if (textAt(found, 'status', 'phase') === 'Terminating') {
      const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
      throw forbidden(resource, name, why, [
        {
          reason: 'NamespaceTerminating',
          message: `namespace ${namespace} is being terminated`,
          field: 'metadata.namespace',
        },
      ]);
    }
  }

  private checkVersion(
    resource: Resource,
    name: string,
    namespace: string | undefined,
    draft: ApiObject,
    live: ApiObject,
    isPatch: boolean,
  ): void {
    const { resourceVersion = '', uid = '' } = draft.metadata;
    if (uid !== '' && uid !== live.metadata.uid) {
      if (isPatch) throw invalid(resource, name, [invalidValue('metadata.uid', uid, 'field is immutable')]);
      throw conflict(
        resource,
        name,
        `StorageError: invalid object, Code: 4, Key: ${registryKey(resource, namespace, name)}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${live.metadata.uid ?? ''}`,
      );
    }
    if (resourceVersion !== '' && resourceVersion !== '0' && resourceVersion !== live.metadata.resourceVersion) {
      throw staleVersion(resource, name);
    }
    draft.metadata.resourceVersion = live.metadata.resourceVersion ?? '';
  }
}

/** Where etcd would keep the object; storage errors name it. */
function registryKey(resource: Resource, namespace: string | undefined, name: string): string {
  const folder = resource.custom ? `${resource.group}/${resource.plural}` : resource.plural;
  return `/registry/${folder}/${keyOf(namespace, name)}`;
}

/** kubectl that once applied on the client side may do so again: what it would compare with is kept up to date. */
function keepLastApplied(draft: ApiObject, configuration: Fields, manager: string): void {
  const { annotations } = draft.metadata;
  if (manager !== 'kubectl' || annotations?.[LAST_APPLIED] === undefined) return;
  const { annotations: given, ...metadata } = fieldsAt(configuration, 'metadata') ?? {};
  const { [LAST_APPLIED]: _last, ...others } = isFields(given) ? given : {};
  const rest = Object.keys(others).length === 0 ? {} : { annotations: others };
  const text = JSON.stringify(sorted({ ...configuration, metadata: { ...metadata, ...rest } }));
  draft.metadata.annotations = { ...annotations, [LAST_APPLIED]: `${text}\n` };
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isFields(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
}

function withOwners(live: ApiObject, owners: readonly ManagedFieldsEntry[]): ApiObject {
  // One entry that says nothing stands for none at all.
  const given = owners.filter((entry) => Object.keys(entry).length > 0);
  return { ...live, metadata: { ...live.metadata, managedFields: given } };
}

function statusPart({ apiVersion, kind, metadata, status }: Fields): Fields {
  return { apiVersion, kind, metadata, status };
}

/** Deleted, and nothing holds it any more. */
export function isFinished(object: ApiObject): boolean {
  const { deletionTimestamp, finalizers, deletionGracePeriodSeconds } = object.metadata;
  if (deletionTimestamp === undefined || (finalizers?.length ?? 0) > 0 || (deletionGracePeriodSeconds ?? 0) > 0) {
    return false;
  }
  const inner = fieldsAt(object, 'spec')?.['finalizers'];
  return object.kind !== 'Namespace' || !Array.isArray(inner) || inner.length === 0;
}

function copyField(name: string, from: ApiObject, to: ApiObject): void {
  if (from[name] === undefined) delete to[name];
  else to[name] = from[name];
}

/** The status endpoint writes status; of metadata only what built-in kinds let through there. */
function keepAllButStatus(draft: ApiObject, live: ApiObject, resource: Resource): void {
  for (const name of new Set([...Object.keys(draft), ...Object.keys(live)])) {
    if (name !== 'status' && name !== 'metadata') copyField(name, live, draft);
  }
  if (resource.custom || resource.group === 'apps') {
    const { managedFields, resourceVersion, annotations } = draft.metadata;
    draft.metadata = { ...copyJson(live.metadata), ...(resourceVersion === undefined ? {} : { resourceVersion }) };
    if (managedFields !== undefined) draft.metadata.managedFields = managedFields;
    // The controller writes a Deployment's revision together with its status.
    if (resource.kind === 'Deployment' && annotations !== undefined) draft.metadata.annotations = annotations;
  }
}

function dropAllButStatus(draft: ApiObject): void {
  for (const name of Object.keys(draft)) {
    if (!['apiVersion', 'kind', 'metadata', 'status'].includes(name)) delete draft[name];
  }
}

function sameEntries(left: readonly ManagedFieldsEntry[], right: readonly ManagedFieldsEntry[] | undefined): boolean {
  if (left === right) return true;
  if (left.length !== (right?.length ?? 0)) return false;
  return left.every((entry, index) => {
    const other = right?.[index];
    if (entry === other) return true;
    return (
      other !== undefined &&
      entry.manager === other.manager &&
      entry.operation === other.operation &&
      entry.apiVersion === other.apiVersion &&
      entry.subresource === other.subresource &&
      sameJson(entry.fieldsV1, other.fieldsV1)
    );
  });
}
