/** The two operations that tests need from etcd directly, through its JSON gateway: revisions, and compaction. */
import { request } from 'undici';

async function call(endpoint: string, path: string, body: unknown): Promise<Record<string, unknown>> {
  const response = await request(`${endpoint}${path}`, { method: 'POST', body: JSON.stringify(body) });
  const text = await response.body.text();
  if (response.statusCode !== 200) throw new Error(`etcd answered ${response.statusCode} to ${path}: ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}

/** Makes etcd forget every revision before the current one, which it returns. */
export async function compactToCurrentRevision(endpoint: string): Promise<number> {
  const anyKey = Buffer.from('/').toString('base64');
  const answer = await call(endpoint, '/v3/kv/range', { key: anyKey });
  const { revision } = answer['header'] as { revision: string };
  await call(endpoint, '/v3/kv/compaction', { revision, physical: true });
  return Number(revision);
}

export async function isEtcdHealthy(endpoint: string): Promise<boolean> {
  try {
    const response = await request(`${endpoint}/health`, { headersTimeout: 1000 });
    await response.body.dump();
    return response.statusCode === 200;
  } catch {
    return false;
  }
}
