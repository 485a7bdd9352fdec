/** `events.k8s.io` and core events are one set of objects with two spellings; core's is the stored one. */
import { type ApiObject, type Fields } from './fields.ts';
import type { StorageView } from './resource.ts';

/** Stored (core) name to `events.k8s.io` name. */
const RENAMED: readonly (readonly [string, string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['reportingComponent', 'reportingController'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
];
const TO_SERVED = new Map(RENAMED);
const TO_STORED = new Map(RENAMED.map(([stored, served]) => [served, stored]));

function rename(object: ApiObject, names: ReadonlyMap<string, string>, apiVersion: string): ApiObject {
  const result: Fields = {};
  for (const [name, value] of Object.entries(object)) result[names.get(name) ?? name] = value;
  return { ...result, apiVersion, kind: 'Event', metadata: object.metadata };
}

export const eventsView: StorageView = {
  group: '',
  plural: 'events',
  decode: (stored) => rename(stored, TO_SERVED, 'events.k8s.io/v1'),
  encode: (served) => rename(served, TO_STORED, 'v1'),
};
