/** The errors of an API server: `KubeError`s with upstream's code, reason, details and message, which clients compare. */
import { messageOf } from '../../errors/thrown.ts';
import { KubeError, type KubeStatus } from '../../kube/errors.ts';

/** The name of a resource in messages: `pods`, `deployments.apps`. */
export interface ResourceName {
  readonly group: string;
  readonly plural: string;
}

export interface FieldError {
  readonly field: string;
  readonly message: string;
  /** The reason of a Status cause: `FieldValueInvalid`, `FieldValueRequired`, … */
  readonly reason: string;
}

type Cause = Partial<FieldError>;

interface Details {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string | undefined;
  readonly causes?: readonly Cause[] | undefined;
  readonly retryAfterSeconds?: number;
}

const STATUS = { kind: 'Status', apiVersion: 'v1', metadata: {} };

/** Returns the details without empty members. */
function known(details: Details): KubeStatus['details'] & {} {
  const members = Object.entries(details).filter(([, value]) => value !== undefined && value !== '' && value !== 0);
  return Object.fromEntries(members) as KubeStatus['details'] & {};
}

/** Upstream omits the reason of errors that it does not classify. */
function failure(code: number, reason: string | undefined, message: string, details?: Details): KubeError {
  return new KubeError({
    ...STATUS,
    status: 'Failure',
    message,
    ...(reason !== undefined && { reason }),
    ...(details && { details: known(details) }),
    code,
  });
}

function qualified(resource: ResourceName): string {
  return resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;
}

function detailsOf({ group, plural: kind }: ResourceName, name: string): Details {
  return { name, group, kind };
}

export function notFound(resource: ResourceName, name: string): KubeError {
  const message = `${qualified(resource)} ${JSON.stringify(name)} not found`;
  return failure(404, 'NotFound', message, detailsOf(resource, name));
}

export const unknownPath = (): KubeError =>
  failure(404, 'NotFound', 'the server could not find the requested resource', {});

export function alreadyExists(resource: ResourceName, name: string, isDeleted: boolean): KubeError {
  const message = `${isDeleted ? 'object is being deleted: ' : ''}${qualified(resource)} "${name}" already exists`;
  return failure(409, 'AlreadyExists', message, detailsOf(resource, name));
}

export function conflict(resource: ResourceName, name: string, why: string): KubeError {
  const message = `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${why}`;
  return failure(409, 'Conflict', message, detailsOf(resource, name));
}

export function staleVersion(resource: ResourceName, name: string): KubeError {
  const why = 'the object has been modified; please apply your changes to the latest version and try again';
  return conflict(resource, name, why);
}

export interface ApplyConflict {
  readonly manager: string;
  readonly field: string;
}

/** `conflicts`: in the order of their causes. */
export function applyConflict(conflicts: readonly ApplyConflict[]): KubeError {
  const managers = [...new Set(conflicts.map((entry) => entry.manager))].sort();
  const lines = managers.map((manager) => {
    const fields = conflicts.filter((entry) => entry.manager === manager).map((entry) => entry.field);
    return fields.length === 1 && managers.length === 1
      ? `conflict with ${manager}: ${fields[0] ?? ''}`
      : `conflicts with ${manager}:\n${fields.map((field) => `- ${field}`).join('\n')}`;
  });
  const message = `Apply failed with ${conflicts.length} conflict${conflicts.length === 1 ? '' : 's'}: ${lines.join('\n')}`;
  const reason = 'FieldManagerConflict';
  const causes = conflicts.map(({ manager, field }) => ({ reason, message: `conflict with ${manager}`, field }));
  return failure(409, 'Conflict', message, { causes });
}

/** Joins messages as upstream does, without repetitions. */
export function aggregate(problems: readonly string[]): string {
  const said = [...new Set(problems)];
  return said.length === 1 ? (said[0] ?? '') : `[${said.join(', ')}]`;
}

export function invalid(
  { group, kind }: { readonly group: string; readonly kind: string },
  name: string,
  errors: readonly FieldError[],
): KubeError {
  const lines = errors.map((error) => (error.field === '' ? error.message : `${error.field}: ${error.message}`));
  const causes = errors.map(({ reason, message, field }) => ({ reason, message, field }));
  const title = qualified({ group, plural: kind });
  return failure(422, 'Invalid', `${title} "${name}" is invalid: ${aggregate(lines)}`, { name, group, kind, causes });
}

export const badRequest = (message: string): KubeError => failure(400, 'BadRequest', message);

/** A valid patch that cannot be applied to the object. */
export const unfitPatch = (): KubeError =>
  failure(422, 'Invalid', 'the server rejected our request due to an error in our request', {});

/** A patch whose result is not of the object's type. `shown`: the patch or its result, as Go prints it. */
export function impossiblePatch(shown: string, why: string): KubeError {
  const error = invalidValue('patch', shown, why);
  return failure(422, 'Invalid', ` "" is invalid: patch: ${error.message}`, { causes: [error] });
}

/** Errors that upstream does not classify: only a message, with code 500. */
export const unclassified = (message: string): KubeError => failure(500, undefined, message);

/** Unknown or contradictory options of a request. */
export function invalidOptions(kind: string, errors: readonly FieldError[]): KubeError {
  return invalid({ group: 'meta.k8s.io', kind }, '', errors);
}

export function forbidden(resource: ResourceName, name: string, why: string, causes?: Details['causes']): KubeError {
  const target = name === '' ? qualified(resource) : `${qualified(resource)} "${name}"`;
  return failure(403, 'Forbidden', `${target} is forbidden: ${why}`, { ...detailsOf(resource, name), causes });
}

/** For paths that are not of resources. */
export const forbiddenPath = (why: string): KubeError => failure(403, 'Forbidden', `forbidden: ${why}`, {});

export const unauthorized = (): KubeError => failure(401, 'Unauthorized', 'Unauthorized');

export const methodNotAllowed = (): KubeError =>
  failure(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});

export function unsupportedMediaType(accepted: readonly string[]): KubeError {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`;
  return failure(415, 'UnsupportedMediaType', message);
}

export function notAcceptable(offered: readonly string[]): KubeError {
  const message = `406: Not Acceptable\n\nAvailable representations: ${offered.join(', ')}`;
  return failure(406, 'NotAcceptable', message, {});
}

/** The media type is supported, but not its `as` parameter. */
export function unknownForm(offered: readonly string[]): KubeError {
  return failure(406, 'NotAcceptable', `only the following media types are accepted: ${offered.join(', ')}`);
}

/** PartialObjectMetadata was requested for a list. */
export function notForLists(listType: string): KubeError {
  const why = `you requested PartialObjectMetadata, but the requested object is a list (*${listType})`;
  return failure(406, 'NotAcceptable', why);
}

export const unsupportedPatchType = (): KubeError =>
  failure(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});

export const tooLarge = (limit: number): KubeError =>
  failure(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${limit}`);

export const serviceUnavailable = (message: string): KubeError => failure(503, 'ServiceUnavailable', message);

export const expired = (message: string): KubeError => failure(410, 'Expired', message);

/** The revision of a continue token is compacted. `token` continues the list at the latest revision. */
export function expiredContinue(token: string): KubeError {
  const { status } = expired(
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
  );
  return new KubeError({ ...status, metadata: { continue: token } } as KubeStatus);
}

export const tooOld = (asked: number, oldest: number): KubeError =>
  expired(`too old resource version: ${asked} (${oldest})`);

export function versionAhead(asked: number, current: number): KubeError {
  return failure(504, 'Timeout', `Too large resource version: ${asked}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });
}

export function tooManyRequests(message: string, causes: readonly Cause[], retryAfterSeconds: number): KubeError {
  return failure(429, 'TooManyRequests', message, { causes, retryAfterSeconds });
}

export function internalError(cause: unknown): KubeError {
  const text = messageOf(cause);
  return failure(500, 'InternalError', `Internal error occurred: ${text}`, { causes: [{ message: text }] });
}

/** Returns the response to a delete that removed the object. */
export function successStatus(resource: ResourceName, name: string, uid: string | undefined): object {
  return { ...STATUS, status: 'Success', details: known({ ...detailsOf(resource, name), uid }) };
}

const fieldError =
  (reason: string, word: string) =>
  (field: string, why?: string): FieldError => ({
    field,
    message: why === undefined ? word : `${word}: ${why}`,
    reason,
  });

export const required = fieldError('FieldValueRequired', 'Required value');
export const forbiddenChange = fieldError('FieldValueForbidden', 'Forbidden');
const bad = fieldError('FieldValueInvalid', 'Invalid value');
const long = fieldError('FieldValueTooLong', 'Too long');
const unsupported = fieldError('FieldValueNotSupported', 'Unsupported value');
const duplicate = fieldError('FieldValueDuplicate', 'Duplicate value');
const missing = fieldError('FieldValueNotFound', 'Not found');

export const invalidValue = (field: string, value: unknown, why: string): FieldError =>
  bad(field, `${JSON.stringify(value ?? null)}: ${why}`);
export const tooLong = (field: string, most: number): FieldError => long(field, `may not be more than ${most} bytes`);
export const duplicateValue = (field: string, value: unknown): FieldError => duplicate(field, JSON.stringify(value));
export const notFoundValue = (field: string, value: unknown): FieldError => missing(field, JSON.stringify(value));
export function unsupportedValue(field: string, value: unknown, supported: readonly string[]): FieldError {
  const choice = supported.map((one) => JSON.stringify(one)).join(', ');
  return unsupported(field, `${JSON.stringify(value ?? '')}: supported values: ${choice}`);
}
