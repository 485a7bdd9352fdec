/** The kubelets behind the API server: logs of containers, and connections into them. */
import { listAt, textAt, type ApiObject } from '../fields.ts';
import { badRequest, invalid } from '../status.ts';
import { Check } from '../strategies/check.ts';
import type { ApiRequest } from './message.ts';
import { integer } from './requestOptions.ts';

export interface LogOptions {
  readonly container: string;
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  readonly tailLines: number | undefined;
  readonly limitBytes: number | undefined;
  /** Milliseconds since the epoch. */
  readonly since: number | undefined;
}

/** The kubelets of a cluster. */
export interface KubeletApi {
  /** Returns the log lines of a container; undefined if the kubelet does not respond. Throws errors of the kubelet. */
  logs(pod: ApiObject, options: LogOptions, signal: AbortSignal): AsyncIterable<string> | undefined;
  /** Returns the kubelet's error for a connection into a container; undefined if the kubelet does not respond. */
  refuseEntry(pod: ApiObject, way: string): Error | undefined;
}

export function logOptions({ query }: ApiRequest, pod: ApiObject, now: number): LogOptions {
  const [tailLines, limitBytes, sinceSeconds] = ['tailLines', 'limitBytes', 'sinceSeconds'].map((name) =>
    integer(query, name),
  );
  const sinceTime = query.get('sinceTime') ?? '';
  const check = new Check({ tailLines });
  check.notNegative('tailLines');
  for (const [field, value] of Object.entries({ limitBytes, sinceSeconds })) {
    if (value !== undefined && value < 1) check.invalid(field, value, 'must be greater than 0');
  }
  if (check.errors.length > 0) throw invalid({ group: '', kind: 'PodLogOptions' }, pod.metadata.name, check.errors);
  const flag = (name: string): boolean => ['true', '1'].includes(query.get(name) ?? '');
  return {
    container: containerOf(pod, query.get('container') ?? ''),
    follow: flag('follow'),
    previous: flag('previous'),
    timestamps: flag('timestamps'),
    tailLines,
    limitBytes,
    since: sinceSeconds === undefined ? moment(sinceTime) : now - sinceSeconds * 1000,
  };
}

function moment(text: string): number | undefined {
  const parsed = Date.parse(text);
  return Number.isNaN(parsed) ? undefined : parsed;
}

const CONTAINERS = ['initContainers', 'containers', 'ephemeralContainers'] as const;

/** Returns the requested container, by default the only one; throws if there is no such container or a choice. */
export function containerOf(pod: ApiObject, asked: string): string {
  const all = CONTAINERS.flatMap((field) => listAt(pod, 'spec', field).map((one) => textAt(one, 'name') ?? ''));
  const { name } = pod.metadata;
  if (asked !== '') {
    if (all.includes(asked)) return asked;
    throw badRequest(`container ${asked} is not valid for pod ${name}`);
  }
  const [only, another] = all;
  if (only !== undefined && another === undefined) return only;
  throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${all.join(' ')}]`);
}
