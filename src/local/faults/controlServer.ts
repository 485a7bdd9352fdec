/** An HTTP endpoint on loopback to list, add and clear the faults of a running world; its token is in a 0600 file. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { isSecret, listenOnLoopback, requestBody, type OpenServer } from '../requestBody.ts';
import { FaultSyntaxError, formatFault, parseFault } from './faultKinds.ts';
import type { ActiveFault, Faults } from './faults.ts';

/** One fault as the endpoint shows it. */
export interface ShownFault {
  readonly id: number;
  readonly fault: string;
  readonly since: string;
  readonly until?: string;
  readonly struck: number;
}

export interface ControlAddress {
  readonly url: string;
  readonly token: string;
}

const MAX_BODY_BYTES = 64 * 1024;

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

function show({ id, order, since, until, struck }: ActiveFault): ShownFault {
  return {
    id,
    fault: formatFault(order),
    since: new Date(since).toISOString(),
    ...(until !== undefined && { until: new Date(until).toISOString() }),
    struck,
  };
}

export class ControlServer {
  private readonly faults: Faults;
  private readonly token: string;
  private open: OpenServer | undefined;

  constructor(faults: Faults, token: string) {
    this.faults = faults;
    this.token = token;
  }

  async listen(): Promise<ControlAddress> {
    const server = createServer((request, response) => {
      this.answer(request).then(
        (answer) => send(response, answer),
        (error: unknown) => send(response, { status: 500, body: { error: String(error) } }),
      );
    });
    this.open = await listenOnLoopback(server, 0);
    return { url: `http://127.0.0.1:${this.open.port}`, token: this.token };
  }

  async close(): Promise<void> {
    await this.open?.close();
  }

  private async answer(request: IncomingMessage): Promise<Answer> {
    if (!isSecret(request.headers.authorization ?? '', `Bearer ${this.token}`)) {
      return { status: 401, body: { error: 'unauthorized: missing or wrong token' } };
    }
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const [, collection, id] = pathname.split('/');
    if (collection !== 'faults') return { status: 404, body: { error: `${pathname} not found` } };
    switch (request.method ?? 'GET') {
      case 'GET':
        return { status: 200, body: this.faults.list().map(show) };
      case 'POST': {
        const body = await requestBody(request, MAX_BODY_BYTES);
        if ('bytes' in body) return this.add(body.bytes.toString('utf8'));
        return { status: 413, body: { error: `the body is larger than ${MAX_BODY_BYTES} bytes` } };
      }
      case 'DELETE':
        return this.remove(id);
      default:
        return { status: 405, body: { error: 'method not allowed; use GET, POST or DELETE' } };
    }
  }

  private add(text: string): Answer {
    try {
      return { status: 201, body: show(this.faults.add(parseFault(text))) };
    } catch (error) {
      if (!(error instanceof FaultSyntaxError)) throw error;
      return { status: 400, body: { error: error.message } };
    }
  }

  private remove(id: string | undefined): Answer {
    if (id === undefined || id === '') {
      this.faults.clear();
      return { status: 200, body: [] };
    }
    if (this.faults.remove(Number(id))) return { status: 200, body: this.faults.list().map(show) };
    return { status: 404, body: { error: `there is no fault #${id}` } };
  }
}

function send(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
