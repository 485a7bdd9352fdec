/** Faults of the API server for clients over the network, chosen by `client=`: `all`, or the beginning of a user agent. */
import { KubeError } from '../../kube/errors.ts';
import type { ApiRequest } from '../apiserver/http/message.ts';
import { parseResourcePath } from '../apiserver/http/requestPath.ts';
import type { RequestTrouble } from '../apiserver/http/trouble.ts';
import { concernsClient, NODEWRIGHT } from './apiClients.ts';
import type { FaultKind, FaultOrder } from './faultKinds.ts';
import type { ActiveFault, Faults } from './faults.ts';

const CHANGES = new Set(['PUT', 'PATCH']);

export function serverFaults(faults: Faults): RequestTrouble {
  const strikes = (kind: FaultKind, request: ApiRequest): ActiveFault | undefined => {
    const plural = parseResourcePath(request.path)?.plural ?? '';
    const target = `${request.method} ${plural || request.path}`;
    const client = clientOf(request);
    // nodewright's faults are applied on its own side.
    if (client.startsWith(NODEWRIGHT)) return undefined;
    const matches = (order: FaultOrder): boolean => concernsClient(order, client) && names(order, plural);
    return faults.strikes(kind, target, matches);
  };
  return {
    async before(request) {
      const slow = strikes('slow-api', request);
      if (slow) await faults.clock.sleep(slow.order.numbers['by'] ?? 2_000, request.signal);
      if (!CHANGES.has(request.method) || !strikes('conflict', request)) return;
      const { plural, name } = parseResourcePath(request.path) ?? {};
      throw new KubeError({
        code: 409,
        status: 'Failure',
        reason: 'Conflict',
        message: `Operation cannot be fulfilled on ${plural} "${name}": the object has been modified; please apply your changes to the latest version and try again`,
      });
    },
    async *watching(request, lines) {
      for await (const line of lines) {
        if (strikes('watch-gone', request)) {
          const object = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Expired', code: 410 };
          yield `${JSON.stringify({ type: 'ERROR', object: { ...object, message: 'too old resource version' } })}\n`;
          return;
        }
        if (strikes('watch-drop', request)) {
          throw new KubeError({ code: 0, reason: 'Unreachable', message: 'the connection is cut' });
        }
        yield line;
      }
    },
  };
}

const clientOf = ({ headers }: ApiRequest): string => headers['user-agent'] ?? '';

/** A fault may name a kind as `Pod` or as `pods`. */
function names({ texts }: FaultOrder, plural: string): boolean {
  const kind = texts['kind']?.toLowerCase();
  return kind === undefined || [kind, `${kind}s`, `${kind}es`, kind.replace(/y$/, 'ies')].includes(plural);
}
