/** A `Kube` with faults: watches break off or expire, writes meet conflicts, answers come late. */
import type { KubeObject, ResourceKind } from '../../api/object.ts';
import { KubeError } from '../../kube/errors.ts';
import type { Kube, WatchEvent, WatchOptions } from '../../kube/kube.ts';
import { concernsClient, NODEWRIGHT } from './apiClients.ts';
import type { FaultOrder } from './faultKinds.ts';
import type { Faults } from './faults.ts';

const WRITES = new Set(['replace', 'patch']);
/** Operations of the port whose first argument names the kind. */
const CALLS = new Set(['get', 'list', 'create', 'replace', 'patch', 'delete', 'deleteCollection', 'listEach']);

type Call = (...parameters: unknown[]) => Promise<unknown>;

/** `isDead`: the client's process has died; its remaining calls fail. */
export function faultyKube(kube: Kube, faults: Faults, isDead: () => boolean = () => false): Kube {
  return new Proxy(kube, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== 'function') return value;
      const call = value.bind(target) as Call;
      if (key === 'watch') {
        return (kind: ResourceKind<KubeObject>, options: WatchOptions) =>
          troubledWatch(kind, target.watch(kind, options), faults);
      }
      if (typeof key !== 'string' || !CALLS.has(key)) return call;
      return async (...parameters: unknown[]) => {
        const kind = (parameters[0] as ResourceKind<KubeObject> | undefined)?.kind ?? '';
        await beforeCall(key, kind, faults);
        if (isDead()) throw new KubeError({ code: 0, reason: 'Unreachable', message: 'the process has died' });
        return call(...parameters);
      };
    },
  });
}

const concerns =
  (kind: string) =>
  (order: FaultOrder): boolean =>
    concernsClient(order, NODEWRIGHT) &&
    (order.texts['kind'] === undefined || order.texts['kind'].toLowerCase() === kind.toLowerCase());

async function beforeCall(verb: string, kind: string, faults: Faults): Promise<void> {
  const slow = faults.strikes('slow-api', `${verb} ${kind}`, concerns(kind));
  if (slow) await faults.clock.sleep(slow.order.numbers['by'] ?? 2_000);
  if (!WRITES.has(verb) || !faults.strikes('conflict', `${verb} ${kind}`, concerns(kind))) return;
  throw new KubeError({
    code: 409,
    reason: 'Conflict',
    message: `Operation cannot be fulfilled on ${kind}: the object has been modified; please apply your changes to the latest version and try again`,
  });
}

/** Ends at the first event after a fault has come, as a connection does that was cut. */
async function* troubledWatch<T extends KubeObject>(
  kind: ResourceKind<T>,
  events: AsyncIterable<WatchEvent<T>>,
  faults: Faults,
): AsyncIterable<WatchEvent<T>> {
  for await (const event of events) {
    if (faults.strikes('watch-gone', kind.kind, concerns(kind.kind))) {
      throw new KubeError({ code: 410, reason: 'Expired', message: 'too old resource version' });
    }
    if (faults.strikes('watch-drop', kind.kind, concerns(kind.kind))) {
      throw new KubeError({ code: 0, reason: 'Unreachable', message: 'the connection was reset' });
    }
    yield event;
  }
}
