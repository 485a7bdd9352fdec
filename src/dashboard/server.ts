/**
 * The dashboard over HTTP: the page, its data and the stream, on this host only. Read-only, except for NodePools that a
 * visitor applies with the visitor's own rights.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { messageOf } from '../errors/thrown.ts';
import { startHttpEndpoint, requestUrl, type HttpEndpoint } from '../server/httpEndpoint.ts';
import { DashboardApi } from './api.ts';
import { Answers, Busy } from './answers.ts';
import { Unanswered, type StartThread, type ThreadTimes } from './answering/answerThread.ts';
import { applyNodePools, type VisitorKube } from './applyNodePool.ts';
import { EventStream } from './eventStream.ts';
import { DashboardFeed } from './feed.ts';
import { Gate, type ReviewToken } from '../server/gate.ts';
import { signInPage } from './signInPage.ts';
import type { PageFiles } from './pageFiles.ts';
import type { DashboardSource } from './picture.ts';

export interface DashboardOptions {
  readonly source: DashboardSource;
  /** 0: any free port. */
  readonly port: number;
  readonly setting: string;
  readonly page: PageFiles;
  /** Called with the address including a one-time token; again after the token was used. */
  readonly onAddress?: (address: string) => void;
  /** Set in a cluster, whose own tokens give access. */
  readonly reviewToken?: ReviewToken;
  /**
   * The API server with a visitor's rights: by the visitor's cluster token, or without one for a visitor who came by a
   * link. Returns undefined if this visitor may only look. Absent: no visitor may do more.
   */
  readonly visitorKube?: (token: string | undefined) => VisitorKube | undefined;
  /** Starts the thread that computes answers. */
  readonly startThread: StartThread;
  readonly threadTimes?: Partial<ThreadTimes>;
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

const LOOPBACK = '127.0.0.1';
/** Maximum bytes of a NodePool in a what-if. */
const MOST_BODY = 256 * 1024;

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

export async function startDashboard(options: DashboardOptions): Promise<HttpEndpoint> {
  const { source, port, setting, sleep } = options;
  const feed = new DashboardFeed(source);
  const stream = new EventStream(feed, () => source.ledger.nextSequence);
  const answers = new Answers(source, options.startThread, options.threadTimes);
  const api = new DashboardApi(source, feed, answers);
  const link = { address: '', token: '' };
  const tellAddress = (): void => {
    if (link.address !== '') options.onAddress?.(`${link.address}/?token=${link.token}`);
  };
  const gate = new Gate({
    ...(options.onAddress && {
      onToken: (token: string) => {
        link.token = token;
        tellAddress();
      },
    }),
    ...(options.reviewToken && { reviewToken: options.reviewToken }),
    wayIn: options.reviewToken
      ? 'send a token of this cluster whose user may list nodes, pods and NodePools'
      : 'open the address that `nodewright dashboard` prints',
  });
  const handler = new Handler(options, gate, api, stream);
  const endpoint = await startHttpEndpoint({
    purpose: 'the dashboard',
    port,
    host: LOOPBACK,
    setting,
    handle: (request, response) => handler.handle(request, response),
  });
  link.address = `http://${LOOPBACK}:${endpoint.port}`;
  tellAddress();
  const end = new AbortController();
  const running = feed.run(sleep, end.signal);
  return {
    port: endpoint.port,
    stop: async () => {
      end.abort();
      stream.close();
      await Promise.all([endpoint.stop(), running, answers.stop()]);
    },
  };
}

class Handler {
  private readonly page: PageFiles;
  private readonly visitorKube: DashboardOptions['visitorKube'];
  private readonly gate: Gate;
  private readonly api: DashboardApi;
  private readonly stream: EventStream;

  constructor({ page, visitorKube }: DashboardOptions, gate: Gate, api: DashboardApi, stream: EventStream) {
    this.page = page;
    this.visitorKube = visitorKube;
    this.gate = gate;
    this.api = api;
    this.stream = stream;
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    const foreign = this.gate.refuseForeign(request);
    if (foreign !== undefined) return answer(response, foreign.status, foreign.message);
    const { pathname, searchParams } = requestUrl(request);
    const parts = partsOf(pathname);
    if (parts === undefined) return answer(response, 400, 'this address cannot be read');
    const [first = '', ...rest] = parts;
    const token = searchParams.get('token');
    if (request.method === 'GET' && first === '' && token !== null)
      return this.enter(response, this.gate.exchange(token));
    if (request.method === 'POST' && first === 'sign-in') return this.signIn(request, response);
    const asset = rest.length === 0 ? this.page.assets.get(first) : undefined;
    if (asset !== undefined && isReading(request)) return send(response, asset.type, asset.body, 'no-cache');
    const stranger = await this.gate.refuseStranger(request);
    if (stranger !== undefined) {
      if (first === 'api') return answer(response, stranger.status, stranger.message);
      return sendPage(response, 401, signInPage(this.gate.takesClusterTokens ? 'cluster' : 'link'));
    }
    if (first === 'api') return this.answerApi(request, response, rest, searchParams);
    if (!isReading(request)) return answer(response, 405, 'this is only read');
    if (!this.page.routes.has(first)) return answer(response, 404, 'there is no such screen');
    sendPage(response, 200, this.page.index);
  }

  /**
   * An intermediate page of our own, so that the browser sends the cookie with the next request, wherever the link was.
   */
  private enter(response: ServerResponse, cookie: string | undefined): void {
    if (cookie === undefined) return sendPage(response, 401, signInPage('used'));
    response.setHeader('set-cookie', cookie);
    sendPage(response, 200, signInPage('entered'));
  }

  private async signIn(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await bodyOf(request);
    const token = new URLSearchParams(text ?? '').get('token') ?? '';
    const cookie = token === '' ? undefined : await this.gate.signIn(token.trim());
    if (cookie === undefined) return sendPage(response, 401, signInPage('refused'));
    this.enter(response, cookie);
  }

  private async answerApi(
    request: IncomingMessage,
    response: ServerResponse,
    path: readonly string[],
    query: URLSearchParams,
  ): Promise<void> {
    if (path[0] === 'stream' && path.length === 1 && request.method === 'GET') {
      if (!this.stream.add(response, query.has('nodes'))) answer(response, 503, 'too many pages are open');
      return;
    }
    const visitor = path[0] === 'what-if' ? this.visitorKube?.(this.gate.tokenOf(request)) : undefined;
    try {
      if (path.join('/') === 'what-if/apply' && request.method === 'POST') {
        if (visitor === undefined) return answer(response, 403, 'this dashboard only reads');
        const text = await bodyOf(request);
        if (text === undefined) return answer(response, 413, 'this is too long for a NodePool');
        return sendJson(response, await applyNodePools(visitor, text));
      }
      if (path[0] === 'what-if' && path.length === 1 && request.method === 'POST') {
        const text = await bodyOf(request);
        if (text === undefined) return answer(response, 413, 'this is too long for a NodePool');
        return sendJson(response, await this.api.whatIf(text));
      }
      if (!isReading(request)) return answer(response, 405, 'this is only read');
      const found = await this.api.get(path, query, visitor);
      if (found === undefined) return answer(response, 404, 'there is nothing of this name');
      sendJson(response, found);
    } catch (error) {
      const isForNow = error instanceof Busy || error instanceof Unanswered;
      answer(response, isForNow ? 503 : 500, messageOf(error));
    } finally {
      await visitor?.close?.();
    }
  }
}

const isReading = ({ method }: IncomingMessage): boolean => method === 'GET' || method === 'HEAD';

/** Undefined for paths that cannot be decoded or that would leave the served folder. */
function partsOf(path: string): readonly string[] | undefined {
  try {
    const parts = path.split('/').slice(1).map(decodeURIComponent);
    return parts.some((part) => part === '..' || part === '.' || part.includes('\0')) ? undefined : parts;
  } catch {
    return undefined;
  }
}

async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request) {
    parts.push(part as Buffer);
    size += (part as Buffer).length;
    if (size > MOST_BODY) return undefined;
  }
  return Buffer.concat(parts).toString('utf8');
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' });
  response.end(`${text}\n`);
}

function sendJson(response: ServerResponse, value: object): void {
  send(response, 'application/json; charset=utf-8', Buffer.from(JSON.stringify(value)), 'no-store');
}

function send(response: ServerResponse, type: string, body: Buffer, caching: string): void {
  response.writeHead(200, { 'content-type': type, 'content-length': body.length, 'cache-control': caching });
  response.end(body);
}

function sendPage(response: ServerResponse, status: number, html: string): void {
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' });
  response.end(html);
}
