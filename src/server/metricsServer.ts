/**
 * The metrics endpoint: /metrics for Prometheus, and profiles below /debug/pprof/ when profiling is on. Metrics are
 * open to everyone in the cluster. Profiles are only for this host and for authorized tokens of the cluster, because a
 * heap snapshot contains every secret of the process.
 */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { clusterTokenReview, PROFILES } from './clusterTokens.ts';
import { Gate } from './gate.ts';
import type { HttpEndpoint } from './httpEndpoint.ts';
import { answerText, refuseWrites, requestUrl, startHttpEndpoint } from './httpEndpoint.ts';
import type { Kube } from '../kube/kube.ts';
import type { PrometheusMetrics } from './metrics.ts';
import { isProfilingPath, Profiler } from './profiling.ts';

export interface MetricsServerOptions {
  readonly port: number;
  readonly host?: string | undefined;
  readonly metrics: PrometheusMetrics;
  /** Metrics of other clusters, below `/metrics/`, by the rest of the path. */
  readonly others?: (path: string) => PrometheusMetrics | undefined;
  /** Protects profiles; absent: no profiles. */
  readonly profiles?: Gate | undefined;
}

/** In parts, yielding in between: a large cluster has tens of megabytes of metrics. */
async function answerMetrics(metrics: PrometheusMetrics, response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': metrics.contentType });
  for await (const part of metrics.parts()) {
    if (response.destroyed) return;
    if (response.write(Buffer.from(part))) await nextTurn();
    else await Promise.race([once(response, 'drain'), once(response, 'close')]);
  }
  response.end();
}

export function startMetricsServer(options: MetricsServerOptions): Promise<HttpEndpoint> {
  return startHttpEndpoint({
    purpose: 'metrics',
    port: options.port,
    host: options.host,
    setting: '--metrics-port or METRICS_PORT',
    handle: metricsHandler(options),
  });
}

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export function metricsHandler(options: Pick<MetricsServerOptions, 'metrics' | 'others' | 'profiles'>): Handler {
  const profiler = new Profiler();
  const { profiles } = options;
  return async (request, response) => {
    if (refuseWrites(request, response)) return;
    const url = requestUrl(request);
    const metrics = metricsAt(options, url.pathname);
    if (metrics !== undefined) {
      await answerMetrics(metrics, response);
    } else if (!isProfilingPath(url.pathname)) {
      answerText(response, 404, 'metrics are at /metrics\n');
    } else if (profiles === undefined) {
      answerText(response, 404, 'profiling is off; start with --enable-profiling\n');
    } else if (!isLoopback(request.socket.remoteAddress)) {
      answerText(response, 403, 'profiles are served to this host only; use kubectl port-forward\n');
    } else {
      const refusal = profiles.refuseForeign(request) ?? (await profiles.refuseStranger(request));
      if (refusal === undefined) await profiler.handle(url, request, response);
      else answerText(response, refusal.status, `${refusal.message}\n`);
    }
  };
}

/** `kube`: undefined while no API server can be asked; then access is refused. */
export function profilesGate(kube: () => Pick<Kube, 'create'> | undefined): Gate {
  return new Gate({
    reviewToken: async (token) => {
      const server = kube();
      return server !== undefined && clusterTokenReview(server, PROFILES)(token);
    },
    wayIn: 'send a bearer token of this cluster whose user may get the non-resource URL /debug/pprof/',
  });
}

const BELOW = '/metrics/';

function metricsAt(
  { metrics, others }: Pick<MetricsServerOptions, 'metrics' | 'others'>,
  path: string,
): PrometheusMetrics | undefined {
  if (path === '/metrics') return metrics;
  return path.startsWith(BELOW) ? others?.(path.slice(BELOW.length).toLowerCase()) : undefined;
}

/** Checks the address of the connection itself, not headers that a client could forge. */
export function isLoopback(address: string | undefined): boolean {
  return address !== undefined && /^(127\.|::1$|::ffff:127\.)/.test(address);
}
