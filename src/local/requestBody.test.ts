import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { listenOnLoopback } from './requestBody.ts';

it('keeps a server that cannot accept connections for a while', async () => {
  const server = createServer();
  const open = await listenOnLoopback(server, 0);
  for (let failure = 0; failure < 3; failure += 1) server.emit('error', new Error('accept EMFILE'));
  expect(server.listening).toBe(true);
  await open.close();
});
