import { NodewrightError } from '../../errors/nodewrightError.ts';
import { toError } from '../../errors/thrown.ts';
import { KubeError } from '../../kube/errors.ts';

/** @azure/identity's error names for a missing or rejected credential. */
const CREDENTIAL_ERRORS: ReadonlySet<string> = new Set([
  'AggregateAuthenticationError',
  'AuthenticationError',
  'AuthenticationRequiredError',
  'CredentialUnavailableError',
]);

/**
 * Converts a failure of the first calls to the cluster and Azure to an error for the user. Other failures are
 * unchanged.
 */
export function startError(thrown: unknown, server: string): Error {
  const cause = toError(thrown);
  if (cause instanceof NodewrightError) return cause;
  if (cause instanceof KubeError && cause.code === 401) {
    return new NodewrightError('ClusterRefusesCredentials', { server, problem: cause.message }, { cause });
  }
  if (cause instanceof KubeError && cause.code === 0) {
    // The message of a failed connection begins with the server, which the error already names.
    const problem = cause.message.replace(`${server}: `, '');
    return new NodewrightError('ClusterUnreachable', { server, problem }, { cause });
  }
  if (cause instanceof KubeError && cause.status.kind !== 'Status') {
    const problem = `HTTP ${cause.code} came from something else than an API server of Kubernetes`;
    return new NodewrightError('ClusterUnreachable', { server, problem }, { cause });
  }
  const isRefused = 'statusCode' in cause && cause.statusCode === 401;
  if (!isRefused && !CREDENTIAL_ERRORS.has(cause.name)) return cause;
  // The chain of credentials lists every attempt over many lines; the log has all under `cause`.
  const [problem = ''] = cause.message.split('\n', 1);
  return new NodewrightError('AzureRefusesCredentials', { problem }, { cause });
}
