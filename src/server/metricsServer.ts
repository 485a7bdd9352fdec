/**
 * The metrics endpoint: /metrics for Prometheus, and profiles below /debug/pprof/ when profiling is on. In: a registry
 * that renders itself. Out: a running server with its port.
 */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { HttpEndpoint } from './httpEndpoint.ts';
import { answerText, refuseWrites, requestUrl, startHttpEndpoint } from './httpEndpoint.ts';
import type { PrometheusMetrics } from './metrics.ts';
import { isProfilingPath, Profiler } from './profiling.ts';

export interface MetricsServerOptions {
  readonly port: number;
  readonly host?: string | undefined;
  readonly metrics: PrometheusMetrics;
  readonly enableProfiling: boolean;
}

/** Part by part, with a turn for everybody else in between: a large cluster has tens of megabytes to tell. */
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
  const profiler = options.enableProfiling ? new Profiler() : undefined;
  return startHttpEndpoint({
    purpose: 'metrics',
    port: options.port,
    host: options.host,
    setting: '--metrics-port or METRICS_PORT',
    async handle(request, response) {
      if (refuseWrites(request, response)) return;
      const url = requestUrl(request);
      if (url.pathname === '/metrics') {
        await answerMetrics(options.metrics, response);
      } else if (!isProfilingPath(url.pathname)) {
        answerText(response, 404, 'metrics are at /metrics\n');
      } else if (profiler === undefined) {
        answerText(response, 404, 'profiling is off; start with --enable-profiling\n');
      } else {
        await profiler.handle(url, request, response);
      }
    },
  });
}
