/**
 * Conversions of kinds whose served and stored forms differ.
 *
 * `autoscaling/v1` is stored as v2; metrics that v1 cannot express are kept in an annotation, like upstream. Events of
 * `events.k8s.io` are the same objects as core events with other field names, and stored as core events.
 */
import { fieldsAt, isFields, listAt, numberAt, textAt, withoutAbsent, type ApiObject, type Fields } from './fields.ts';
import type { StorageView } from './resource.ts';

const METRICS = 'autoscaling.alpha.kubernetes.io/metrics';

function isCpuUtilization(metric: unknown): boolean {
  return (
    textAt(metric, 'type') === 'Resource' &&
    textAt(metric, 'resource', 'name') === 'cpu' &&
    numberAt(metric, 'resource', 'target', 'averageUtilization') !== undefined
  );
}

function toVersion1(stored: ApiObject): ApiObject {
  const { metrics: _metrics, behavior: _behavior, ...spec } = fieldsAt(stored, 'spec') ?? {};
  const { currentMetrics: _current, conditions: _conditions, ...status } = fieldsAt(stored, 'status') ?? {};
  const all = listAt(stored, 'spec', 'metrics');
  const cpu = all.find(isCpuUtilization);
  const others = all.filter((metric) => metric !== cpu);
  const now = listAt(stored, 'status', 'currentMetrics').find((metric) => textAt(metric, 'resource', 'name') === 'cpu');
  const current = numberAt(now, 'resource', 'current', 'averageUtilization');
  const target = numberAt(cpu, 'resource', 'target', 'averageUtilization');
  const annotations = { ...stored.metadata.annotations };
  if (others.length > 0) annotations[METRICS] = JSON.stringify(others);
  return {
    ...stored,
    apiVersion: 'autoscaling/v1',
    metadata: Object.keys(annotations).length === 0 ? stored.metadata : { ...stored.metadata, annotations },
    spec: withoutAbsent({ ...spec, targetCPUUtilizationPercentage: target }),
    status: withoutAbsent({ currentReplicas: 0, ...status, currentCPUUtilizationPercentage: current }),
  };
}

function toVersion2(served: ApiObject): ApiObject {
  const { targetCPUUtilizationPercentage: target, ...spec } = fieldsAt(served, 'spec') ?? {};
  const { currentCPUUtilizationPercentage: current, ...status } = fieldsAt(served, 'status') ?? {};
  const { [METRICS]: kept, ...annotations } = served.metadata.annotations ?? {};
  const metrics: unknown[] = kept === undefined ? [] : parsedMetrics(kept);
  if (typeof target === 'number')
    metrics.push(cpuMetric({ target: { type: 'Utilization', averageUtilization: target } }));
  const { annotations: _before, ...metadata } = served.metadata;
  return {
    ...served,
    apiVersion: 'autoscaling/v2',
    metadata: Object.keys(annotations).length === 0 ? metadata : { ...metadata, annotations },
    spec: { ...spec, ...(metrics.length > 0 && { metrics }) },
    status: { ...status, ...(typeof current === 'number' && { currentMetrics: [measured(current)] }) },
  };
}

const measured = (averageUtilization: number): Fields => cpuMetric({ current: { averageUtilization } });

function cpuMetric(detail: Fields): Fields {
  return { type: 'Resource', resource: { name: 'cpu', ...detail } };
}

/** Returns the metrics in the annotation; none if it is not valid JSON. */
function parsedMetrics(text: string): unknown[] {
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? parsed.filter(isFields) : [];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

export const autoscalersView: StorageView = {
  group: 'autoscaling',
  plural: 'horizontalpodautoscalers',
  decode: toVersion1,
  encode: toVersion2,
};

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
