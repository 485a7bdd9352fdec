/**
 * The metrics endpoint: /metrics for Prometheus, and profiles below /debug/pprof/ when profiling is on. Metrics are for
 * everyone in the cluster. Profiles are for this host only, and for tokens of the cluster that may get them, since a heap
 * snapshot holds every secret of the process.
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
  /** Metrics below `/metrics/`, by the rest of the path: those of other clusters. */
  readonly others?: (path: string) => PrometheusMetrics | undefined;
  /** In front of profiles; without it there are none. */
  readonly profiles?: Gate | undefined;
}

/** In parts, with a turn of the event loop in between: a large cluster has tens of megabytes of metrics. */
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

/** `kube`: undefined while there is no API server to ask, and nothing is let through. */
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

/** The address of the connection itself; headers that a client could forge play no part. */
export function isLoopback(address: string | undefined): boolean {
  return address !== undefined && /^(127\.|::1$|::ffff:127\.)/.test(address);
}
