/** Answers requests to the local Azure, over HTTPS or in process, with ARM's headers and error bodies. */
import { messageOf } from '../../../errors/thrown.ts';
import type { Clock } from '../../../clock/clock.ts';
import type { Random } from '../../../clock/random.ts';
import { ArmError } from '../armError.ts';
import { refusal } from '../refusal.ts';
import type { FaultPlan } from '../faultPlan.ts';
import type { Gate } from './gate.ts';
import { parseRelaxedJson } from './relaxedJson.ts';
import type { ArmResponse, Router } from './router.ts';

export interface ArmFrontOptions {
  readonly router: Router;
  readonly gate: Gate;
  readonly faults: FaultPlan;
  readonly clock: Clock;
  /** For request ids only, so that the number of requests does not change other random values. */
  readonly random: Random;
  readonly location: string;
}

export interface WireRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Headers by their names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export interface WireResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export class ArmFront {
  private readonly options: ArmFrontOptions;

  constructor(options: ArmFrontOptions) {
    this.options = options;
  }

  async handle(request: WireRequest): Promise<WireResponse> {
    const answer = await this.answer(request).catch(failed);
    return this.wire(request, answer);
  }

  /** Returns the response to a request whose body could not be read. */
  refuse(request: WireRequest, error: ArmError): WireResponse {
    return this.wire(request, failed(error));
  }

  private wire(request: WireRequest, answer: ArmResponse): WireResponse {
    const text = answer.body === undefined ? '' : JSON.stringify(answer.body);
    return {
      status: answer.status,
      headers: {
        ...(text === '' ? {} : { 'content-type': 'application/json; charset=utf-8' }),
        ...(answer.status === 204 ? {} : { 'content-length': String(Buffer.byteLength(text)) }),
        ...this.identify(request),
        ...answer.headers,
      },
      text: request.method === 'HEAD' ? '' : text,
    };
  }

  /** Returns the headers of ARM's front door, with the ids of the request. */
  private identify(request: WireRequest): Readonly<Record<string, string>> {
    const { random, clock, location } = this.options;
    const id = random.uuid();
    const correlation = header(request, 'x-ms-correlation-request-id') ?? id;
    const client = header(request, 'x-ms-client-request-id');
    const asksForId = header(request, 'x-ms-return-client-request-id') === 'true';
    const moment = new Date(clock.now()).toISOString().replace(/[-:]|\.\d+/g, '');
    return {
      'cache-control': 'no-cache',
      pragma: 'no-cache',
      expires: '-1',
      'strict-transport-security': 'max-age=31536000; includeSubDomains',
      'x-content-type-options': 'nosniff',
      'x-ms-request-id': id,
      'x-ms-correlation-request-id': correlation,
      'x-ms-routing-request-id': `${location.toUpperCase()}:${moment}:${correlation}`,
      ...(client !== undefined && asksForId && { 'x-ms-client-request-id': client }),
    };
  }

  private async answer(request: WireRequest): Promise<ArmResponse> {
    const url = parseTarget(request.target);
    // Some clients join endpoint and id with two slashes.
    const path = url.pathname.replace(/\/{2,}/g, '/');
    const { method } = request;
    const body = parseBody(request);
    const { router, gate, faults } = this.options;
    const found = router.find(method, path);
    const route = typeof found === 'object' ? found.route : undefined;
    const arrival = {
      method,
      path,
      query: url.searchParams,
      authorization: header(request, 'authorization'),
      body,
    };
    const admission = route?.open === true ? undefined : gate.admit(arrival, found !== undefined);
    if (typeof found !== 'object') throw refusal('MethodNotAllowed', { method });
    const { parameters } = found;
    const fault = faults.before({
      name: found.route.name,
      resourceGroup: parameters['group'],
      resourceName: parameters['name'],
      body,
    });
    if (fault?.kind === 'refuse') throw fault.error;
    const answer = found.route.handle({
      method,
      path,
      query: url.searchParams,
      headers: request.headers,
      body,
      parameters,
      ...(admission && { principal: admission.principal }),
      lateFault: fault?.kind === 'failLate' ? fault : undefined,
      ...(fault?.kind === 'finishLate' && { extraTime: fault.milliseconds }),
    });
    const headers = { ...admission?.headers, ...answer.headers };
    // A HEAD request only asks whether the resource exists.
    return method === 'HEAD' && answer.status === 200 ? { status: 204, headers } : { ...answer, headers };
  }
}

function failed(error: unknown): ArmResponse {
  const known = error instanceof ArmError ? error : refusal('InternalServerError', { problem: String(error) });
  return { status: known.status, body: known.toBody(), headers: known.headers };
}

function header(request: WireRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function parseTarget(target: string): URL {
  try {
    const url = new URL(`https://127.0.0.1${target}`);
    // Names are decoded later; malformed escapes are refused here.
    decodeURIComponent(url.pathname);
    return url;
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof URIError)) throw error;
    throw refusal('BadRequest.uri', { target });
  }
}

/** Returns parsed JSON when the content type says so, otherwise text. */
function parseBody(request: WireRequest): unknown {
  const { text } = request;
  if (text === '') return undefined;
  if (header(request, 'content-type')?.includes('json') !== true) return text;
  try {
    return parseRelaxedJson(text);
  } catch (error) {
    throw refusal('InvalidRequestContent.json', { problem: messageOf(error) });
  }
}
