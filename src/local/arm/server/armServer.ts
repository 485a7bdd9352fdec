/** The HTTPS server of the local Azure, on loopback. */
import { createServer } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CertificatePair } from '../../certificates.ts';
import { listenOnLoopback, requestBody, type OpenServer } from '../../requestBody.ts';
import { refusal } from '../refusal.ts';
import type { ArmFront, WireResponse } from './armFront.ts';

const MAX_BODY_BYTES = 4 * 1024 * 1024;
const KEEP_ALIVE = 60_000;

export class ArmServer {
  private readonly front: ArmFront;
  private open: OpenServer | undefined;

  constructor(front: ArmFront) {
    this.front = front;
  }

  async listen(certificate: CertificatePair, port: number): Promise<number> {
    const server = createServer({ cert: certificate.certificate, key: certificate.privateKey }, (request, response) => {
      // An error ends only the connection of its client.
      this.serve(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
    // Clients under a virtual clock may be idle for long in real time, and report a closed connection as an error.
    server.keepAliveTimeout = KEEP_ALIVE;
    this.open = await listenOnLoopback(server, port);
    return this.open.port;
  }

  async close(): Promise<void> {
    await this.open?.close();
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = await this.answer(request);
    if (answer === undefined || response.destroyed) return;
    response.writeHead(answer.status, answer.headers);
    response.end(request.method === 'HEAD' ? undefined : answer.text);
  }

  /** Returns undefined when the client closed the connection. */
  private async answer(request: IncomingMessage): Promise<WireResponse | undefined> {
    const { method = 'GET', url = '/', headers } = request;
    const arrived = { method, target: url, headers };
    const body = await requestBody(request, MAX_BODY_BYTES);
    if ('bytes' in body) return this.front.handle({ ...arrived, text: body.bytes.toString('utf8') });
    if (body.missing === 'interrupted') return undefined;
    return this.front.refuse({ ...arrived, text: '' }, refusal('RequestContentTooLarge', { most: MAX_BODY_BYTES }));
  }
}
