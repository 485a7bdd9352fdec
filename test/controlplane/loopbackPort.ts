/** A free TCP port on 127.0.0.1, outside the range that outgoing connections use. */
import { createServer } from 'node:net';

// Below the range from which kernels pick source ports: a server that restarts must find its port free again.
const lowest = 15_000;
const highest = 32_000;
const attempts = 50;

export async function freeLoopbackPort(): Promise<number> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest));
    if (await canListen(port)) return port;
  }
  throw new Error(`No free loopback port found in ${attempts} attempts.`);
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
