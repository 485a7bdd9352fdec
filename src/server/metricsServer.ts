/**
 * The metrics endpoint: /metrics for Prometheus, and profiles below /debug/pprof/ when profiling is on. In: a registry
 * that renders itself. Out: a running server with its port.
 */
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
        const text = await options.metrics.render();
        response.writeHead(200, { 'content-type': options.metrics.contentType });
        response.end(text);
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
