import { NodewrightError } from '../../errors/nodewrightError.ts';
import { toError } from '../../errors/thrown.ts';
import { KubeError } from '../../kube/errors.ts';

/** How @azure/identity names a credential that is missing or refused. */
const CREDENTIAL_ERRORS: ReadonlySet<string> = new Set([
  'AggregateAuthenticationError',
  'AuthenticationError',
  'AuthenticationRequiredError',
  'CredentialUnavailableError',
]);

/**
 * What a failure of the first calls to the cluster and to Azure means to the person who starts the controller. Failures
 * that are none of these stay as they are.
 */
export function startError(thrown: unknown, server: string): Error {
  const cause = toError(thrown);
  if (cause instanceof NodewrightError) return cause;
  if (cause instanceof KubeError && cause.code === 401) {
    return new NodewrightError('ClusterRefusesCredentials', { server, problem: cause.message }, { cause });
  }
  if (cause instanceof KubeError && cause.code === 0) {
    // The message of a failed connection begins with the server, which the error names by itself.
    const problem = cause.message.replace(`${server}: `, '');
    return new NodewrightError('ClusterUnreachable', { server, problem }, { cause });
  }
  if (cause instanceof KubeError && cause.status.kind !== 'Status') {
    const problem = `HTTP ${cause.code} came from something else than an API server of Kubernetes`;
    return new NodewrightError('ClusterUnreachable', { server, problem }, { cause });
  }
  const isRefused = 'statusCode' in cause && cause.statusCode === 401;
  if (!isRefused && !CREDENTIAL_ERRORS.has(cause.name)) return cause;
  // The chain of credentials lists every attempt over many lines; the log has them all under `cause`.
  const [problem = ''] = cause.message.split('\n', 1);
  return new NodewrightError('AzureRefusesCredentials', { problem }, { cause });
}
