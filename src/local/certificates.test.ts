import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { Agent, request } from 'undici';
import { expect, it } from 'vitest';
import { createCertificateAuthority, issueClientCertificate, issueServerCertificate } from './certificates.ts';

it('issues certificates that both sides of a TLS connection accept', async () => {
  const now = Date.now();
  const authority = await createCertificateAuthority({ now });
  const server = await issueServerCertificate(authority, ['localhost', '127.0.0.1'], { now });
  const client = await issueClientCertificate(authority, 'ada', ['system:masters', 'people'], { now });
  const https = createServer(
    {
      cert: server.certificate,
      key: server.privateKey,
      ca: authority.certificate,
      requestCert: true,
      rejectUnauthorized: true,
    },
    (incoming, response) => {
      const { subject } = (incoming.socket as TLSSocket).getPeerCertificate();
      response.end(JSON.stringify(subject));
    },
  );
  await new Promise<void>((resolve) => https.listen(0, '127.0.0.1', resolve));
  const { port } = https.address() as AddressInfo;
  const known = { ca: authority.certificate, cert: client.certificate, key: client.privateKey };
  const trusted = new Agent({ connect: known });
  const strange = new Agent({ connect: { ...known, ca: (await createCertificateAuthority({ now })).certificate } });
  try {
    for (const host of ['127.0.0.1', 'localhost']) {
      const { body } = await request(`https://${host}:${port}/`, { dispatcher: trusted });
      expect(await body.json()).toEqual({ CN: 'ada', O: ['system:masters', 'people'] });
    }
    await expect(request(`https://127.0.0.1:${port}/`, { dispatcher: strange })).rejects.toMatchObject({
      code: expect.stringMatching(/SIGNATURE|SELF_SIGNED|UNABLE_TO_VERIFY/) as string,
    });
  } finally {
    await Promise.all([trusted.close(), strange.close()]);
    https.close();
  }
});
