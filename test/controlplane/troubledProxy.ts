/** A TCP proxy that can delay traffic, cut connections, or drop everything silently. */
import { createServer, connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

export interface TroubledProxy {
  /** `https://127.0.0.1:<port>`: the server's certificate names this address too. */
  readonly url: string;
  /** Connections accepted so far. */
  accepted(): number;
  /** Every piece of data, in both directions, waits this long; pieces keep their order. */
  delay(milliseconds: number): void;
  /** Closes existing connections without a shutdown. */
  cut(): void;
  /** Ends existing connections and resets every new one. */
  refuse(): void;
  /** Existing and new connections stay open but nothing arrives any more, as behind a firewall that forgot them. */
  blackHole(): void;
  /** New connections work again; black-holed ones stay cut off, as in a real network. */
  heal(): void;
  close(): Promise<void>;
}

interface Link {
  readonly ends: readonly Socket[];
  dead: boolean;
}

export async function startTroubledProxy(target: string): Promise<TroubledProxy> {
  const { hostname, port } = new URL(target);
  const links = new Set<Link>();
  let mode: 'pass' | 'refuse' | 'blackHole' = 'pass';
  let delayMilliseconds = 0;
  let accepted = 0;

  const pass = (link: Link, from: Socket, to: Socket): void => {
    from.on('data', (bytes) => {
      if (link.dead) return;
      if (delayMilliseconds === 0) to.write(bytes);
      else setTimeout(() => link.dead || to.write(bytes), delayMilliseconds);
    });
  };
  const end = (link: Link): void => {
    links.delete(link);
    for (const socket of link.ends) socket.destroy();
  };
  const cut = (): void => {
    for (const link of links) end(link);
  };
  const server = createServer((client) => {
    accepted += 1;
    if (mode === 'refuse') {
      client.resetAndDestroy();
      return;
    }
    const upstream = connect(Number(port), hostname);
    const link: Link = { ends: [client, upstream], dead: mode === 'blackHole' };
    links.add(link);
    pass(link, client, upstream);
    pass(link, upstream, client);
    for (const socket of link.ends) {
      socket.setNoDelay(true);
      socket.on('error', () => {});
      // A dead link hides even the end of the other side from its peer.
      socket.on('close', () => link.dead || end(link));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    accepted: () => accepted,
    delay(milliseconds) {
      delayMilliseconds = milliseconds;
    },
    cut,
    refuse() {
      mode = 'refuse';
      cut();
    },
    blackHole() {
      mode = 'blackHole';
      for (const link of links) link.dead = true;
    },
    heal() {
      mode = 'pass';
      delayMilliseconds = 0;
    },
    async close() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
