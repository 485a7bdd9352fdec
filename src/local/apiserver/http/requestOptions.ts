/** Parses query parameters, headers and bodies to the typed options of operations. */
import type { DeleteOptions } from '../../../kube/kube.ts';
import { fieldsAt, numberAt, textAt, withoutAbsent, type Fields } from '../fields.ts';
import type { PatchType } from '../patch/patchObject.ts';
import type { ReadRequest } from '../reading.ts';
import { badRequest, invalidOptions, unsupportedPatchType, unsupportedValue } from '../status.ts';
import { Check } from '../strategies/check.ts';
import type { WriteRequest } from '../writeRequest.ts';
import { duplicateFields, mediaType, parseObject } from './decodeBody.ts';
import type { ApiRequest } from './message.ts';

const APPLY = 'application/apply-patch+yaml';
const PATCH_TYPES: ReadonlyMap<string, PatchType> = new Map([
  ['application/json-patch+json', 'json'],
  ['application/merge-patch+json', 'merge'],
  ['application/strategic-merge-patch+json', 'strategic'],
  [APPLY, 'apply'],
]);
/** Default timeout of a watch; watches are limited so that clients reconnect from time to time. */
const WATCH_SECONDS = 3600;

export function integer(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  if (!/^-?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}

function flag(query: URLSearchParams, name: string): boolean | undefined {
  const text = query.get(name);
  return text === null ? undefined : text === 'true' || text === '1' || text === '';
}

export function isWatch(request: ApiRequest): boolean {
  return flag(request.query, 'watch') ?? false;
}

const MATCHES = ['Exact', 'NotOlderThan', ''];

/** Throws on invalid combinations of options for lists and watches. */
function checkReading(query: URLSearchParams, watches: boolean): void {
  const MATCH = 'resourceVersionMatch';
  const match = query.get(MATCH) ?? '';
  const version = query.get('resourceVersion') ?? '';
  const sends = query.has('sendInitialEvents');
  const continues = (query.get('continue') ?? '') !== '';
  const check = new Check({ [MATCH]: match });
  const forbid = (is: boolean, why: string, field = MATCH): void => {
    if (is) check.forbidden(field, why);
  };
  if (watches) {
    forbid(sends && match !== 'NotOlderThan', `sendInitialEvents requires setting ${MATCH} to NotOlderThan`);
    forbid(match !== '' && !sends, `${MATCH} is forbidden for watch unless sendInitialEvents is provided`);
    check.oneOfIfGiven(MATCH, ['NotOlderThan']);
  } else {
    forbid(match !== '' && version === '', `${MATCH} is forbidden unless resourceVersion is provided`);
    check.oneOfIfGiven(MATCH, MATCHES);
    forbid(match === 'Exact' && version === '0', `${MATCH} "exact" is forbidden for resourceVersion "0"`);
    forbid(sends, 'sendInitialEvents is forbidden for list', 'sendInitialEvents');
  }
  forbid(match !== '' && continues, `${MATCH} is forbidden when continue is provided`);
  if (check.errors.length > 0) throw invalidOptions('ListOptions', check.errors);
}

export function readRequest(request: ApiRequest, namespace: string | undefined): ReadRequest {
  const { query, signal } = request;
  checkReading(query, isWatch(request));
  return {
    namespace,
    labelSelector: query.get('labelSelector') ?? undefined,
    fieldSelector: query.get('fieldSelector') ?? undefined,
    limit: integer(query, 'limit'),
    continue: query.get('continue') ?? undefined,
    resourceVersion: query.get('resourceVersion') ?? undefined,
    resourceVersionMatch: query.get('resourceVersionMatch') ?? undefined,
    allowBookmarks: flag(query, 'allowWatchBookmarks'),
    sendInitialEvents: flag(query, 'sendInitialEvents'),
    timeoutSeconds: integer(query, 'timeoutSeconds') ?? WATCH_SECONDS,
    signal,
  };
}

const OPTIONS = new Map([
  ['POST', 'CreateOptions'],
  ['PUT', 'UpdateOptions'],
  ['PATCH', 'PatchOptions'],
  ['DELETE', 'DeleteOptions'],
]);
const VALIDATIONS = ['Ignore', 'Strict', 'Warn'];

export function writeRequest(request: ApiRequest, subresource: string | undefined, warnings: string[]): WriteRequest {
  const { query } = request;
  const agent = request.headers['user-agent'] ?? '';
  const dryRun = query.get('dryRun');
  const validation = query.get('fieldValidation') ?? '';
  const check = new Check({ fieldValidation: validation });
  if (request.method === 'PATCH') {
    const isApply = mediaType(request) === APPLY;
    if (isApply && !query.has('fieldManager')) check.missing('fieldManager', 'is required for apply patch');
    if (!isApply && query.has('force')) check.forbidden('force', 'may not be specified for non-apply patch');
  }
  if (dryRun !== null && dryRun !== '' && dryRun !== 'All') {
    check.errors.push(unsupportedValue('dryRun', query.getAll('dryRun'), ['All']));
  }
  check.oneOfIfGiven('fieldValidation', ['', ...VALIDATIONS]);
  if (check.errors.length > 0 && request.method !== 'GET') {
    throw invalidOptions(OPTIONS.get(request.method) ?? '', check.errors);
  }
  return {
    fieldManager: query.get('fieldManager') ?? (agent.split('/')[0] || 'unknown'),
    dryRun: dryRun === 'All',
    fieldValidation: validation === 'Strict' || validation === 'Ignore' ? validation : 'Warn',
    subresource,
    duplicates: () => duplicateFields(request),
    warn: (message) => warnings.push(message),
  };
}

export function patchType(request: ApiRequest): PatchType {
  const type = PATCH_TYPES.get(mediaType(request));
  if (type === undefined) throw unsupportedPatchType();
  return type;
}

const POLICIES = ['Foreground', 'Background', 'Orphan', 'nil'];

function isPolicy(value: string | null | undefined): value is 'Foreground' | 'Background' | 'Orphan' {
  return value === 'Foreground' || value === 'Background' || value === 'Orphan';
}

/** Returns the options from the query and from `given`, by default the body of the request. */
export function deleteOptions(request: ApiRequest, given?: Fields): DeleteOptions {
  const { query } = request;
  const body = given ?? (request.body.length === 0 ? undefined : parseObject(request, undefined));
  const kind = textAt(body, 'kind') ?? 'DeleteOptions';
  if (kind !== 'DeleteOptions') {
    const version = textAt(body, 'apiVersion') ?? '';
    throw badRequest(`no kind "${kind}" is registered for version "${version}" in scheme "pkg/runtime/scheme.go:111"`);
  }
  const policy = textAt(body, 'propagationPolicy') ?? query.get('propagationPolicy');
  const check = new Check(body);
  if (policy !== null && body?.['orphanDependents'] !== undefined) {
    check.invalid('propagationPolicy', policy, 'orphanDependents and deletionPropagation cannot be both set');
  }
  if (policy !== null && !isPolicy(policy)) {
    check.errors.push(unsupportedValue('propagationPolicy', policy, POLICIES));
  }
  if (check.errors.length > 0) throw invalidOptions('DeleteOptions', check.errors);
  const gracePeriodSeconds = numberAt(body, 'gracePeriodSeconds') ?? integer(query, 'gracePeriodSeconds');
  const orphan = body?.['orphanDependents'] ?? flag(query, 'orphanDependents');
  const preconditions = fieldsAt(body, 'preconditions');
  const uid = textAt(preconditions, 'uid');
  const resourceVersion = textAt(preconditions, 'resourceVersion');
  const isDry = query.get('dryRun') === 'All' || (Array.isArray(body?.['dryRun']) && body['dryRun'].includes('All'));
  const byOrphan = typeof orphan === 'boolean' ? (orphan ? 'Orphan' : 'Background') : undefined;
  return withoutAbsent({
    propagationPolicy: isPolicy(policy) ? policy : byOrphan,
    gracePeriodSeconds,
    preconditions: preconditions && withoutAbsent({ uid, resourceVersion }),
    dryRun: isDry,
  });
}
