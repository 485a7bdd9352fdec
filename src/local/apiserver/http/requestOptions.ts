/** Query parameters, headers and bodies as typed options. In: an `ApiRequest`. Out: what the operations take. */
import { parse as parseYaml } from 'yaml';
import type { DeleteOptions } from '../../../kube/kube.ts';
import { fieldsAt, isFields, numberAt, textAt, type Fields } from '../fields.ts';
import type { WriteRequest } from '../objects.ts';
import type { PatchType } from '../patch/patchObject.ts';
import type { ReadRequest } from '../reading.ts';
import { badRequest, unsupportedMediaType } from '../status.ts';
import type { ApiRequest } from './message.ts';
import { decodeProtobuf } from './protobuf.ts';

const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const BODY_TYPES = ['application/json', 'application/yaml'];
const PATCH_TYPES: Readonly<Record<string, PatchType>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
};
/** A watch without a limit of its own ends after an hour, so that clients spread over restarts. */
const WATCH_SECONDS = 3600;

function mediaType(request: ApiRequest): string {
  return (request.headers['content-type'] ?? '').split(';')[0]?.trim() ?? '';
}

function integer(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  if (!/^-?\d+$/.test(text)) throw badRequest(`invalid ${name}: ${JSON.stringify(text)} is not a number`);
  return Number(text);
}

function flag(query: URLSearchParams, name: string): boolean | undefined {
  const text = query.get(name);
  return text === null ? undefined : text === 'true' || text === '1' || text === '';
}

export function isWatch(request: ApiRequest): boolean {
  return flag(request.query, 'watch') ?? false;
}

export function readRequest(request: ApiRequest, namespace: string | undefined): ReadRequest {
  const { query, signal } = request;
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

export function writeRequest(request: ApiRequest, subresource: string | undefined, warnings: string[]): WriteRequest {
  const { query } = request;
  const agent = request.headers['user-agent'] ?? '';
  const dryRun = query.get('dryRun');
  if (dryRun !== null && dryRun !== '' && dryRun !== 'All')
    throw badRequest(`Invalid value: ${JSON.stringify(dryRun)} for dryRun`);
  const validation = query.get('fieldValidation') ?? '';
  return {
    fieldManager: query.get('fieldManager') ?? (agent.split('/')[0] || 'unknown'),
    dryRun: dryRun === 'All',
    fieldValidation: validation === 'Strict' || validation === 'Ignore' ? validation : 'Warn',
    subresource,
    warn: (message) => warnings.push(message),
  };
}

export function patchType(request: ApiRequest): PatchType {
  const type = PATCH_TYPES[mediaType(request)];
  if (type === undefined) throw unsupportedMediaType(Object.keys(PATCH_TYPES));
  return type;
}

/** JSON, or YAML or protobuf where the type says so. */
export function parseBody(request: ApiRequest): unknown {
  const type = mediaType(request);
  if (type === PROTOBUF) return decodeProtobuf(request.body);
  const isYaml = type.endsWith('yaml');
  if (!isYaml && type !== '' && !type.endsWith('json')) throw unsupportedMediaType([...BODY_TYPES, PROTOBUF]);
  const text = request.body.toString('utf8');
  try {
    return isYaml ? (parseYaml(text) as unknown) : (JSON.parse(text) as unknown);
  } catch (error) {
    throw badRequest(`error decoding the request body: ${error instanceof Error ? error.message : String(error)}`);
  }
}

export function parseObject(request: ApiRequest): Fields {
  const body = parseBody(request);
  if (!isFields(body)) throw badRequest('the body of the request is not an object');
  return body;
}

function isPolicy(value: string | null | undefined): value is 'Foreground' | 'Background' | 'Orphan' {
  return value === 'Foreground' || value === 'Background' || value === 'Orphan';
}

export function deleteOptions(request: ApiRequest, body: Fields | undefined): DeleteOptions {
  const { query } = request;
  const policy = textAt(body, 'propagationPolicy') ?? query.get('propagationPolicy');
  if (policy !== null && !isPolicy(policy)) throw badRequest(`invalid propagationPolicy ${JSON.stringify(policy)}`);
  const grace = numberAt(body, 'gracePeriodSeconds') ?? integer(query, 'gracePeriodSeconds');
  const orphan = body?.['orphanDependents'] ?? flag(query, 'orphanDependents');
  const preconditions = fieldsAt(body, 'preconditions');
  const uid = textAt(preconditions, 'uid');
  const resourceVersion = textAt(preconditions, 'resourceVersion');
  const isDry = query.get('dryRun') === 'All' || (Array.isArray(body?.['dryRun']) && body['dryRun'].includes('All'));
  return {
    ...(isPolicy(policy)
      ? { propagationPolicy: policy }
      : typeof orphan === 'boolean'
        ? { propagationPolicy: orphan ? 'Orphan' : 'Background' }
        : {}),
    ...(grace === undefined ? {} : { gracePeriodSeconds: grace }),
    ...(preconditions === undefined
      ? {}
      : {
          preconditions: {
            ...(uid === undefined ? {} : { uid }),
            ...(resourceVersion === undefined ? {} : { resourceVersion }),
          },
        }),
    dryRun: isDry,
  };
}
