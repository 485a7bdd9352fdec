/** A cluster over time, as a file: a snapshot, then one line per change of an object, then the end time. */
import type { KubeObject } from '../api/object.ts';
import type { ClusterObjects } from './clusterObjects.ts';
import type { HashedNames } from './hashedNames.ts';
import { parseSnapshot } from './snapshotFile.ts';

/** Change of one object. */
export interface Change {
  /** Milliseconds since 1970; never earlier than the previous change. */
  readonly time: number;
  /** `plural.group`. */
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** Absent when it was deleted. */
  readonly object?: KubeObject;
}

export interface Recording {
  readonly start: ClusterObjects;
  readonly changes: readonly Change[];
  /** Absent when the recording was cut off: it then ends with its last change. */
  readonly end?: number;
}

export function formatChange({ time, kind, namespace, name, object }: Change, names?: HashedNames): string {
  if (object !== undefined) names?.learn(kind, [object]);
  const line = {
    time: new Date(time).toISOString(),
    kind,
    namespace: names?.nameOf(kind, namespace) ?? namespace,
    name: names?.nameOf(kind, name) ?? name,
    ...(object && { object: names?.renamed(kind, [object])[0] ?? object }),
  };
  return `${JSON.stringify(line)}\n`;
}

/** The last line of a complete recording. */
export const formatEnd = (time: number): string =>
  `${JSON.stringify({ time: new Date(time).toISOString(), end: true })}\n`;

/** Undefined when the first line is no snapshot. An incomplete last line is ignored. */
export function parseRecording(text: string): Recording | undefined {
  const [first = '', ...rest] = text.split('\n');
  const start = parseSnapshot(first);
  if (start === undefined) return undefined;
  const lines = rest.filter((line) => line !== '');
  const changes: Change[] = [];
  let end: number | undefined;
  for (const [at, line] of lines.entries()) {
    try {
      const { time, end: isEnd, ...change } = JSON.parse(line) as Line;
      if (isEnd) end = Date.parse(time);
      else changes.push({ ...change, time: Date.parse(time) });
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      if (at < lines.length - 1) return undefined;
    }
  }
  return { start, changes, ...(end !== undefined && { end }) };
}

type Line = Omit<Change, 'time'> & { readonly time: string; readonly end?: true };

export const endOf = ({ start, changes, end }: Recording): number => end ?? changes.at(-1)?.time ?? start.time;

/** The cluster at these increasing times. */
export function* statesAt({ start, changes }: Recording, times: Iterable<number>): Generator<ClusterObjects> {
  const kinds = new Map(
    [...start.kinds].map(([key, objects]) => [key, new Map(objects.map((object) => [keyOf(object.metadata), object]))]),
  );
  let next = 0;
  for (const time of times) {
    for (; next < changes.length; next++) {
      const change = changes[next] as Change;
      if (change.time > time) break;
      const objects = kinds.get(change.kind) ?? new Map<string, KubeObject>();
      kinds.set(change.kind, objects);
      if (change.object === undefined) objects.delete(keyOf(change));
      else objects.set(keyOf(change), change.object);
    }
    yield { time, kinds: new Map([...kinds].map(([key, objects]) => [key, inOrder(objects)])) };
  }
}

export const keyOf = ({ namespace = '', name }: { readonly namespace?: string; readonly name: string }): string =>
  `${namespace}/${name}`;

/**
 * In the order of a snapshot, so that a recording cut off at some moment gives the same decisions as a snapshot of it.
 */
function inOrder(objects: ReadonlyMap<string, KubeObject>): readonly KubeObject[] {
  return [...objects].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, object]) => object);
}
