/**
 * The HTTPS face of the local Azure. In: what answers, and a certificate. Out: a server on loopback.
 */
import { createServer, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CertificatePair } from '../../certificates.ts';
import { ArmError } from '../armError.ts';
import type { ArmFront, WireResponse } from './armFront.ts';

const MAX_BODY_BYTES = 4 * 1024 * 1024;
const KEEP_ALIVE = 60_000;

export class ArmServer {
  private readonly front: ArmFront;
  private server: Server | undefined;

  constructor(front: ArmFront) {
    this.front = front;
  }

  async listen(certificate: CertificatePair, port: number): Promise<number> {
    const server = createServer({ cert: certificate.certificate, key: certificate.privateKey }, (request, response) => {
      void this.serve(request, response);
    });
    // Clients under a virtual clock may be still for long in real time; a connection that closes on them looks broken.
    server.keepAliveTimeout = KEEP_ALIVE;
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
    const { status, headers, text } = await this.answer(request);
    response.writeHead(status, headers);
    response.end(request.method === 'HEAD' ? undefined : text);
  }

  private async answer(request: IncomingMessage): Promise<WireResponse> {
    const { method = 'GET', url = '/', headers } = request;
    const arrived = { method, target: url, headers };
    const text = await readText(request);
    if (text !== undefined) return this.front.handle({ ...arrived, text });
    const words = `The request is larger than ${MAX_BODY_BYTES} bytes.`;
    return this.front.refuse({ ...arrived, text: '' }, new ArmError(413, 'RequestContentTooLarge', words));
  }
}

/** Undefined when there is too much of it. */
async function readText(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
