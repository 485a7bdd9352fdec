import { connect } from 'node:net';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { SeededRandom } from '../clock/seededRandom.ts';
import { SystemClock } from '../clock/systemClock.ts';
import { VirtualClock } from '../clock/virtualClock.ts';
import type { ClusterConfig } from './clusterConfig.ts';
import { KubeError } from './errors.ts';
import { HttpSession, type ApiRequest, type HttpSessionOptions } from './httpSession.ts';
import { CertificateAuthority, type KeyedCertificate } from '../../test/fixtures/kube/certificates.ts';
import { answerJson, answerStatus, ScriptedServer, type Script } from '../../test/fixtures/kube/scriptedServer.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function sessionFor(
  server: { readonly url: string },
  config: Partial<ClusterConfig> = {},
  options: Partial<HttpSessionOptions> = {},
): HttpSession {
  const session = new HttpSession({
    config: { server: server.url, tls: { insecureSkipVerify: false }, credentials: {}, ...config },
    clock: new SystemClock(),
    random: new SeededRandom(1),
    ...options,
  });
  cleanups.push(() => session.close());
  return session;
}

async function serve(script: Script, tls?: Parameters<typeof ScriptedServer.start>[1]): Promise<ScriptedServer> {
  const server = await ScriptedServer.start(script, tls);
  cleanups.push(() => server[Symbol.asyncDispose]());
  return server;
}

const READ: ApiRequest = { method: 'GET', path: '/api/v1/pods' };
const WRITE: ApiRequest = { method: 'POST', path: '/api/v1/pods', body: {} };
const ok: Script = (_request, response) => answerJson(response, 200, { ok: true });

const failureOf = async (work: Promise<unknown>): Promise<KubeError> => {
  const error = await work.then(
    () => new Error('it succeeded'),
    (caught: unknown) => caught,
  );
  expect(error).toBeInstanceOf(KubeError);
  return error as KubeError;
};

describe('TLS', () => {
  let authority: CertificateAuthority;
  let onAddress: KeyedCertificate;
  let onName: KeyedCertificate;
  let client: KeyedCertificate;
  beforeAll(async () => {
    authority = await CertificateAuthority.create();
    onAddress = await authority.issue('server', [{ type: 'ip', value: '127.0.0.1' }]);
    onName = await authority.issue('server', [{ type: 'dns', value: 'kubernetes.default' }]);
    client = await authority.issue('jane');
  });
  const trusted = (): ClusterConfig['tls'] => ({ insecureSkipVerify: false, ca: authority.cert });

  it('authenticates with a client certificate', async () => {
    const server = await serve(ok, { ...onAddress, clientCa: authority.cert });
    const certificate = { cert: { value: client.cert }, key: { value: client.key } };
    await sessionFor(server, { tls: trusted(), credentials: { certificate } }).send(READ, undefined);
    expect(server.requests[0]?.clientName).toBe('jane');
    const error = await failureOf(sessionFor(server, { tls: trusted() }, { maxRetries: 0 }).send(READ, undefined));
    expect(error.reason).toBe('Unreachable');
  });

  it('picks up a rotated certificate file, on new connections', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'rotation-'));
    cleanups.push(() => rm(directory, { recursive: true }));
    const write = async ({ cert, key }: KeyedCertificate): Promise<void> => {
      await writeFile(join(directory, 'cert'), cert);
      await writeFile(join(directory, 'key'), key);
    };
    await write(client);
    const server = await serve(ok, { ...onAddress, clientCa: authority.cert });
    const clock = new VirtualClock();
    const certificate = { cert: { file: join(directory, 'cert') }, key: { file: join(directory, 'key') } };
    const session = sessionFor(server, { tls: trusted(), credentials: { certificate } }, { clock });
    await session.send(READ, undefined);
    await write(await authority.issue('june'));
    await session.send(READ, undefined);
    await clock.advance(61_000);
    await session.send(READ, undefined);
    expect(server.requests.map((request) => request.clientName)).toEqual(['jane', 'jane', 'june']);
  });

  it('trusts only the given authority, unless verification is turned off', async () => {
    const server = await serve(ok, onAddress);
    const stranger = await CertificateAuthority.create();
    const suspicious = sessionFor(server, { tls: { insecureSkipVerify: false, ca: stranger.cert } }, { maxRetries: 0 });
    expect((await failureOf(suspicious.send(READ, undefined))).message).toMatch(/certificate|signature/);
    expect(await sessionFor(server, { tls: { insecureSkipVerify: true } }).send(READ, undefined)).toEqual({ ok: true });
  });

  it('checks the certificate against tls-server-name instead of the address', async () => {
    const server = await serve(ok, onName);
    const wrong = sessionFor(server, { tls: trusted() }, { maxRetries: 0 });
    expect((await failureOf(wrong.send(READ, undefined))).message).toContain('127.0.0.1');
    const named = { ...trusted(), serverName: 'kubernetes.default' };
    expect(await sessionFor(server, { tls: named }).send(READ, undefined)).toEqual({ ok: true });
    const byName = { tls: named, server: `https://localhost:${server.port}` };
    expect(await sessionFor(server, byName).send(READ, undefined)).toEqual({ ok: true });
  });

  describe('through a proxy', () => {
    let proxy: Server;
    const tunnels: string[] = [];
    beforeAll(async () => {
      proxy = createServer();
      proxy.on('connect', (request, socket, head) => {
        tunnels.push(request.url ?? '');
        const [host = '', port = ''] = (request.url ?? '').split(':');
        const upstream = connect(Number(port), host, () => {
          socket.write('HTTP/1.1 200 OK\r\n\r\n');
          upstream.write(head);
          upstream.pipe(socket).pipe(upstream);
        });
        for (const end of [socket, upstream])
          end.on('error', () => [socket, upstream].forEach((other) => other.destroy()));
      });
      await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    });
    afterAll(() => {
      proxy.closeAllConnections();
      proxy.close();
    });

    it('tunnels, with its certificate and tls-server-name', async () => {
      const server = await serve(ok, { ...onName, clientCa: authority.cert });
      const session = sessionFor(server, {
        tls: { ...trusted(), serverName: 'kubernetes.default' },
        proxyUrl: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
        credentials: { certificate: { cert: { value: client.cert }, key: { value: client.key } } },
      });
      expect(await session.send(READ, undefined)).toEqual({ ok: true });
      expect(tunnels).toEqual([`127.0.0.1:${server.port}`]);
      expect(server.requests[0]?.clientName).toBe('jane');
    });
  });
});

describe('tokens', () => {
  it('re-reads a token file after a minute, and at once when the server refuses it', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'token-'));
    cleanups.push(() => rm(directory, { recursive: true }));
    const file = join(directory, 'token');
    const clock = new VirtualClock();
    let accepted = 'Bearer one';
    const server = await serve((request, response) => {
      if (request.headers.authorization === accepted) answerJson(response, 200, { ok: true });
      else answerStatus(response, 401, 'Unauthorized');
    });
    await writeFile(file, 'one\n');
    const session = sessionFor(server, { credentials: { token: { file } } }, { clock });
    await session.send(READ, undefined);
    await writeFile(file, 'two');
    await session.send(READ, undefined);
    await clock.advance(61_000);
    accepted = 'Bearer two';
    await session.send(READ, undefined);
    await writeFile(file, 'three');
    accepted = 'Bearer three';
    await session.send(READ, undefined);
    await rm(file);
    await clock.advance(61_000);
    await session.send(READ, undefined);
    expect(server.requests.map((request) => request.headers.authorization?.slice(7))).toEqual([
      'one',
      'one',
      'two',
      'two',
      'three',
      'three',
    ]);
    accepted = 'Bearer nobody';
    expect((await failureOf(session.send(READ, undefined))).reason).toBe('Unauthorized');
    expect(server.requests).toHaveLength(7);
  });

  it('renews them for watches too', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'token-'));
    cleanups.push(() => rm(directory, { recursive: true }));
    const file = join(directory, 'token');
    const server = await serve((request, response) => {
      if (request.headers.authorization === 'Bearer new') response.end('{"type":"ADDED"}\n');
      else void writeFile(file, 'new').then(() => answerStatus(response, 401, 'Unauthorized'));
    });
    await writeFile(file, 'old');
    const session = sessionFor(server, { credentials: { token: { file } } });
    const received: string[] = [];
    for await (const chunk of session.stream('/api/v1/pods?watch=true', undefined)) received.push(chunk.toString());
    expect(received.join('')).toBe('{"type":"ADDED"}\n');
  });

  it('says that a token file is missing', async () => {
    const server = await serve(ok);
    const session = sessionFor(server, { credentials: { token: { file: '/nowhere/token' } } });
    expect((await failureOf(session.send(READ, undefined))).message).toContain('/nowhere/token');
  });
});

describe('retries', () => {
  /** Runs a request to its end on virtual time; returns how long that took. */
  async function timed(
    work: (session: HttpSession) => Promise<unknown>,
    script: Script,
    options = {},
  ): Promise<number> {
    const clock = new VirtualClock();
    const session = sessionFor(await serve(script), {}, { clock, ...options });
    let done = false;
    const end = work(session).finally(() => {
      done = true;
    });
    end.catch(() => {});
    await clock.runUntil(() => done);
    await end;
    return clock.now();
  }
  const answers =
    (...codes: [code: number, retryAfter?: string][]): Script =>
    (_request, response, count) => {
      const [code, retryAfter] = codes[count] ?? [200];
      answerJson(response, code, {}, retryAfter === undefined ? {} : { 'retry-after': retryAfter });
    };

  it('waits as long as the server asks, and a little more', async () => {
    const waited = await timed((session) => session.send(WRITE, undefined), answers([429, '7'], [503, '2']));
    expect(waited).toBeGreaterThanOrEqual(9_000);
    expect(waited).toBeLessThan(12_000);
  });

  it('repeats reads after any server error', async () => {
    const waited = await timed((session) => session.send(READ, undefined), answers([500], [502], [503], [504], [429]));
    expect(waited).toBeGreaterThan(500);
    expect(waited).toBeLessThan(20_000);
  });

  it('does not repeat a POST that may have taken effect', async () => {
    for (const script of [answers([500]), answers([504, '1']), answers([503]), answers([429])]) {
      await expect(timed((session) => session.send(WRITE, undefined), script)).rejects.toThrow(
        /HTTP (500|504|503|429)/,
      );
    }
    let received = 0;
    const drop: Script = (_request, response, count) => {
      received = count + 1;
      response.destroy();
    };
    await expect(timed((session) => session.send(WRITE, undefined), drop)).rejects.toThrow(KubeError);
    expect(received).toBe(1);
  });

  it('repeats a read whose connection broke, also in the middle of the answer', async () => {
    const script: Script = (_request, response, count) => {
      if (count === 0) response.destroy();
      else if (count === 1) {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' }).write('{"o');
        setTimeout(() => response.destroy(), 5);
      } else answerJson(response, 200, {});
    };
    expect(await timed((session) => session.send(READ, undefined), script)).toBeGreaterThan(0);
  });

  it('gives up in the end, and at once when asked to wait for too long', async () => {
    let received = 0;
    const never: Script = (_request, response, count) => {
      received = count + 1;
      answerStatus(response, 503, 'ServiceUnavailable');
    };
    await expect(timed((session) => session.send(READ, undefined), never, { maxRetries: 3 })).rejects.toThrow(
      KubeError,
    );
    expect(received).toBe(4);
    await expect(timed((session) => session.send(READ, undefined), answers([429, '3600']))).rejects.toThrow(/429/);
  });

  it('stops waiting when the signal aborts', async () => {
    const stop = new AbortController();
    const session = sessionFor(await serve(answers([429, '50'])));
    const pending = session.send(READ, stop.signal);
    setTimeout(() => stop.abort(new Error('enough')), 20);
    await expect(pending).rejects.toThrow('enough');
  });
});

describe('time limits', () => {
  it('does not wait for ever on a server that accepts and says nothing', async () => {
    const server = await serve(() => {});
    const session = sessionFor(server, {}, { requestTimeout: 30 });
    const error = await failureOf(session.send(READ, undefined));
    expect(error.message).toBe(`${server.url}: no answer within 0.03 s`);
    const watching = (async () => {
      for await (const _chunk of session.stream('/api/v1/pods?watch=true', undefined)) throw new Error('unexpected');
    })();
    expect((await failureOf(watching)).message).toContain('no answer within');
  });

  it('limits the rate of requests', async () => {
    const clock = new VirtualClock();
    const session = sessionFor(await serve(ok), {}, { clock, qps: 10, burst: 5 });
    let done = 0;
    for (let index = 0; index < 25; index++) void session.send(READ, undefined).then(() => done++);
    await clock.runUntil(() => done === 25);
    expect(clock.now()).toBe(2_000);
  });

  it('sends urgent requests past those that wait for their turn, at a limited rate of their own', async () => {
    const clock = new VirtualClock();
    const session = sessionFor(await serve(ok), {}, { clock, qps: 10, burst: 5 });
    const done = { urgent: 0, other: 0 };
    for (let index = 0; index < 25; index++) void session.send(READ, undefined).then(() => done.other++);
    for (let index = 0; index < 50; index++) {
      void session.send({ ...READ, isUrgent: true }, undefined).then(() => done.urgent++);
    }
    await clock.runUntil(() => done.urgent === 50);
    expect(clock.now()).toBe(500);
    expect(done.other).toBeLessThan(25);
    await clock.runUntil(() => done.other === 25);
    expect(clock.now()).toBe(2_000);
  });

  it('reports every answer', async () => {
    const seen: string[] = [];
    const session = sessionFor(
      await serve((_request, response, count) => answerJson(response, count === 0 ? 503 : 200, {})),
      {},
      { onAnswer: ({ method, code }) => seen.push(`${method} ${code}`) },
    );
    await session.send(READ, undefined);
    expect(seen).toEqual(['GET 503', 'GET 200']);
  });
});
