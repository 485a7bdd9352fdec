/**
 * Many small requests to an API server over a few kept connections, with the exact text of each body. A refusal is an
 * answer like any other.
 */
import { readFile } from 'node:fs/promises';
import { Agent } from 'undici';
import { parseYaml } from '../../../src/api/yaml/parseYaml.ts';

export interface Answer {
  readonly code: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface RawClient {
  send(method: 'GET' | 'POST' | 'PUT', path: string, body?: string): Promise<Answer>;
  close(): Promise<void>;
}

interface Kubeconfig {
  readonly clusters: readonly { readonly cluster: Readonly<Record<string, string>> }[];
  readonly users: readonly { readonly user: Readonly<Record<string, string>> }[];
}

export async function connectRaw(kubeconfigPath: string, connections: number): Promise<RawClient> {
  const config = parseYaml(await readFile(kubeconfigPath, 'utf8')) as Kubeconfig;
  const cluster = config.clusters[0]?.cluster ?? {};
  const user = config.users[0]?.user ?? {};
  const pem = (text: string | undefined) => Buffer.from(text ?? '', 'base64').toString();
  const agent = new Agent({
    connections,
    pipelining: 1,
    connect: {
      ca: pem(cluster['certificate-authority-data']),
      cert: pem(user['client-certificate-data']),
      key: pem(user['client-key-data']),
    },
  });
  const origin = cluster['server'] ?? '';
  return {
    async send(method, path, body) {
      const { statusCode, body: stream } = await agent.request({
        origin,
        path,
        method,
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        ...(body === undefined ? {} : { body }),
      });
      return { code: statusCode, body: (await stream.json()) as Answer['body'] };
    },
    close: () => agent.close(),
  };
}

/** Runs `work` for every item, at most `width` at a time, and keeps the order of the results. */
export async function inParallel<T, R>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) results[at] = await work(items[at] as T);
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, lane));
  return results;
}
