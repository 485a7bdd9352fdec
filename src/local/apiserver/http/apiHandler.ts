/** The whole API as a function from `ApiRequest` to `ApiResponse`; every failure is a Status object. */
import type { Clock } from '../../../clock/clock.ts';
import { Authorizer } from '../access/authorizer.ts';
import { checkEscalation } from '../access/escalation.ts';
import { impersonated } from '../access/impersonation.ts';
import { refusal, requestAttributes } from '../access/requestAttributes.ts';
import { answerReview } from '../access/reviews.ts';
import type { User } from '../access/user.ts';
import type { Objects } from '../objects.ts';
import { methodNotAllowed, unknownPath } from '../status.ts';
import { negotiate } from './accept.ts';
import { answerAggregated, findAggregated, type AggregatedResource, type ListedResource } from './aggregatedApi.ts';
import {
  aggregatedDiscovery,
  legacyGroup,
  legacyGroupList,
  legacyResourceList,
  legacyVersions,
  REVIEWS,
} from './discovery.ts';
import { failureResponse } from './failure.ts';
import type { KubeletDoor } from './kubeletDoor.ts';
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
const OPEN_API_PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
const HEALTH_PATHS = new Set(['/healthz', '/livez', '/readyz']);
const CHECKS = ['ping', 'store'];

export interface ApiHandlerOptions {
  readonly clock: Clock;
  /** The user of a bearer token. */
  readonly authenticate: (token: string) => User | undefined;
  /** What other servers serve through this one. */
  readonly aggregated?: readonly AggregatedResource[] | undefined;
  /** Answers for pods' logs. */
  readonly kubelets?: KubeletDoor | undefined;
}

export class ApiHandler {
  private readonly aggregated: readonly AggregatedResource[];
  private readonly objects: Objects;
  private readonly resources: ResourceHandler;
  private readonly openApi: OpenApi;
  private readonly clock: Clock;
  private readonly authorizer: Authorizer;
  private readonly authenticate: (token: string) => User | undefined;

  constructor(objects: Objects, options: ApiHandlerOptions) {
    const { clock, authenticate } = options;
    this.objects = objects;
    this.clock = clock;
    this.aggregated = options.aggregated ?? [];
    this.authorizer = new Authorizer(objects.store);
    this.authenticate = authenticate;
    this.resources = new ResourceHandler(objects, clock, options.kubelets);
    this.openApi = new OpenApi(objects.catalog);
  }

  handle(request: ApiRequest): ApiResponse {
    try {
      return this.route(request);
    } catch (error) {
      return failureResponse(error, request);
    }
  }

  /** Impersonation and authorization come before the question whether there is such a thing. */
  private route(asked: ApiRequest): ApiResponse {
    const user = impersonated(this.authorizer, asked.user, asked.impersonation ?? {});
    const attributes = requestAttributes(asked.method, asked.path, asked.query);
    const { allowed, reason } = this.authorizer.decide(user, attributes);
    if (!allowed) throw refusal(user, attributes, reason);
    return this.answer({ ...asked, user });
  }

  private answer(request: ApiRequest): ApiResponse {
    if (request.path.startsWith('//')) return textResponse('404 page not found\n', 404);
    const path = parseResourcePath(request.path);
    if (path === undefined) return this.document(request);
    const resource = this.objects.catalog.find(path.group, path.version, path.plural);
    if (resource !== undefined) {
      return this.resources.handle(request, path, resource, (draft, live) => {
        // The right to patch is not the right to create by applying.
        if (live === undefined && request.method === 'PATCH') this.checkCreate(request);
        checkEscalation(this.authorizer, request.user, resource, draft, live);
      });
    }
    const aggregated = findAggregated(this.aggregated, path);
    if (aggregated !== undefined) return answerAggregated(request, path, aggregated, this.clock);
    const review = REVIEWS.find(
      (one) => one.group === path.group && one.version === path.version && one.name === path.plural,
    );
    if (review === undefined) {
      const isServed = this.listed().some((one) => one.group === path.group && one.version === path.version);
      if (isServed) throw unknownPath();
      return textResponse('404 page not found\n', 404);
    }
    if (request.method !== 'POST') throw methodNotAllowed();
    const answer = answerReview(
      {
        kind: review.kind,
        body: parseObject(request, review.kind),
        user: request.user,
        fieldManager: (request.headers['user-agent'] ?? '').split('/')[0] || 'unknown',
        namespace: path.namespace,
      },
      { authorizer: this.authorizer, clock: this.clock, authenticate: this.authenticate },
    );
    return jsonResponse(answer, 201);
  }

  private checkCreate(request: ApiRequest): void {
    const attributes = { ...requestAttributes(request.method, request.path, request.query), verb: 'create' };
    const { allowed, reason } = this.authorizer.decide(request.user, attributes);
    if (!allowed) throw refusal(request.user, attributes, reason);
  }

  private document(request: ApiRequest): ApiResponse {
    if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed();
    const path = request.path.length > 1 ? request.path.replace(/\/$/, '') : request.path;
    if (HEALTH_PATHS.has(path)) return health(path, request.query.has('verbose'));
    if (CHECKS.some((check) => [...HEALTH_PATHS].some((health) => path === `${health}/${check}`))) {
      return textResponse('ok');
    }
    if (path === '/version') return jsonResponse(`${JSON.stringify(VERSION, undefined, 2)}`);
    if (path === '/openapi/v2') return this.olderOpenApi(request);
    if (path === '/openapi/v3') return jsonResponse(this.openApi.index());
    if (path.startsWith('/openapi/v3/')) return this.openApiDocument(path.slice('/openapi/v3/'.length));
    if (path === '/') return jsonResponse({ paths: this.paths() });
    if (!/^\/apis?(\/|$)/.test(path)) return textResponse('404 page not found\n', 404);
    return this.discovery(request, path);
  }

  private discovery(request: ApiRequest, path: string): ApiResponse {
    const resources = this.listed();
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

  private olderOpenApi(request: ApiRequest): ApiResponse {
    const document = this.openApi.version2();
    const asBytes = (request.headers['accept'] ?? '').includes('com.github.proto-openapi.spec.v2');
    return asBytes
      ? { code: 200, contentType: OPEN_API_PROTOBUF, body: document.protobuf }
      : jsonResponse(document.json);
  }

  private openApiDocument(key: string): ApiResponse {
    const document = this.openApi.document(key);
    if (document === undefined) throw unknownPath();
    return {
      ...jsonResponse(document.text),
      headers: { etag: `"${document.hash}"`, 'cache-control': 'public, immutable' },
    };
  }

  private listed(): readonly ListedResource[] {
    return [...this.objects.catalog.all(), ...this.aggregated];
  }

  private paths(): string[] {
    const groups = this.listed().map(({ group, version }) =>
      group === '' ? `/api/${version}` : `/apis/${group}/${version}`,
    );
    return [
      ...new Set([
        '/api',
        '/apis',
        ...groups,
        '/healthz',
        '/livez',
        '/openapi/v2',
        '/openapi/v3',
        '/readyz',
        '/version',
      ]),
    ].sort();
  }
}

function health(path: string, verbose: boolean): ApiResponse {
  if (!verbose) return textResponse('ok');
  return textResponse(`${CHECKS.map((check) => `[+]${check} ok`).join('\n')}\n${path.slice(1)} check passed\n`);
}
