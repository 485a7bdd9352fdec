/**
 * Liveness and readiness for the kubelet: /healthz and /readyz in the format of Kubernetes components, "ok" or the
 * failed checks. `?verbose` lists all checks, `?exclude` skips some, and each check has its own path below.
 */
import { messageOf } from '../errors/thrown.ts';
import type { HttpEndpoint } from './httpEndpoint.ts';
import { answerText, refuseWrites, requestUrl, startHttpEndpoint } from './httpEndpoint.ts';

interface HealthCheck {
  /** One word, as used in paths: "caches-synced". */
  readonly name: string;
  /** The problem, or undefined; a check that throws has failed too. */
  check(): string | undefined | Promise<string | undefined>;
}

export interface HealthServerOptions {
  readonly port: number;
  readonly host?: string | undefined;
  /** Whether the process should be restarted. */
  readonly liveness?: readonly HealthCheck[];
  /** Whether the process can do its work. */
  readonly readiness?: readonly HealthCheck[];
  /** A check that takes longer fails. */
  readonly checkTimeoutMilliseconds?: number;
}

interface CheckResult {
  readonly name: string;
  readonly failure: string | undefined;
}

const ping: HealthCheck = { name: 'ping', check: () => undefined };
const CHECK_TIMEOUT_MILLISECONDS = 5000;

export function startHealthServer(options: HealthServerOptions): Promise<HttpEndpoint> {
  const endpoints: Readonly<Record<string, readonly HealthCheck[]>> = {
    healthz: [ping, ...(options.liveness ?? [])],
    readyz: [ping, ...(options.readiness ?? [])],
  };
  const timeout = options.checkTimeoutMilliseconds ?? CHECK_TIMEOUT_MILLISECONDS;
  return startHttpEndpoint({
    purpose: 'health probes',
    port: options.port,
    host: options.host,
    setting: '--health-probe-port or HEALTH_PROBE_PORT',
    async handle(request, response) {
      if (refuseWrites(request, response)) return;
      const url = requestUrl(request);
      const [endpoint = '', name, ...more] = url.pathname.split('/').slice(1);
      const all = Object.hasOwn(endpoints, endpoint) ? endpoints[endpoint] : undefined;
      const excluded = url.searchParams.getAll('exclude');
      const checks = all?.filter((check) => (name ? check.name === name : !excluded.includes(check.name)));
      if (checks === undefined || more.length > 0 || (name && checks.length === 0)) {
        answerText(response, 404, 'health is at /healthz, readiness at /readyz\n');
        return;
      }
      const results = await Promise.all(checks.map((check) => runCheck(check, timeout)));
      const healthy = results.every(({ failure }) => failure === undefined);
      answerText(response, healthy ? 200 : 500, report(endpoint, results, healthy, url.searchParams.has('verbose')));
    },
  });
}

function report(endpoint: string, results: readonly CheckResult[], healthy: boolean, verbose: boolean): string {
  if (healthy && !verbose) return 'ok';
  const lines = results
    .filter(({ failure }) => verbose || failure !== undefined)
    .map(({ name, failure }) => (failure === undefined ? `[+]${name} ok` : `[-]${name} failed: ${failure}`));
  return [...lines, `${endpoint} check ${healthy ? 'passed' : 'failed'}`, ''].join('\n');
}

async function runCheck(check: HealthCheck, timeoutMilliseconds: number): Promise<CheckResult> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`no answer within ${timeoutMilliseconds} ms`), timeoutMilliseconds);
  });
  try {
    return { name: check.name, failure: await Promise.race([Promise.resolve().then(() => check.check()), timeout]) };
  } catch (error) {
    return { name: check.name, failure: messageOf(error) };
  } finally {
    clearTimeout(timer);
  }
}
