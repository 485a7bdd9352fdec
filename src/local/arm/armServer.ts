/**
 * The HTTPS face of the local Azure. In: routes, a fault plan and a certificate. Out: a server on loopback that checks
 * tokens and api-versions, and answers with ARM's headers and error bodies.
 */
import { createServer, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../../clock/clock.ts';
import type { Random } from '../../clock/random.ts';
import type { CertificatePair } from '../certificates.ts';
import { ArmError } from './armError.ts';
import type { Fault, FaultPlan } from './faultPlan.ts';
import type { ArmResponse, Router } from './router.ts';
import type { Tokens } from './tokens.ts';

const MAX_BODY_BYTES = 4 * 1024 * 1024;
const API_VERSION = /^\d{4}-\d{2}-\d{2}(-preview)?$/;

/** A virtual clock can be told that a piece of tracked work waits for it. */
export interface YieldingClock extends Clock {
  yieldTo?<T>(wait: Promise<T>): Promise<T>;
}

export interface ArmServerOptions {
  readonly router: Router;
  readonly tokens: Tokens;
  readonly faults: FaultPlan;
  readonly clock: YieldingClock;
  readonly random: Random;
  readonly subscriptionId: string;
}

export class ArmServer {
  private readonly options: ArmServerOptions;
  private server: Server | undefined;

  constructor(options: ArmServerOptions) {
    this.options = options;
  }

  async listen(certificate: CertificatePair, port: number): Promise<number> {
    const server = createServer({ cert: certificate.certificate, key: certificate.privateKey }, (request, response) => {
      void this.serve(request, response);
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', resolve);
    });
    this.server = server;
    return (server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    const server = this.server;
    this.server = undefined;
    if (server === undefined) return;
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = await this.answer(request).catch((error: unknown): ArmResponse => {
      const refusal =
        error instanceof ArmError ? error : new ArmError(500, 'InternalServerError', `Unexpected: ${String(error)}`);
      return { status: refusal.status, body: refusal.toBody(), headers: refusal.headers };
    });
    const text = answer.body === undefined ? '' : JSON.stringify(answer.body);
    const id = this.options.random.uuid();
    response.writeHead(answer.status, {
      ...(text === '' ? {} : { 'content-type': 'application/json; charset=utf-8' }),
      'content-length': Buffer.byteLength(text),
      'cache-control': 'no-cache',
      'x-ms-request-id': id,
      'x-ms-correlation-request-id': header(request, 'x-ms-correlation-request-id') ?? id,
      'x-ms-client-request-id': header(request, 'x-ms-client-request-id') ?? id,
      ...answer.headers,
    });
    response.end(text);
  }

  private async answer(request: IncomingMessage): Promise<ArmResponse> {
    const url = new URL(request.url ?? '/', 'https://127.0.0.1');
    const body = await readBody(request);
    const method = request.method ?? 'GET';
    const found = this.options.router.find(method, url.pathname);
    if (found === 'methodNotAllowed') {
      throw new ArmError(405, 'MethodNotAllowed', `The HTTP method '${method}' is not supported at this address.`);
    }
    if (found === undefined) {
      throw new ArmError(404, 'InvalidResourceType', `No resource type is served at '${url.pathname}'.`);
    }
    const { route, parameters } = found;
    if (route.open !== true) this.authorize(request, url, parameters);
    const fault = this.options.faults.before({
      name: route.name,
      resourceGroup: parameters['group'],
      resourceName: parameters['name'],
      body,
    });
    if (fault?.kind === 'refuse') throw fault.error;
    if (fault?.kind === 'delay') await this.pause(fault.milliseconds);
    return route.handle({
      method,
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      body,
      parameters,
      lateFault: late(fault),
      ...(fault?.kind === 'finishLate' && { extraTime: fault.milliseconds }),
    });
  }

  /** The client's request is tracked work: while it waits for the clock, it must not hold the clock. */
  private pause(milliseconds: number): Promise<void> {
    const { clock } = this.options;
    const wait = clock.sleep(milliseconds);
    return clock.yieldTo === undefined ? wait : clock.yieldTo(wait);
  }

  private authorize(request: IncomingMessage, url: URL, parameters: Readonly<Record<string, string>>): void {
    this.options.tokens.check(header(request, 'authorization'));
    const version = url.searchParams.get('api-version');
    if (version === null) {
      throw new ArmError(
        400,
        'MissingApiVersionParameter',
        'The api-version query parameter (?api-version=) is required for all requests.',
      );
    }
    if (!API_VERSION.test(version)) {
      throw new ArmError(400, 'InvalidApiVersionParameter', `The api-version '${version}' is invalid.`);
    }
    const { subscription } = parameters;
    if (subscription === undefined || subscription.toLowerCase() === this.options.subscriptionId.toLowerCase()) return;
    throw new ArmError(404, 'SubscriptionNotFound', `The subscription '${subscription}' could not be found.`);
  }
}

function late(fault: Fault | undefined): Extract<Fault, { kind: 'failLate' }> | undefined {
  return fault?.kind === 'failLate' ? fault : undefined;
}

function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** JSON where the client says so, otherwise text. */
async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) {
      throw new ArmError(413, 'RequestContentTooLarge', `The request is larger than ${MAX_BODY_BYTES} bytes.`);
    }
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString('utf8');
  if (text === '') return undefined;
  if (header(request, 'content-type')?.includes('json') !== true) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new ArmError(400, 'InvalidRequestContent', `The request content was not valid JSON: ${String(error)}`);
  }
}
