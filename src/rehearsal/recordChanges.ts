/** Follows a cluster and reports every change of the fields that a snapshot keeps. */
import { setMaxListeners } from 'node:events';
import type { KubeObject, ResourceKind } from '../api/object.ts';
import type { Clock } from '../clock/clock.ts';
import type { Random } from '../clock/random.ts';
import type { Kube } from '../kube/kube.ts';
import { Reflector, type Sink } from '../kube/reflector.ts';
import { kindKey, type ClusterObjects } from './clusterObjects.ts';
import { keyOf, type Change } from './recording.ts';

export interface RecordingOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  readonly kinds: readonly ResourceKind<KubeObject>[];
  /** The known state. */
  readonly start: ClusterObjects;
  readonly keep: (object: KubeObject, kind: ResourceKind<KubeObject>) => KubeObject;
  readonly onChange: (change: Change) => void;
  readonly onError: (error: unknown) => void;
}

/** Runs until the signal aborts. Returns the end time, which is never before the last change. */
export async function recordChanges(options: RecordingOptions, signal: AbortSignal): Promise<number> {
  const { kube, clock, random, kinds, start, onError } = options;
  // One listener per kind, no more.
  setMaxListeners(2 * kinds.length, signal);
  const ahead = start.time - clock.now();
  let last = start.time;
  const now = (): number => (last = Math.max(last, clock.now() + ahead));
  const timed = (change: Omit<Change, 'time'>): void => options.onChange({ ...change, time: now() });
  const running = kinds.map((kind) =>
    new Reflector({ kube, clock, random, kind, scope: {}, sink: sinkOf(kind, options, timed), onError }).run(signal),
  );
  await Promise.all(running);
  return now();
}

function sinkOf(
  kind: ResourceKind<KubeObject>,
  { start, keep }: RecordingOptions,
  tell: (change: Omit<Change, 'time'>) => void,
): Sink<KubeObject> {
  const key = kindKey(kind);
  const known = new Map((start.kinds.get(key) ?? []).map((object) => [keyOf(object.metadata), JSON.stringify(object)]));
  let listed: Set<string> | undefined;
  const remove = (name: string): void => {
    const [namespace = '', own = ''] = name.split('/');
    if (known.delete(name)) tell({ kind: key, namespace, name: own });
  };
  return {
    begin: () => {
      listed = new Set();
    },
    upsert: (object) => {
      const kept = keep(object, kind);
      const name = keyOf(object.metadata);
      const text = JSON.stringify(kept);
      listed?.add(name);
      if (known.get(name) === text) return;
      known.set(name, text);
      tell({ kind: key, namespace: object.metadata.namespace ?? '', name: object.metadata.name, object: kept });
    },
    remove: ({ metadata }) => remove(keyOf(metadata)),
    complete: () => {
      for (const name of known.keys()) if (listed?.has(name) === false) remove(name);
      listed = undefined;
    },
  };
}
