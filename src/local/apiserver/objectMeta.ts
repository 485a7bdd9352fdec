/** Rules for the metadata of every kind: generated names, validation, and fields that writers cannot change. */
import type { ManagedFieldsEntry } from '../../api/object.ts';
import type { Random } from '../../clock/random.ts';
import { sameJson, type ApiObject } from './fields.ts';
import { labelProblems, labelValueProblems, qualifiedNameProblems, subdomainProblems } from './names.ts';
import type { Resource, Target } from './resource.ts';
import { conflict, forbiddenChange, invalid, invalidValue, required, staleVersion, type FieldError } from './status.ts';
import { keyOf } from './store.ts';

const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
const MAX_GENERATED_BASE = 63 - SUFFIX_LENGTH;
const MAX_NAME = 253;
const MAX_CRON_NAME = 52;
/** Upstream's own finalizers, which have no domain prefix. */
const STANDARD_FINALIZERS = new Set(['orphan', 'foregroundDeletion', 'kubernetes']);

export function generatedName(base: string, random: Random): string {
  // One random number for all characters, because it is the most expensive part of a small write.
  let draw = Math.floor(random.next() * SUFFIX_ALPHABET.length ** SUFFIX_LENGTH);
  let suffix = '';
  for (let index = 0; index < SUFFIX_LENGTH; index++) {
    suffix += SUFFIX_ALPHABET[draw % SUFFIX_ALPHABET.length] ?? '';
    draw = Math.floor(draw / SUFFIX_ALPHABET.length);
  }
  return `${base.slice(0, MAX_GENERATED_BASE)}${suffix}`;
}

function checkName(resource: Resource, name: string): FieldError[] {
  if (name === '') return [required('metadata.name', 'name or generateName is required')];
  // These names need only be segments of a path.
  if (resource.group === 'rbac.authorization.k8s.io' || resource.group === 'apiregistration.k8s.io') {
    return /[/%]/.test(name) || name === '.' || name === '..'
      ? [invalidValue('metadata.name', name, 'may not contain "/" or "%"')]
      : [];
  }
  const invalidName = (why: string): FieldError => invalidValue('metadata.name', name, why);
  if (resource.group === '' && resource.plural === 'namespaces') {
    return name.includes('.') ? [invalidName('must not contain dots')] : labelProblems(name).map(invalidName);
  }
  if (resource.group === '' && resource.plural === 'services') return labelProblems(name).map(invalidName);
  const limit = resource.plural === 'cronjobs' && resource.group === 'batch' ? MAX_CRON_NAME : MAX_NAME;
  if (name.length > limit) return [invalidName(`must be no more than ${limit} characters`)];
  return subdomainProblems(name).map(invalidName);
}

function checkLabels(labels: Readonly<Record<string, string>> | undefined): FieldError[] {
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(labels ?? {})) {
    for (const why of qualifiedNameProblems(key)) errors.push(invalidValue('metadata.labels', key, why));
    for (const why of labelValueProblems(value)) errors.push(invalidValue('metadata.labels', value, why));
  }
  return errors;
}

function checkAnnotations(annotations: Readonly<Record<string, string>> | undefined): FieldError[] {
  return Object.keys(annotations ?? {}).flatMap((key) =>
    qualifiedNameProblems(key.toLowerCase()).map((why) => invalidValue('metadata.annotations', key, why)),
  );
}

const OWNER_FIELDS = ['apiVersion', 'kind', 'name', 'uid', 'controller', 'blockOwnerDeletion'] as const;

function checkOwners(draft: ApiObject): FieldError[] {
  const owners = draft.metadata.ownerReferences ?? [];
  const errors: FieldError[] = [];
  for (const owner of owners) {
    for (const field of ['apiVersion', 'kind', 'name', 'uid'] as const) {
      if ((owner[field] ?? '') !== '') continue;
      const why = field === 'apiVersion' ? 'version must not be empty' : 'must not be empty';
      errors.push(invalidValue(`metadata.ownerReferences.${field}`, '', why));
    }
  }
  const controllers = owners.filter((owner) => owner.controller === true);
  if (controllers.length > 1) {
    const [first, second] = controllers.map((owner) => `${owner.kind}/${owner.name}`);
    const why = `Only one reference can have Controller set to true. Found "true" in references for ${first ?? ''} and ${second ?? ''}`;
    // In Go's order.
    const shown = owners.map((owner) => Object.fromEntries(OWNER_FIELDS.map((field) => [field, owner[field]])));
    errors.push(invalidValue('metadata.ownerReferences', shown, why));
  }
  return errors;
}

function checkFinalizers(draft: ApiObject, old: ApiObject | undefined, custom: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const finalizers = draft.metadata.finalizers ?? [];
  for (const name of finalizers) {
    for (const why of qualifiedNameProblems(name)) errors.push(invalidValue('metadata.finalizers', name, why));
  }
  if (old?.metadata.deletionTimestamp !== undefined) {
    const before = new Set(old.metadata.finalizers);
    const added = finalizers.filter((finalizer) => !before.has(finalizer));
    if (added.length > 0) {
      const why = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${added.map((one) => JSON.stringify(one)).join(', ')}}`;
      const error = forbiddenChange('metadata.finalizers', why);
      // Upstream checks built-in kinds twice and returns both errors.
      errors.push(...(custom ? [error] : [error, error]));
    }
  }
  finalizers.forEach((name, index) => {
    const isKnown = old?.metadata.finalizers?.includes(name) === true || STANDARD_FINALIZERS.has(name);
    if (custom || isKnown || name.includes('/')) return;
    const why = 'name is neither a standard finalizer name nor is it fully qualified';
    errors.push(invalidValue(`metadata.finalizers[${index}]`, name, why));
  });
  return errors;
}

export function checkMeta(resource: Resource, draft: ApiObject, old: ApiObject | undefined): FieldError[] {
  return [
    ...(old === undefined ? checkName(resource, draft.metadata.name) : []),
    ...checkLabels(draft.metadata.labels),
    ...checkAnnotations(draft.metadata.annotations),
    ...checkOwners(draft),
    ...checkFinalizers(draft, old, resource.custom),
  ];
}

const CARRIED_OVER = [
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'generation',
  'generateName',
] as const;

/** Sets the fields that a writer cannot change to those of the stored object. */
export function carryOver(draft: ApiObject, old: ApiObject): void {
  const { metadata } = draft;
  for (const field of CARRIED_OVER) {
    const value = old.metadata[field];
    if (value === undefined) delete metadata[field];
    else (metadata as unknown as Record<string, unknown>)[field] = value;
  }
}

/** Whether a write has no effect: only managed fields or the resource version differ. */
export function isUnchanged(draft: ApiObject, old: ApiObject): boolean {
  const { metadata, ...rest } = draft;
  const { metadata: oldMetadata, ...oldRest } = old;
  if (!sameJson(rest, oldRest)) return false;
  const { managedFields: _fields, resourceVersion: _version, ...meta } = metadata;
  const { managedFields: _oldFields, resourceVersion: _oldVersion, ...oldMeta } = oldMetadata;
  return sameJson(meta, oldMeta);
}

/** Whether a write increments the generation: it changes more than status and, for most kinds, metadata. */
export function changesGeneration(draft: ApiObject, old: ApiObject, resource: Resource, onStatus: boolean): boolean {
  const { metadata, status, ...rest } = draft;
  const { metadata: oldMetadata, status: oldStatus, ...oldRest } = old;
  if (!sameJson(rest, oldRest) || (!resource.hasStatus && !sameJson(status, oldStatus))) return true;
  if (onStatus || resource.strategy.countsAnnotations !== true) return false;
  return !sameJson(metadata.annotations ?? {}, oldMetadata.annotations ?? {});
}

/** Throws if the draft has another uid or resourceVersion than the live object. */
export function checkVersion(
  { resource, namespace, name }: Target,
  draft: ApiObject,
  live: ApiObject,
  isPatch: boolean,
): void {
  const { resourceVersion = '', uid = '' } = draft.metadata;
  if (uid !== '' && uid !== live.metadata.uid) {
    if (isPatch) throw invalid(resource, name, [invalidValue('metadata.uid', uid, 'field is immutable')]);
    // Storage errors contain the key in etcd.
    const key = `/registry/${resource.custom ? `${resource.group}/` : ''}${resource.plural}/${keyOf(namespace, name)}`;
    const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${live.metadata.uid ?? ''}`;
    const storage = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0`;
    throw conflict(resource, name, `${storage}, AdditionalErrorMsg: ${why}`);
  }
  if (resourceVersion !== '' && resourceVersion !== '0' && resourceVersion !== live.metadata.resourceVersion) {
    throw staleVersion(resource, name);
  }
  draft.metadata.resourceVersion = live.metadata.resourceVersion ?? '';
}

/** Whether a deleted object can be removed: no finalizers or grace period are left. */
export function isFinished(object: ApiObject): boolean {
  const { deletionTimestamp, finalizers, deletionGracePeriodSeconds } = object.metadata;
  if (deletionTimestamp === undefined || (finalizers?.length ?? 0) > 0 || (deletionGracePeriodSeconds ?? 0) > 0) {
    return false;
  }
  const { spec } = object as { spec?: { finalizers?: unknown } };
  return object.kind !== 'Namespace' || !Array.isArray(spec?.finalizers) || spec.finalizers.length === 0;
}

const SAME_FIELDS = ['manager', 'operation', 'apiVersion', 'subresource'] as const;

/** Whether managed fields are equal apart from their times. */
export function sameEntries(
  left: readonly ManagedFieldsEntry[],
  right: readonly ManagedFieldsEntry[] | undefined,
): boolean {
  if (left === right) return true;
  if (left.length !== (right?.length ?? 0)) return false;
  return left.every((entry, index) => {
    const other = right?.[index];
    if (entry === other || other === undefined) return entry === other;
    return SAME_FIELDS.every((field) => entry[field] === other[field]) && sameJson(entry.fieldsV1, other.fieldsV1);
  });
}
