/** Decodes the body of a write to a draft of the request's kind, namespace and name. */
import { apiVersionOf } from '../../api/object.ts';
import { goPackage } from './apiVersion.ts';
import { duplicateItem } from './apply/serverSideApply.ts';
import { mistypedField } from './apply/typedValue.ts';
import { at, fieldsAt, isFields, textAt, type ApiObject, type Fields } from './fields.ts';
import { normalise, WrongType } from './normalise.ts';
import type { Resource } from './resource.ts';
import type { Shape } from './shape.ts';
import { badRequest, impossiblePatch, unclassified } from './status.ts';
import type { WriteRequest } from './writeRequest.ts';

const SCHEME = 'in scheme "pkg/runtime/scheme.go:111"';

export function decodeObject(
  resource: Resource,
  namespace: string | undefined,
  name: string | undefined,
  body: Fields,
  request: WriteRequest,
): ApiObject {
  checkKind(body, resource, request);
  // Frozen managed fields are those of the stored object: valid already, and never changed in place.
  const managedFields = at(body, 'metadata', 'managedFields');
  const isStored = managedFields !== undefined && Object.isFrozen(managedFields);
  const given = isStored ? { ...body, metadata: { ...fieldsAt(body, 'metadata'), managedFields: undefined } } : body;
  const { value, unknown } = typed(resource, body, request, () =>
    normalise(resource.shape, given, { typed: !resource.custom }),
  );
  reportFields(resource, body, unknown, request);
  return placed(value, resource, namespace, name, isStored ? managedFields : undefined);
}

/** Decodes a configuration of server-side apply: without default values, and with every field declared and of its type. */
export function decodeConfiguration(
  resource: Resource,
  namespace: string | undefined,
  name: string,
  configuration: Fields,
  request: WriteRequest,
): ApiObject {
  if (configuration['kind'] === undefined || configuration['apiVersion'] === undefined) {
    throw badRequest(`invalid object type: /, Kind=${textAt(configuration, 'kind') ?? ''}`);
  }
  if (fieldsAt(configuration, 'metadata')?.['managedFields'] !== undefined) {
    throw badRequest('metadata.managedFields must be nil');
  }
  const refuse = (why: string): Error => {
    const { group, version, kind, custom } = resource;
    const where = textAt(configuration, 'metadata', 'namespace') ?? (custom ? (namespace ?? '') : '');
    const what = `${where}/${name}; ${group}/${version}, Kind=${kind}`;
    return unclassified(`failed to create typed patch object (${what}): ${why}`);
  };
  const mistyped = mistypedField(resource.shape, configuration);
  if (mistyped !== undefined) throw refuse(mistyped);
  checkKind(configuration, resource, request);
  const { value, unknown } = typed(resource, configuration, request, () =>
    normalise(resource.shape, configuration, { typed: !resource.custom, partial: true }),
  );
  if (unknown[0] !== undefined) throw refuse(`.${unknown[0]}: field not declared in schema`);
  reportFields(resource, configuration, [], request);
  const draft = placed(value, resource, namespace, name, undefined);
  const twice = duplicateItem(resource.shape, draft);
  if (twice !== undefined) throw refuse(twice);
  return draft;
}

/** Throws if the body has another kind or apiVersion than the request's resource. */
function checkKind(body: Fields, resource: Resource, { patchText }: WriteRequest): void {
  const expected = apiVersionOf(resource);
  const { apiVersion = expected, kind = resource.kind } = body as { apiVersion?: unknown; kind?: unknown };
  if ((apiVersion ?? expected) === expected && (kind ?? resource.kind) === resource.kind) return;
  const unregistered = `no kind "${String(kind)}" is registered for version "${String(apiVersion)}" ${SCHEME}`;
  if (patchText !== undefined) throw impossiblePatch(patchText(body), unregistered);
  const version = String(apiVersion).split('/').at(-1) ?? '';
  const wanted = `${goPackage(resource.group)}.${resource.kind}`;
  const why =
    apiVersion === expected
      ? `converting (${version}.${String(kind)}) to (${wanted}): unknown conversion`
      : unregistered;
  throw badRequest(`${String(kind)} in version "${version}" cannot be handled as a ${resource.kind}: ${why}`);
}

/** Decodes a review: an object that is answered, not stored. */
export function decodeReview(kind: string, shape: Shape, body: Fields): ApiObject {
  const whole = { ...body, metadata: body['metadata'] ?? {} };
  const { value } = typed({ kind, version: 'v1' }, body, {}, () => normalise(shape, whole, { typed: true }));
  return value as unknown as ApiObject;
}

type Refused = Pick<WriteRequest, 'patchText' | 'patchKind'>;

function typed<T>(resource: Pick<Resource, 'kind' | 'version'>, body: Fields, request: Refused, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    if (!(error instanceof WrongType)) throw error;
    throw undecodable(resource, body, request.patchKind === 'strategic' ? error.restoring : error.message, request);
  }
}

function undecodable(
  { kind, version }: Pick<Resource, 'kind' | 'version'>,
  body: Fields,
  why: string,
  { patchText }: Refused,
): Error {
  if (patchText !== undefined) return impossiblePatch(patchText(body), why);
  return badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${why}`);
}

/** Rejects, warns of or ignores unknown and duplicate fields, by the request's `fieldValidation`. */
function reportFields(resource: Resource, body: Fields, unknown: readonly string[], request: WriteRequest): void {
  if (request.fieldValidation === 'Ignore') return;
  const messages = [
    ...(request.duplicates?.() ?? []).map((path) => `duplicate field ${JSON.stringify(path)}`),
    ...(resource.custom ? [...unknown].sort() : unknown).map((path) => `unknown field ${JSON.stringify(path)}`),
  ];
  if (messages.length === 0) return;
  if (request.fieldValidation === 'Strict') {
    throw undecodable(resource, body, `strict decoding error: ${messages.join(', ')}`, request);
  }
  for (const message of messages) request.warn?.(message);
}

/** Sets kind, namespace and name from the request; throws if the body has others. */
function placed(
  value: Fields,
  resource: Resource,
  namespace: string | undefined,
  name: string | undefined,
  managedFields: unknown,
): ApiObject {
  const metadata = isFields(value['metadata']) ? value['metadata'] : {};
  value['apiVersion'] = apiVersionOf(resource);
  value['kind'] = resource.kind;
  value['metadata'] = metadata;
  if (namespace === undefined) delete metadata['namespace'];
  else {
    if ((metadata['namespace'] ?? '') === '') metadata['namespace'] = namespace;
    if (metadata['namespace'] !== namespace) {
      throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
    }
  }
  if (name !== undefined) {
    metadata['name'] ??= name;
    const given = metadata['name'];
    if (given !== name) {
      throw badRequest(`the name of the object (${String(given)}) does not match the name on the URL (${name})`);
    }
  }
  if (managedFields !== undefined) metadata['managedFields'] = managedFields;
  return value as unknown as ApiObject;
}
