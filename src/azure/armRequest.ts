/** Classifies a request to Azure for metrics and rate limits: operation and resource type. */
export interface ArmRequest {
  /** `Microsoft.Compute/virtualMachines PUT`. */
  readonly operation: string;
  /** ARM's category for rate limits. */
  readonly kind: 'reads' | 'writes' | 'deletes';
  /** The resource, in lower case. */
  readonly resource: string;
}

const UNKNOWN = 'other';

export function armRequestOf(method: string, url: string): ArmRequest {
  const path = pathOf(url);
  return { operation: `${typeOf(path)} ${method}`, kind: kindOf(method), resource: path.toLowerCase() };
}

function pathOf(url: string): string {
  try {
    return new URL(url).pathname;
  } catch {
    return '';
  }
}

function kindOf(method: string): ArmRequest['kind'] {
  if (method === 'GET' || method === 'HEAD') return 'reads';
  return method === 'DELETE' ? 'deletes' : 'writes';
}

/** Namespace and types after the last `providers`, without the names. */
function typeOf(path: string): string {
  const at = path.toLowerCase().lastIndexOf('/providers/');
  if (at < 0) return UNKNOWN;
  const [namespace = '', ...rest] = path.slice(at + '/providers/'.length).split('/');
  const types = rest.filter((_, index) => index % 2 === 0);
  return namespace === '' ? UNKNOWN : [namespace, ...types].join('/');
}
