/**
 * Creates, applies and updates objects by the rules of their kinds, for HTTP and for callers in this process. Rejected
 * requests throw `KubeError`. Writes are synchronous, and so atomic.
 */
import { InvariantError } from '../../errors/invariantError.ts';
import { apiVersionOf, type ManagedFieldsEntry } from '../../api/object.ts';
import type { Clock } from '../../clock/clock.ts';
import type { Random } from '../../clock/random.ts';
import { timestamp } from '../../units/timestamp.ts';
import { chargeQuota } from './admission/quota.ts';
import { keepLastApplied } from './apply/lastApplied.ts';
import { ownershipAfterApply, ownershipAfterUpdate, usableOwners, type Writer } from './apply/managedFields.ts';
import { applyConfiguration } from './apply/serverSideApply.ts';
import type { Catalog } from './catalog.ts';
import { decodeConfiguration, decodeObject } from './decoding.ts';
import { fillDefaults } from './defaults.ts';
import { textAt, type ApiObject, type Fields } from './fields.ts';
import { fillZeroes, normalise } from './normalise.ts';
import {
  carryOver,
  checkMeta,
  checkVersion,
  generatedName,
  isFinished,
  isUnchanged,
  changesGeneration,
  sameEntries,
} from './objectMeta.ts';
import type { Resource, Strategy, StrategyContext, Target } from './resource.ts';
import { dropAllButStatus, keepAllButStatus, keepStatus, statusPart } from './statusEndpoint.ts';
import { keyOf, type Store, type Table } from './store.ts';
import { Check } from './strategies/check.ts';
import { alreadyExists, forbidden, invalid, invalidValue, notFound, unclassified, type FieldError } from './status.ts';
import { serverWrite, type WriteRequest } from './writeRequest.ts';

/** Returns the new object of an update: the body of a replace, the result of a patch or of an apply. */
export type Change = (live: ApiObject) => Fields;

type Ownership = (after: ApiObject) => ManagedFieldsEntry[];

const NAMESPACES = { group: '', plural: 'namespaces' };
const NAME_ATTEMPTS = 8;

export class Objects {
  readonly store: Store;
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly context: StrategyContext;
  private readonly random: Random;
  /** The last timestamp, cached because many objects are created within one second. */
  private stamp = { second: Number.NaN, text: '' };

  constructor(store: Store, catalog: Catalog, clock: Clock, random: Random) {
    this.store = store;
    this.catalog = catalog;
    this.clock = clock;
    this.random = random;
    this.context = {
      now: () => this.now(),
      suffix: () => generatedName('', random),
      find: (group, plural, key) => store.table(group, plural).get(key),
      all: (group, plural) => store.table(group, plural).values(),
      inNamespace: (group, plural, namespace) => store.table(group, plural).page({ namespace }).items,
      any: (group, plural) => store.table(group, plural).size > 0,
    };
  }

  /** Returns the current time in the format of `creationTimestamp`. */
  now(): string {
    const second = Math.floor(this.clock.now() / 1000);
    if (second !== this.stamp.second) this.stamp = { second, text: timestamp(second * 1000) };
    return this.stamp.text;
  }

  uuid(): string {
    return this.random.uuid();
  }

  /** Returns a built-in resource. */
  builtin(group: string, plural: string): Resource {
    const resource = this.catalog.find(group, 'v1', plural);
    if (resource === undefined) throw new InvariantError(`${plural} are not served`);
    return resource;
  }

  tableOf(resource: Resource): Table {
    return this.store.table(resource.storage.group, resource.storage.plural);
  }

  /** Returns the tables of namespaced objects, each with one of its resources. */
  namespacedTables(): (readonly [Resource, Table])[] {
    const tables = new Map<Table, Resource>();
    for (const resource of this.catalog.all()) {
      const table = this.tableOf(resource);
      if (resource.namespaced && !tables.has(table)) tables.set(table, resource);
    }
    return [...tables].map(([table, resource]) => [resource, table]);
  }

  stored({ resource, namespace, name }: Target): ApiObject {
    const stored = this.tableOf(resource).get(keyOf(namespace, name));
    if (stored === undefined) throw notFound(resource, name);
    return stored;
  }

  /** Returns the stored object in the served version. */
  get(target: Target): ApiObject {
    return this.serve(target.resource, this.stored(target));
  }

  serve(resource: Resource, stored: ApiObject): ApiObject {
    return resource.storage.decode === undefined ? stored : resource.storage.decode(stored);
  }

  create(resource: Resource, namespace: string | undefined, body: Fields, request: WriteRequest): ApiObject {
    const draft = decodeObject(resource, namespace, undefined, body, request);
    const { metadata } = draft;
    if ((metadata.resourceVersion ?? '') !== '') {
      throw unclassified('resourceVersion should not be set on objects to be created');
    }
    this.checkNamespace(resource, namespace, metadata.name ?? metadata.generateName ?? '');
    const table = this.tableOf(resource);
    if ((metadata.name ?? '') === '' && metadata.generateName !== undefined) {
      let attempts = 0;
      do metadata.name = generatedName(metadata.generateName, this.random);
      while (table.get(keyOf(namespace, metadata.name)) !== undefined && ++attempts < NAME_ATTEMPTS);
    }
    metadata.name ??= '';
    const writer = this.writer(resource, request, 'Update');
    this.prepareNew(resource, draft, request, (completed) =>
      ownershipAfterUpdate(resource.shape, undefined, completed, writer),
    );
    const existing = table.get(keyOf(namespace, metadata.name));
    if (existing !== undefined) {
      throw alreadyExists(resource, metadata.name, existing.metadata.deletionTimestamp !== undefined);
    }
    return this.admit(resource, draft, request);
  }

  /** Server-side apply. `created`: the object did not exist. */
  apply(
    target: Target,
    configuration: Fields,
    force: boolean,
    request: WriteRequest,
  ): { readonly object: ApiObject; readonly created: boolean } {
    const { resource, namespace, name } = target;
    const { shape } = resource;
    const draft = decodeConfiguration(resource, namespace, name, configuration, request);
    // The main endpoint cannot apply the status, and the status endpoint nothing else.
    if (resource.hasStatus && request.subresource === undefined) delete draft['status'];
    if (request.subresource === 'status') dropAllButStatus(draft);
    const stored = this.tableOf(resource).get(keyOf(namespace, name));
    const live = stored && this.serve(resource, stored);
    const writer = this.writer(resource, request, 'Apply');
    const { object, owned } = applyConfiguration(shape, live, draft, writer);
    if (live === undefined) {
      if (request.subresource !== undefined) throw notFound(resource, name);
      const fresh = normalise(shape, object, { typed: !resource.custom }).value as unknown as ApiObject;
      delete fresh.metadata.managedFields;
      this.checkNamespace(resource, namespace, name);
      this.prepareNew(resource, fresh, request, (completed) =>
        ownershipAfterApply(shape, undefined, owned, completed, writer, force),
      );
      return { object: this.admit(resource, fresh, request), created: true };
    }
    const ownership = (after: ApiObject): ManagedFieldsEntry[] => {
      const owners = ownershipAfterApply(shape, live, owned, after, writer, force);
      keepLastApplied(after, configuration, writer.manager);
      return owners;
    };
    return { object: this.update(target, request, () => object, ownership), created: false };
  }

  /** Updates an existing object; throws a conflict if the changed object has an outdated resourceVersion. */
  update(target: Target, request: WriteRequest, change: Change, ownership?: Ownership): ApiObject {
    const { resource, namespace, name } = target;
    const { strategy } = resource;
    const live = this.get(target);
    const onStatus = request.subresource === 'status';
    const changed = change(live);
    const draft = decodeObject(resource, namespace, name, onStatus ? statusPart(changed) : changed, request);
    if (!resource.unconditionalUpdate && ownership === undefined && (draft.metadata.resourceVersion ?? '') === '') {
      throw invalid({ group: resource.group, kind: resource.plural }, name, [
        invalidValue('metadata.resourceVersion', 0, 'must be specified for an update'),
      ]);
    }
    checkVersion(target, draft, live, request.patchText !== undefined);
    const deletion = draft.metadata.deletionTimestamp;
    const changesDeletion = deletion !== undefined && deletion !== live.metadata.deletionTimestamp;
    const ownersGiven = draft.metadata.managedFields;
    carryOver(draft, live);
    if (onStatus) keepAllButStatus(draft, live, resource);
    else if (resource.hasStatus) keepStatus(draft, live);
    // Applied configurations are compared before defaults are set.
    const appliers = ownership?.(draft);
    // On the status endpoint the other fields are the stored object's: frozen, and with defaults.
    if (!onStatus || resource.custom) applyDefaults(strategy, draft);
    if (onStatus) fillDefaults(draft, strategy.statusDefaults ?? {});
    const owners = appliers ?? this.ownersAfter(resource, live, draft, ownersGiven, request);
    const own = strategy.subresources?.[request.subresource ?? ''];
    const rules = own ?? strategy;
    if (request.subresource === undefined || own) rules.prepareUpdate?.(draft, live, this.context);
    request.guard?.(draft, live);
    const errors = checkMeta(resource, draft, live);
    if (!onStatus || resource.custom) errors.push(...problemsOf(rules, draft, live));
    if (changesDeletion) {
      const error = invalidValue('metadata.deletionTimestamp', deletion, 'field is immutable');
      errors.unshift(...(resource.custom ? [error] : [error, error]));
    }
    if (errors.length > 0) throw invalid(resource, name, errors);
    if (!onStatus) for (const message of strategy.warnings?.(draft) ?? []) request.warn?.(message);
    if (strategy.tracksGeneration === true && changesGeneration(draft, live, resource, onStatus)) {
      draft.metadata.generation = (live.metadata.generation ?? 0) + 1;
    }
    const sameOwners = sameEntries(owners, live.metadata.managedFields);
    setOwners(draft, owners);
    if (sameOwners && isUnchanged(draft, live)) return live;
    if (isFinished(draft)) {
      // The response is the last state of the object.
      if (!request.dryRun) this.tableOf(resource).remove(keyOf(namespace, name), this.encode(resource, draft));
      return draft;
    }
    return this.write(resource, draft, request);
  }

  /** Writes the status of an object on behalf of a part of the server. */
  setStatus(target: Target, fieldManager: string, status: unknown): void {
    this.update(target, serverWrite(fieldManager, 'status'), (live) => ({ ...live, status }));
  }

  /** Writes a draft that has passed all checks. */
  private write(resource: Resource, draft: ApiObject, request: { readonly dryRun: boolean }): ApiObject {
    if (request.dryRun) {
      // Only the store sets a resourceVersion.
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
      apiVersion: apiVersionOf(resource),
      subresource: request.subresource,
      time: request.subresource === 'scale' ? undefined : this.now(),
    };
  }

  /** A writer may replace or clear the managed fields, but not through subresources; the update is recorded in either. */
  private ownersAfter(
    resource: Resource,
    live: ApiObject,
    draft: ApiObject,
    given: readonly ManagedFieldsEntry[] | undefined,
    request: WriteRequest,
  ): ManagedFieldsEntry[] {
    const { managedFields } = live.metadata;
    const rewritten =
      request.subresource !== undefined || given === managedFields ? undefined : given && usableOwners(given);
    const base = rewritten === undefined ? live : { ...live, metadata: { ...live.metadata, managedFields: rewritten } };
    return ownershipAfterUpdate(resource.shape, base, draft, this.writer(resource, request, 'Update'));
  }

  /** Charges the quotas of the namespace, which is the last check of a create, and writes the object. */
  private admit(resource: Resource, draft: ApiObject, request: WriteRequest): ApiObject {
    const charged = chargeQuota(this.store, resource, draft);
    const written = this.write(resource, draft, request);
    if (request.dryRun || charged.length === 0) return written;
    const quotas = this.builtin('', 'resourcequotas');
    for (const { name, namespace, status } of charged) {
      this.setStatus({ resource: quotas, namespace, name }, 'kube-apiserver', status);
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
    // Reserves the position among the fields; the store sets the value.
    metadata.resourceVersion = '';
    if (strategy.tracksGeneration === true) metadata.generation = 1;
    else delete metadata.generation;
    metadata.creationTimestamp = this.now();
    if (resource.hasStatus && strategy.keepsStatusOnCreate !== true) delete draft['status'];
    applyDefaults(strategy, draft);
    // The writer owns defaults; fields added by admission and the status have no owner.
    const { status, ...rest } = draft;
    setOwners(draft, ownership(resource.hasStatus ? (rest as ApiObject) : { ...rest, status }));
    strategy.prepareCreate?.(draft, this.context, (message) => request.warn?.(message));
    // Built-in kinds always have a status.
    fillZeroes(resource.shape, draft);
    request.guard?.(draft, undefined);
    const errors = [...checkMeta(resource, draft, undefined), ...problemsOf(strategy, draft, undefined)];
    if (errors.length > 0) throw invalid(resource, metadata.name, errors);
    for (const message of strategy.warnings?.(draft) ?? []) request.warn?.(message);
  }

  private checkNamespace(resource: Resource, namespace: string | undefined, name: string): void {
    if (namespace === undefined) return;
    const found = this.store.table('', 'namespaces').get(namespace);
    if (found === undefined) throw notFound(NAMESPACES, namespace);
    if (textAt(found, 'status', 'phase') !== 'Terminating') return;
    const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
    const message = `namespace ${namespace} is being terminated`;
    throw forbidden(resource, name, why, [{ reason: 'NamespaceTerminating', message, field: 'metadata.namespace' }]);
  }
}

function applyDefaults(strategy: Strategy, draft: ApiObject): void {
  fillDefaults(draft, strategy.defaults ?? {});
  strategy.applyDefaults?.(draft);
}

function problemsOf(rules: Pick<Strategy, 'validate'>, draft: ApiObject, old: ApiObject | undefined): FieldError[] {
  const check = new Check(draft);
  rules.validate?.(check, draft, old);
  return check.errors;
}

function setOwners({ metadata }: ApiObject, owners: ManagedFieldsEntry[]): void {
  if (owners.length > 0) metadata.managedFields = owners;
  else delete metadata.managedFields;
}
