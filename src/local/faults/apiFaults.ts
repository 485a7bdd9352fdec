/**
 * Faults of the Kubernetes API: late answers, write conflicts, watches that break off or expire. Those of nodewright
 * are injected into its client (`faultyKube`), those of other clients into the server (`serverFaults`).
 */
import { Kinds, type Pod } from '../../api/kinds.ts';
import type { KubeObject, ResourceKind } from '../../api/object.ts';
import { KubeError } from '../../kube/errors.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Kube, ObjectRef } from '../../kube/kube.ts';
import type { ApiRequest, RequestTrouble } from '../apiserver/http/message.ts';
import { parseResourcePath } from '../apiserver/http/requestPath.ts';
import type { FaultKind } from './faultKinds.ts';
import type { ActiveFault, Faults } from './faults.ts';
import type { InstanceFaults } from './instanceFaults.ts';

const NODEWRIGHT = 'nodewright';
const CHANGES = new Set(['replace', 'patch', 'PUT', 'PATCH']);
/** Operations of the port whose first argument names the kind. */
const CALLS = new Set(['get', 'list', 'create', 'replace', 'patch', 'delete', 'deleteCollection', 'listEach']);

/** One request as faults see it. */
interface Occasion {
  readonly client: string;
  readonly verb: string;
  /** What the fault hits, as its events name it. */
  readonly target: string;
  /** Plural of the kind, or its name. */
  readonly kind: string;
  readonly name?: string | undefined;
  readonly signal?: AbortSignal;
}

/** Without `client=` a fault concerns nodewright; `all` means every client, other values a prefix of the user agent. */
function strike(faults: Faults, fault: FaultKind, { client, target, kind }: Occasion): ActiveFault | undefined {
  return faults.strikes(fault, target, ({ texts }) => {
    const wanted = texts['client']?.toLowerCase() ?? NODEWRIGHT;
    const named = texts['kind']?.toLowerCase();
    // A fault may name a kind as `Pod` or as `pods`.
    const isKind = named === undefined || [named, `${named}s`, `${named}es`, named.replace(/y$/, 'ies')].includes(kind);
    return (wanted === 'all' || client.toLowerCase().startsWith(wanted)) && isKind;
  });
}

async function beforeRequest(faults: Faults, occasion: Occasion): Promise<void> {
  const slow = strike(faults, 'slow-api', occasion);
  if (slow) await faults.clock.sleep(slow.order.numbers['by'] ?? 2_000, occasion.signal);
  if (!CHANGES.has(occasion.verb) || !strike(faults, 'conflict', occasion)) return;
  const what = occasion.name === undefined ? occasion.kind : `${occasion.kind} "${occasion.name}"`;
  const message = `Operation cannot be fulfilled on ${what}: the object has been modified; please apply your changes to the latest version and try again`;
  throw new KubeError({ code: 409, status: 'Failure', reason: 'Conflict', message });
}

/** Ends a watch at the first event after a fault has begun, like a cut connection. */
async function* troubledWatch<T>(faults: Faults, occasion: Occasion, events: AsyncIterable<T>): AsyncIterable<T> {
  for await (const event of events) {
    if (strike(faults, 'watch-gone', occasion)) {
      throw new KubeError({ code: 410, status: 'Failure', reason: 'Expired', message: 'too old resource version' });
    }
    if (strike(faults, 'watch-drop', occasion)) {
      throw new KubeError({ code: 0, reason: 'Unreachable', message: 'the connection was reset' });
    }
    yield event;
  }
}

type Around = (verb: string, call: (...parameters: unknown[]) => unknown, parameters: unknown[]) => unknown;

/** Returns a `Kube` whose calls go through `around`. */
function interceptedKube(kube: Kube, around: Around): Kube {
  return new Proxy(kube, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== 'function' || typeof key !== 'string') return value;
      const call = value.bind(target) as (...parameters: unknown[]) => unknown;
      return (...parameters: unknown[]) => around(key, call, parameters);
    },
  });
}

/** Returns the `Kube` of nodewright with faults. Once `isDead` returns true, as after a process death, calls fail. */
export function faultyKube(kube: Kube, faults: Faults, isDead: () => boolean = () => false): Kube {
  return interceptedKube(kube, (verb, call, parameters) => {
    if (verb !== 'watch' && !CALLS.has(verb)) return call(...parameters);
    const { kind } = parameters[0] as ResourceKind<KubeObject>;
    const target = verb === 'watch' ? kind : `${verb} ${kind}`;
    const occasion = { client: NODEWRIGHT, verb, target, kind: kind.toLowerCase() };
    if (verb === 'watch') return troubledWatch(faults, occasion, call(...parameters) as AsyncIterable<unknown>);
    return beforeRequest(faults, { ...occasion }).then(() => {
      if (isDead()) throw new KubeError({ code: 0, reason: 'Unreachable', message: 'the process has died' });
      return call(...parameters);
    });
  });
}

export function serverFaults(faults: Faults): RequestTrouble {
  const occasionOf = ({ method, path, headers, signal }: ApiRequest): Occasion | undefined => {
    const { plural = '', name } = parseResourcePath(path) ?? {};
    const client = headers['user-agent'] ?? '';
    if (client.startsWith(NODEWRIGHT)) return undefined;
    return { client, verb: method, target: `${method} ${plural || path}`, kind: plural, name, signal };
  };
  return {
    async before(request) {
      const occasion = occasionOf(request);
      if (occasion !== undefined) await beforeRequest(faults, occasion);
    },
    async *watching(request, lines) {
      const occasion = occasionOf(request);
      try {
        yield* occasion === undefined ? lines : troubledWatch(faults, occasion, lines);
      } catch (error) {
        if (!(error instanceof KubeError) || error.code !== 410) throw error;
        const object = { kind: 'Status', apiVersion: 'v1', ...error.status };
        yield `${JSON.stringify({ type: 'ERROR', object })}\n`;
      }
    },
  };
}

const GUARDED = new Set(['patch', 'delete', 'get', 'replace']);

/** Returns the `Kube` of kubelets, in which calls of silent kubelets fail. `pods` gives the node of a pod. */
export function kubeletKube(kube: Kube, faults: Pick<InstanceFaults, 'isSilent'>, pods: Informer<Pod>): Kube {
  return interceptedKube(kube, (verb, call, parameters) => {
    if (!GUARDED.has(verb)) return call(...parameters);
    const [kind, ref] = parameters as [ResourceKind<KubeObject>, ObjectRef];
    const node = kind.plural === Kinds.Pod.plural ? (pods.store.get(ref)?.spec?.nodeName ?? '') : ref.name;
    if (!faults.isSilent(node)) return call(...parameters);
    // A kubelet renews its lease in the next period anyway; a write of a pod's status must fail to be retried.
    if (kind.plural === Kinds.Lease.plural) return Promise.resolve();
    return Promise.reject(new KubeError({ code: 0, reason: 'Unreachable', message: 'no route to host' }));
  });
}
