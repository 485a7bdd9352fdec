/** Rules for metadata that hold for every kind. In: drafts and what is stored. Out: names, checks and carried-over fields. */
import type { Random } from '../../clock/random.ts';
import { isFields, sameJson, type ApiObject } from './fields.ts';
import { apiVersionText, type Resource } from './resource.ts';
import { badRequest, forbiddenChange, invalidValue, required, type FieldError } from './status.ts';

const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
const MAX_GENERATED_BASE = 63 - SUFFIX_LENGTH;
const MAX_NAME = 253;
const MAX_LABEL = 63;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const LABEL_KEY =
  /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const SUBDOMAIN_MESSAGE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_MESSAGE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const VALUE_MESSAGE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

export function generatedName(base: string, random: Random): string {
  let suffix = '';
  for (let index = 0; index < SUFFIX_LENGTH; index++) {
    suffix += SUFFIX_ALPHABET[Math.floor(random.next() * SUFFIX_ALPHABET.length)] ?? '';
  }
  return `${base.slice(0, MAX_GENERATED_BASE)}${suffix}`;
}

/** Makes sure that a body is of the kind and namespace that its address says; fills in what it leaves out. */
export function checkIdentity(
  body: Record<string, unknown>,
  resource: Resource,
  namespace: string | undefined,
  name: string | undefined,
): void {
  const expected = apiVersionText(resource);
  body['apiVersion'] ??= expected;
  body['kind'] ??= resource.kind;
  if (body['apiVersion'] !== expected) {
    throw badRequest(
      `the API version in the data (${String(body['apiVersion'])}) does not match the expected API version (${expected})`,
    );
  }
  if (body['kind'] !== resource.kind) {
    throw badRequest(
      `${resource.kind} in version "${resource.version}" cannot be handled as a ${resource.kind}: the kind in the data is ${String(body['kind'])}`,
    );
  }
  if (!isFields(body['metadata'])) body['metadata'] = {};
  const metadata = body['metadata'] as Record<string, unknown>;
  if (namespace === undefined) delete metadata['namespace'];
  else {
    metadata['namespace'] ??= namespace;
    if (metadata['namespace'] === '') metadata['namespace'] = namespace;
    if (metadata['namespace'] !== namespace) {
      throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
    }
  }
  if (name === undefined) return;
  metadata['name'] ??= name;
  if (metadata['name'] !== name) {
    throw badRequest(
      `the name of the object (${String(metadata['name'])}) does not match the name on the URL (${name})`,
    );
  }
}

function checkName(resource: Resource, name: string): FieldError[] {
  if (name === '') return [required('metadata.name', 'name or generateName is required')];
  if (resource.group === 'rbac.authorization.k8s.io') {
    return /[/%]/.test(name) || name === '.' || name === '..'
      ? [invalidValue('metadata.name', name, 'may not contain "/" or "%"')]
      : [];
  }
  const isLabel = resource.plural === 'namespaces' || resource.plural === 'services';
  if (name.length > (isLabel ? MAX_LABEL : MAX_NAME)) {
    return [invalidValue('metadata.name', name, `must be no more than ${isLabel ? MAX_LABEL : MAX_NAME} bytes`)];
  }
  if (isLabel) return LABEL_NAME.test(name) ? [] : [invalidValue('metadata.name', name, LABEL_MESSAGE)];
  return SUBDOMAIN.test(name) ? [] : [invalidValue('metadata.name', name, SUBDOMAIN_MESSAGE)];
}

function checkLabels(labels: Readonly<Record<string, string>> | undefined): FieldError[] {
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(labels ?? {})) {
    const name = key.slice(key.indexOf('/') + 1);
    if (!LABEL_KEY.test(key) || name.length > MAX_LABEL) {
      errors.push(
        invalidValue(
          'metadata.labels',
          key,
          "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        ),
      );
    }
    if (value.length > MAX_LABEL)
      errors.push(invalidValue('metadata.labels', value, `must be no more than ${MAX_LABEL} bytes`));
    else if (!LABEL_VALUE.test(value)) errors.push(invalidValue('metadata.labels', value, VALUE_MESSAGE));
  }
  return errors;
}

export function checkMeta(resource: Resource, draft: ApiObject, old: ApiObject | undefined): FieldError[] {
  const errors = [...checkName(resource, draft.metadata.name), ...checkLabels(draft.metadata.labels)];
  const controllers = (draft.metadata.ownerReferences ?? []).filter((reference) => reference.controller === true);
  if (controllers.length > 1) {
    errors.push(
      invalidValue(
        'metadata.ownerReferences',
        draft.metadata.ownerReferences,
        'Only one reference can have Controller set to true',
      ),
    );
  }
  if (old?.metadata.deletionTimestamp !== undefined) {
    const before = new Set(old.metadata.finalizers);
    const added = (draft.metadata.finalizers ?? []).filter((finalizer) => !before.has(finalizer));
    if (added.length > 0) {
      errors.push(
        forbiddenChange(
          'metadata.finalizers',
          `no new finalizers can be added if the object is being deleted, found new finalizers []string{${added.map((one) => JSON.stringify(one)).join(', ')}}`,
        ),
      );
    }
  }
  return errors;
}

/** What a writer cannot change: it comes from the stored object whatever the body says. */
export function carryOver(draft: ApiObject, old: ApiObject): void {
  const { metadata } = draft;
  for (const field of [
    'uid',
    'creationTimestamp',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
    'generation',
    'generateName',
  ] as const) {
    const value = old.metadata[field];
    if (value === undefined) delete metadata[field];
    else (metadata as unknown as Record<string, unknown>)[field] = value;
  }
}

/** Equal but for bookkeeping: such a write is no write. */
export function isUnchanged(draft: ApiObject, old: ApiObject): boolean {
  const { metadata, ...rest } = draft;
  const { metadata: oldMetadata, ...oldRest } = old;
  if (!sameJson(rest, oldRest)) return false;
  const { managedFields: _fields, resourceVersion: _version, ...meta } = metadata;
  const { managedFields: _oldFields, resourceVersion: _oldVersion, ...oldMeta } = oldMetadata;
  return sameJson(meta, oldMeta);
}

/** Generation counts changes of what a user wants: everything but metadata and status. */
export function wantsChanged(draft: ApiObject, old: ApiObject, hasStatus: boolean): boolean {
  const { metadata: _meta, status, ...rest } = draft;
  const { metadata: _oldMeta, status: oldStatus, ...oldRest } = old;
  return !sameJson(rest, oldRest) || (!hasStatus && !sameJson(status, oldStatus));
}
