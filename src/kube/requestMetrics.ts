/**
 * Counts and measures requests to the API server under client-go's metric names. Returns the `onAnswer` of a
 * `HttpKube`.
 */
import type { MetricsRegistry } from './metrics.ts';

interface Answer {
  readonly method: string;
  readonly path: string;
  /** 0 when there was none. */
  readonly code: number;
  readonly milliseconds: number;
}

/** Seconds, from 0.001, growing by a factor of 1.5. */
const BUCKETS = Array.from({ length: 20 }, (_, power) => 0.001 * 1.5 ** power);

export function requestMetrics(registry: MetricsRegistry, server: string): (answer: Answer) => void {
  const duration = registry.histogram({
    name: 'client_go_request_duration_seconds',
    help: 'Seconds until the API server answered.',
    labels: ['verb', 'group', 'version', 'kind', 'subresource'],
    buckets: BUCKETS,
  });
  const total = registry.counter({
    name: 'client_go_request_total',
    help: 'Requests to the API server, by status code and method.',
    labels: ['code', 'method'],
  });
  const byHost = registry.counter({
    name: 'rest_client_requests_total',
    help: 'Requests to the API server, by status code, method and host.',
    labels: ['code', 'method', 'host'],
  });
  const { host } = new URL(server);
  return ({ method, path, code, milliseconds }) => {
    const answer = code === 0 ? '<error>' : String(code);
    const verb = method === 'WATCH' ? 'GET' : method;
    total.inc({ code: answer, method: verb });
    byHost.inc({ code: answer, method: verb, host });
    const target = targetOf(path);
    if (target) duration.observe({ verb: verbOf(method, target.named), ...target.labels }, milliseconds / 1_000);
  };
}

function verbOf(method: string, named: boolean): string {
  if (method === 'POST') return 'CREATE';
  if (method === 'PUT') return 'UPDATE';
  return method === 'GET' && !named ? 'LIST' : method;
}

/** Extracts group, version, resource and subresource from `/apis/apps/v1/namespaces/shop/deployments/web/status`. */
function targetOf(
  path: string,
): { readonly labels: Readonly<Record<string, string>>; readonly named: boolean } | undefined {
  const [root, ...parts] = (path.split('?')[0] ?? '').split('/').slice(1);
  if (root !== 'api' && root !== 'apis') return undefined;
  const group = root === 'apis' ? parts.shift() : '';
  const version = parts.shift();
  if (parts[0] === 'namespaces' && parts.length > 2) parts.splice(0, 2);
  const [kind, name, subresource = ''] = parts;
  if (group === undefined || version === undefined || kind === undefined) return undefined;
  return { labels: { group, version, kind, subresource }, named: name !== undefined };
}
