/**
 * The resource log of a managed cluster, category `karpenter-events`: nodewright's Kubernetes events, one JSON object
 * per line, in Azure Monitor's format for resource logs.
 */
import { Kinds, type Event } from '../api/kinds.ts';
import type { ResourceKind } from '../api/object.ts';
import type { Clock } from '../clock/clock.ts';
import type { Kube } from '../kube/kube.ts';

export interface ResourceLogOptions {
  /** The cluster's id. */
  readonly resourceId: string;
  readonly clock: Pick<Clock, 'now'>;
  /** Called with each line, without its line end. */
  readonly write: (line: string) => void;
}

const CATEGORY = 'karpenter-events';
const OPERATION = 'Microsoft.ContainerService/managedClusters/diagnosticLogs/Read';
const WRITES: ReadonlySet<string> = new Set(['create', 'patch']);

/** Wraps the port; events written through it are also logged. */
export function withResourceLog(kube: Kube, options: ResourceLogOptions): Kube {
  return new Proxy(kube, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      if (!WRITES.has(String(name)))
        return (...args: readonly unknown[]): unknown => Reflect.apply(member, target, args);
      return async (...args: readonly unknown[]): Promise<unknown> => {
        const result: unknown = await Reflect.apply(member, target, args);
        const { kind } = args[0] as ResourceKind<Event>;
        if (kind === Kinds.Event.kind) options.write(lineOf(result as Event, options));
        return result;
      };
    },
  });
}

function lineOf(event: Event, { resourceId, clock }: ResourceLogOptions): string {
  const { type, reason, message, count, involvedObject, source, firstTimestamp, lastTimestamp } = event;
  const log = { type, reason, message, count, involvedObject, source, firstTimestamp, lastTimestamp };
  return JSON.stringify({
    time: new Date(clock.now()).toISOString(),
    resourceId: resourceId.toUpperCase(),
    category: CATEGORY,
    operationName: OPERATION,
    properties: { log: `${JSON.stringify(log)}\n`, stream: 'stderr', pod: 'karpenter' },
  });
}
