/** The whole API as a function. In: an `ApiRequest`. Out: an `ApiResponse`; every failure is a Status object. */
import type { Clock } from '../../../clock/clock.ts';
import { KubeError } from '../../../kube/errors.ts';
import { stringify as stringifyYaml } from 'yaml';
import { ownershipAfterUpdate } from '../apply/managedFields.ts';
import { fieldsAt, type ApiObject, type Fields } from '../fields.ts';
import { timestamp } from '../humanTime.ts';
import { shapeNamed } from '../kubernetesTypes.ts';
import { normalise } from '../normalise.ts';
import type { Objects } from '../objects.ts';
import { internalError, methodNotAllowed, unknownPath } from '../status.ts';
import { negotiate } from './accept.ts';
import {
  aggregatedDiscovery,
  legacyGroup,
  legacyGroupList,
  legacyResourceList,
  legacyVersions,
  REVIEWS,
} from './discovery.ts';
import { jsonResponse, textResponse, type ApiRequest, type ApiResponse } from './message.ts';
import { OpenApi } from './openApi.ts';
import { parseObject } from './decodeBody.ts';
import { parseResourcePath } from './requestPath.ts';
import { ResourceHandler } from './resourceHandler.ts';

const VERSION = {
  major: '1',
  minor: '36',
  emulationMajor: '1',
  emulationMinor: '36',
  minCompatibilityMajor: '1',
  minCompatibilityMinor: '35',
  gitVersion: 'v1.36.3-nodewright',
  gitCommit: 'local',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: 'none',
  compiler: 'typescript',
  platform: 'node/local',
};
const HEALTH_PATHS = new Set(['/healthz', '/livez', '/readyz']);
const CHECKS = ['ping', 'store'];

export class ApiHandler {
  private readonly objects: Objects;
  private readonly resources: ResourceHandler;
  private readonly openApi: OpenApi;
  private readonly clock: Clock;

  constructor(objects: Objects, clock: Clock) {
    this.objects = objects;
    this.clock = clock;
    this.resources = new ResourceHandler(objects, clock);
    this.openApi = new OpenApi(objects.catalog);
  }

  handle(request: ApiRequest): ApiResponse {
    try {
      return this.route(request);
    } catch (error) {
      const failure = error instanceof KubeError ? error : internalError(error);
      if (negotiate(request.headers['accept'])?.as === 'yaml') {
        const body = stringifyYaml(failure.status, { sortMapEntries: true });
        return { code: failure.code, contentType: 'application/yaml', body };
      }
      const seconds = failure.status.details?.retryAfterSeconds;
      return {
        ...jsonResponse(failure.status, failure.code),
        ...(seconds === undefined ? {} : { headers: { 'retry-after': String(seconds) } }),
      };
    }
  }

  private route(request: ApiRequest): ApiResponse {
    const path = parseResourcePath(request.path);
    if (path === undefined) return this.document(request);
    const resource = this.objects.catalog.find(path.group, path.version, path.plural);
    if (resource !== undefined) return this.resources.handle(request, path, resource);
    const review = REVIEWS.find(
      (one) => one.group === path.group && one.version === path.version && one.name === path.plural,
    );
    if (review === undefined) {
      const isServed = this.objects.catalog
        .all()
        .some((one) => one.group === path.group && one.version === path.version);
      if (isServed) throw unknownPath();
      return textResponse('404 page not found\n', 404);
    }
    if (request.method !== 'POST') throw methodNotAllowed();
    return jsonResponse(answerReview(review.kind, parseObject(request, review.kind), request, this.clock), 201);
  }

  private document(request: ApiRequest): ApiResponse {
    if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed();
    const path = request.path.length > 1 ? request.path.replace(/\/$/, '') : request.path;
    if (HEALTH_PATHS.has(path)) return health(path, request.query.has('verbose'));
    if (CHECKS.some((check) => [...HEALTH_PATHS].some((health) => path === `${health}/${check}`))) {
      return textResponse('ok');
    }
    if (path === '/version') return jsonResponse(VERSION);
    if (path === '/openapi/v3') return jsonResponse(this.openApi.index());
    if (path.startsWith('/openapi/v3/')) return this.openApiDocument(path.slice('/openapi/v3/'.length));
    if (path === '/') return jsonResponse({ paths: this.paths() });
    if (!/^\/apis?(\/|$)/.test(path)) return textResponse('404 page not found\n', 404);
    return this.discovery(request, path);
  }

  private discovery(request: ApiRequest, path: string): ApiResponse {
    const resources = this.objects.catalog.all();
    const accepted = negotiate(request.headers['accept']);
    if (path === '/api' || path === '/apis') {
      if (accepted?.as === 'aggregatedDiscovery') {
        const body = aggregatedDiscovery(resources, path === '/api', accepted.version);
        const contentType = `application/json;g=apidiscovery.k8s.io;v=${accepted.version};as=APIGroupDiscoveryList`;
        return { ...jsonResponse(body), contentType };
      }
      return jsonResponse(
        path === '/api' ? legacyVersions(request.headers['host'] ?? 'localhost') : legacyGroupList(resources),
      );
    }
    const [root, first = '', second] = path.slice(1).split('/');
    let found: object | undefined;
    if (root === 'api' && second === undefined) found = legacyResourceList(resources, '', first);
    else if (root === 'apis' && second === undefined) found = legacyGroup(resources, first);
    else if (root === 'apis' && second !== undefined) found = legacyResourceList(resources, first, second);
    if (found === undefined) {
      const isKnown = root === 'api' || resources.some((resource) => resource.group === first);
      if (isKnown) throw unknownPath();
      return textResponse('404 page not found\n', 404);
    }
    return jsonResponse(found);
  }

  private openApiDocument(key: string): ApiResponse {
    const document = this.openApi.document(key);
    if (document === undefined) throw unknownPath();
    return {
      ...jsonResponse(document.text),
      headers: { etag: `"${document.hash}"`, 'cache-control': 'public, immutable' },
    };
  }

  private paths(): string[] {
    const groups = this.objects.catalog
      .all()
      .map(({ group, version }) => (group === '' ? `/api/${version}` : `/apis/${group}/${version}`));
    return [
      ...new Set(['/api', '/apis', ...groups, '/healthz', '/livez', '/openapi/v3', '/readyz', '/version']),
    ].sort();
  }
}

function health(path: string, verbose: boolean): ApiResponse {
  if (!verbose) return textResponse('ok');
  return textResponse(`${CHECKS.map((check) => `[+]${check} ok`).join('\n')}\n${path.slice(1)} check passed\n`);
}

/** Everybody who gets in may do everything: roles are stored but not enforced. */
function answerReview(kind: string, body: Fields, { user, headers }: ApiRequest, clock: Clock): object {
  const all = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
  const typed = { kind, apiVersion: body['apiVersion'] };
  const now = timestamp(clock.now());
  switch (kind) {
    case 'SelfSubjectReview': {
      const extra = { 'authentication.kubernetes.io/credential-id': ['X509SHA256=local'] };
      const userInfo = { username: user, groups: ['system:masters', 'system:authenticated'], extra };
      return { ...typed, metadata: { creationTimestamp: now }, status: { userInfo } };
    }
    case 'TokenReview':
      return { ...body, metadata: {}, status: { authenticated: false, user: {} } };
    case 'SelfSubjectRulesReview': {
      const status = {
        resourceRules: [all],
        nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
        incomplete: false,
      };
      return { ...body, metadata: fieldsAt(body, 'metadata') ?? {}, status };
    }
    default: {
      const shape = shapeNamed(`io.k8s.api.authorization.v1.${kind}`);
      const manager = (headers['user-agent'] ?? '').split('/')[0] || 'unknown';
      const writer = {
        manager,
        operation: 'Update',
        apiVersion: 'authorization.k8s.io/v1',
        subresource: undefined,
        time: now,
      } as const;
      const { value } = normalise(shape, { ...body, metadata: fieldsAt(body, 'metadata') ?? {} }, { typed: true });
      const managedFields = ownershipAfterUpdate(shape, undefined, value as ApiObject, writer);
      return { ...value, metadata: { ...fieldsAt(value, 'metadata'), managedFields }, status: { allowed: true } };
    }
  }
}
