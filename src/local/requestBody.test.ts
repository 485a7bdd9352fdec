import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { listenOnLoopback } from './requestBody.ts';

it('keeps a server running when it temporarily cannot accept connections', async () => {
  const server = createServer();
  const open = await listenOnLoopback(server, 0);
  for (let failure = 0; failure < 3; failure += 1) server.emit('error', new Error('accept EMFILE'));
  expect(server.listening).toBe(true);
  await open.close();
});
