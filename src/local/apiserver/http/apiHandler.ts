/** The API as a function from `ApiRequest` to `ApiResponse`; errors become Status objects. */
import type { Clock } from '../../../clock/clock.ts';
import { Authorizer } from '../access/authorizer.ts';
import { checkEscalation } from '../access/escalation.ts';
import { impersonated } from '../access/impersonation.ts';
import type { Attributes } from '../access/policyRules.ts';
import { refusal, requestAttributes } from '../access/requestAttributes.ts';
import { answerReview } from '../access/reviews.ts';
import type { User } from '../access/user.ts';
import type { Objects } from '../objects.ts';
import { methodNotAllowed, unknownPath } from '../status.ts';
import { negotiate } from './accept.ts';
import type { ListedResource } from '../resource.ts';
import { answerAggregated, findAggregated, type AggregatedResource } from './aggregatedApi.ts';
import {
  aggregatedDiscovery,
  legacyGroup,
  legacyGroupList,
  legacyResourceList,
  legacyVersions,
  REVIEWS,
} from './discovery.ts';
import { failureResponse } from './failure.ts';
import type { KubeletApi } from './kubeletApi.ts';
import { jsonResponse, textResponse, type ApiRequest, type ApiResponse } from './message.ts';
import { OpenApi } from './openApi.ts';
import { parseObject } from './decodeBody.ts';
import { parseResourcePath } from './requestPath.ts';
import { resourceHandler } from './resourceHandler.ts';

const BUILD = {
  gitCommit: 'local',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: 'none',
  compiler: 'typescript',
  platform: 'node/local',
};
const OPEN_API_PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
const HEALTH_PATHS = new Set(['/healthz', '/livez', '/readyz']);
const CHECKS = ['ping', 'store'];

export interface ApiHandlerOptions {
  /** Returns the Kubernetes version to report, such as `1.36.3`. */
  readonly version: () => string;
  readonly clock: Clock;
  /** Returns the user of a bearer token; undefined for an invalid one. */
  readonly authenticate: (token: string) => User | undefined;
  /** Aggregated resources. */
  readonly aggregated?: readonly AggregatedResource[] | undefined;
  /** The kubelets, for logs of pods. */
  readonly kubelets?: KubeletApi | undefined;
}

/** Returns the document of `/version`. */
function versionOf(release: string): object {
  const [major = '', minor = ''] = release.split('.');
  return {
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: String(Number(minor) - 1),
    gitVersion: `v${release}`,
    ...BUILD,
  };
}

export type ApiHandler = (request: ApiRequest) => ApiResponse;

const notFoundPage = (): ApiResponse => textResponse('404 page not found\n', 404);

export function apiHandler(objects: Objects, options: ApiHandlerOptions): ApiHandler {
  const { clock, authenticate, aggregated = [] } = options;
  const { catalog } = objects;
  const authorizer = new Authorizer(objects.store);
  const answerResource = resourceHandler(objects, options.kubelets);
  const openApi = new OpenApi(catalog);
  const listed = (): readonly ListedResource[] => [...catalog.all(), ...aggregated];

  function authorize(user: User, attributes: Attributes): void {
    const { allowed, reason } = authorizer.decide(user, attributes);
    if (!allowed) throw refusal(user, attributes, reason);
  }

  /** Impersonation and authorization are checked before the resource is looked up. */
  function route(asked: ApiRequest): ApiResponse {
    const user = impersonated(authorizer, asked.user, asked.impersonation ?? {});
    const attributes = requestAttributes(asked.method, asked.path, asked.query);
    authorize(user, attributes);
    if (asked.path.startsWith('//')) return notFoundPage();
    const request = { ...asked, user };
    const path = parseResourcePath(asked.path);
    if (path === undefined) return document(request);
    const resource = catalog.find(path.group, path.version, path.plural);
    if (resource !== undefined) {
      return answerResource(request, path, resource, (draft, live) => {
        // Creating by server-side apply needs the permission to create besides that to patch.
        if (live === undefined && asked.method === 'PATCH') authorize(user, { ...attributes, verb: 'create' });
        checkEscalation(authorizer, user, resource, draft, live);
      });
    }
    const foreign = findAggregated(aggregated, path);
    if (foreign !== undefined) return answerAggregated(request, path, foreign, clock);
    const isInVersion = (one: { group: string; version: string }): boolean =>
      one.group === path.group && one.version === path.version;
    const review = REVIEWS.find((one) => isInVersion(one) && one.plural === path.plural);
    if (review === undefined) {
      if (listed().some(isInVersion)) throw unknownPath();
      return notFoundPage();
    }
    if (asked.method !== 'POST') throw methodNotAllowed();
    const { kind } = review;
    const body = parseObject(request, kind);
    const fieldManager = (asked.headers['user-agent'] ?? '').split('/')[0] || 'unknown';
    const posted = { kind, body, user, fieldManager, namespace: path.namespace };
    return jsonResponse(answerReview(posted, { authorizer, clock, authenticate }), 201);
  }

  function document(request: ApiRequest): ApiResponse {
    if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed();
    const path = request.path.length > 1 ? request.path.replace(/\/$/, '') : request.path;
    if (HEALTH_PATHS.has(path)) return health(path, request.query.has('verbose'));
    if (CHECKS.some((check) => [...HEALTH_PATHS].some((health) => path === `${health}/${check}`))) {
      return textResponse('ok');
    }
    if (path === '/version') return jsonResponse(`${JSON.stringify(versionOf(options.version()), undefined, 2)}`);
    if (path === '/openapi/v2') return olderOpenApi(request);
    if (path === '/openapi/v3') return jsonResponse(openApi.index());
    if (path.startsWith('/openapi/v3/')) return openApiDocument(path.slice('/openapi/v3/'.length));
    if (path === '/') return jsonResponse({ paths: paths() });
    return /^\/apis?(\/|$)/.test(path) ? discovery(request, path) : notFoundPage();
  }

  function discovery({ headers }: ApiRequest, path: string): ApiResponse {
    const resources = listed();
    const accepted = negotiate(headers['accept']);
    const [root, first, second = ''] = path.slice(1).split('/');
    if (first === undefined) {
      if (accepted?.as !== 'aggregatedDiscovery') {
        return jsonResponse(
          root === 'api' ? legacyVersions(headers['host'] ?? 'localhost') : legacyGroupList(resources),
        );
      }
      const contentType = `application/json;g=apidiscovery.k8s.io;v=${accepted.version};as=APIGroupDiscoveryList`;
      return { ...jsonResponse(aggregatedDiscovery(resources, root === 'api', accepted.version)), contentType };
    }
    let found: object | undefined;
    if (root === 'apis')
      found = second === '' ? legacyGroup(resources, first) : legacyResourceList(resources, first, second);
    else if (second === '') found = legacyResourceList(resources, '', first);
    if (found !== undefined) return jsonResponse(found);
    if (root === 'api' || resources.some((resource) => resource.group === first)) throw unknownPath();
    return notFoundPage();
  }

  function olderOpenApi({ headers }: ApiRequest): ApiResponse {
    const { json, protobuf } = openApi.version2();
    return (headers['accept'] ?? '').includes('com.github.proto-openapi.spec.v2')
      ? { code: 200, contentType: OPEN_API_PROTOBUF, body: protobuf }
      : jsonResponse(json);
  }

  function openApiDocument(key: string): ApiResponse {
    const found = openApi.document(key);
    if (found === undefined) throw unknownPath();
    const headers = { etag: `"${found.hash}"`, 'cache-control': 'public, immutable' };
    return { ...jsonResponse(found.text), headers };
  }

  function paths(): string[] {
    const groups = listed().map((one) =>
      one.group === '' ? `/api/${one.version}` : `/apis/${one.group}/${one.version}`,
    );
    const others = ['/api', '/apis', '/openapi/v2', '/openapi/v3', '/version', ...HEALTH_PATHS];
    return [...new Set([...groups, ...others])].sort();
  }

  return (request) => {
    try {
      return route(request);
    } catch (error) {
      return failureResponse(error, request);
    }
  };
}

function health(path: string, verbose: boolean): ApiResponse {
  if (!verbose) return textResponse('ok');
  return textResponse(`${CHECKS.map((check) => `[+]${check} ok`).join('\n')}\n${path.slice(1)} check passed\n`);
}
