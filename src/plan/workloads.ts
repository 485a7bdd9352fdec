/**
 * The pods that a workload would run, named `<workload>-0`, `-1`, … and completed like in the API server, or its
 * mistakes.
 */
import { InvariantError } from '../errors/invariantError.ts';
import type { Pod } from '../api/kinds.ts';
import { fieldErrorText } from '../api/schema/fieldError.ts';
import { isJsonObject, type JsonObject } from '../api/schema/json.ts';
import type { StructuralSchema } from '../api/schema/structuralSchema.ts';
import { validate } from '../api/schema/validate.ts';
import { Quantity } from '../units/quantity.ts';
import type { Manifest, Mistake } from './manifestDocuments.ts';
import { CRON_JOB_SCHEMA, DAEMON_SET_SCHEMA, JOB_SCHEMA, POD_SCHEMA, REPLICATED_SCHEMA } from './podSchema.ts';

type PodSpec = NonNullable<Pod['spec']>;

/** How a kind creates pods. */
interface WorkloadKind {
  readonly schema: StructuralSchema;
  /** Path of the pod template; empty: the object itself is the pod. */
  readonly template: readonly string[];
  readonly count: (object: JsonObject) => number;
}

const replicas = (object: JsonObject): number => numberAt(object, ['spec', 'replicas']) ?? 1;
const REPLICATED: WorkloadKind = { schema: REPLICATED_SCHEMA, template: ['spec', 'template'], count: replicas };

export const DAEMON_SET = 'apps/DaemonSet';

/** By group and kind; versions do not matter here. */
const WORKLOADS: ReadonlyMap<string, WorkloadKind> = new Map<string, WorkloadKind>([
  ['/Pod', { schema: POD_SCHEMA, template: [], count: (object) => (hasEnded(object) ? 0 : 1) }],
  ['/ReplicationController', REPLICATED],
  ['apps/Deployment', REPLICATED],
  ['apps/ReplicaSet', REPLICATED],
  ['apps/StatefulSet', REPLICATED],
  [DAEMON_SET, { schema: DAEMON_SET_SCHEMA, template: ['spec', 'template'], count: () => 1 }],
  ['batch/Job', { schema: JOB_SCHEMA, template: ['spec', 'template'], count: (job) => runsAtOnce(job, ['spec']) }],
  [
    'batch/CronJob',
    {
      schema: CRON_JOB_SCHEMA,
      template: ['spec', 'jobTemplate', 'spec', 'template'],
      count: (cron) => (at(cron, ['spec', 'suspend']) === true ? 0 : runsAtOnce(cron, ['spec', 'jobTemplate', 'spec'])),
    },
  ],
]);

export function isWorkload(groupKind: string): boolean {
  return WORKLOADS.has(groupKind);
}

export interface Workload {
  readonly name: string;
  readonly namespace: string;
  readonly count: number;
  /** The pod with that name. */
  readonly pod: (name: string) => Pod;
}

export function readWorkload(groupKind: string, manifest: Manifest): Workload | readonly Mistake[] {
  const workload = WORKLOADS.get(groupKind);
  if (workload === undefined) throw new InvariantError(`${groupKind} brings no pods`);
  const { object, metadata } = manifest;
  const { generateName } = metadata;
  const name = manifest.name ?? (typeof generateName === 'string' ? `${generateName}0` : '');
  if (name === '' && metadata['name'] === undefined) return [manifest.mistake('metadata.name', 'FieldRequired', {})];
  const errors = validate(workload.schema, object).filter(({ field }) => field !== '<nil>');
  if (errors.length > 0) {
    return errors.map((error) => manifest.mistake(error.field, 'FieldRefused', { problem: fieldErrorText(error) }));
  }
  const path = workload.template.join('.');
  const template = at(object, workload.template) as JsonObject;
  const spec = template['spec'] as JsonObject;
  const mistakes = amountMistakes(manifest, spec, path === '' ? 'spec' : `${path}.spec`);
  if (mistakes.length > 0) return mistakes;
  const completed = completePodSpec(spec);
  const own = isJsonObject(template['metadata']) ? template['metadata'] : {};
  const { namespace = 'default' } = manifest;
  const shared = {
    namespace,
    ...(isJsonObject(own['labels']) ? { labels: own['labels'] as Record<string, string> } : {}),
    ...(isJsonObject(own['annotations']) ? { annotations: own['annotations'] as Record<string, string> } : {}),
  };
  return {
    name,
    namespace,
    count: workload.count(object),
    pod: (podName) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: podName, ...shared },
      spec: completed,
    }),
  };
}

/** All amounts must be valid quantities and not negative. */
function amountMistakes(manifest: Manifest, spec: JsonObject, path: string): Mistake[] {
  const check = (amounts: unknown, field: string): Mistake[] =>
    Object.entries(isJsonObject(amounts) ? amounts : {}).flatMap(([name, value]) => {
      const quantity = typeof value === 'string' || typeof value === 'number' ? Quantity.tryParse(value) : undefined;
      const where = name.includes('.') ? `${field}[${name}]` : `${field}.${name}`;
      if (quantity === undefined) return [manifest.mistake(where, 'NotAQuantity', { value })];
      return quantity.sign() < 0 ? [manifest.mistake(where, 'NegativeQuantity', { value })] : [];
    });
  const both = (owner: JsonObject, field: string): Mistake[] => {
    const resources = isJsonObject(owner['resources']) ? owner['resources'] : {};
    return ['requests', 'limits'].flatMap((name) => check(resources[name], `${field}.resources.${name}`));
  };
  const containers = ['initContainers', 'containers'].flatMap((list) =>
    listAt(spec, list).flatMap((container, index) => both(container, `${path}.${list}[${index}]`)),
  );
  const isEmpty = listAt(spec, 'containers').length === 0;
  const empty = isEmpty ? [manifest.mistake(`${path}.containers`, 'FieldRequired', {})] : [];
  return [...empty, ...containers, ...both(spec, path), ...check(spec['overhead'], `${path}.overhead`)];
}

/** Defaults of the API server that affect placement. */
function completePodSpec(spec: JsonObject): PodSpec {
  const isHost = spec['hostNetwork'] === true;
  const complete = (container: JsonObject): JsonObject => ({
    ...container,
    // A limit without a request counts as a request of the same size.
    ...(isJsonObject(container['resources']) ? { resources: withRequests(container['resources']) } : {}),
    ...(isHost
      ? { ports: listAt(container, 'ports').map((port) => ({ hostPort: port['containerPort'], ...port })) }
      : {}),
  });
  return {
    ...spec,
    ...(isJsonObject(spec['resources']) ? { resources: withRequests(spec['resources']) } : {}),
    containers: listAt(spec, 'containers').map(complete),
    ...(spec['initContainers'] === undefined ? {} : { initContainers: listAt(spec, 'initContainers').map(complete) }),
  } as unknown as PodSpec;
}

function withRequests(resources: JsonObject): JsonObject {
  const { requests, limits } = resources;
  return {
    ...resources,
    requests: { ...(isJsonObject(limits) ? limits : {}), ...(isJsonObject(requests) ? requests : {}) },
  };
}

/** Maximum number of pods that a Job runs in parallel. */
function runsAtOnce(object: JsonObject, path: readonly string[]): number {
  if (at(object, [...path, 'suspend']) === true) return 0;
  const parallelism = numberAt(object, [...path, 'parallelism']) ?? 1;
  return Math.min(parallelism, numberAt(object, [...path, 'completions']) ?? parallelism);
}

function hasEnded(pod: JsonObject): boolean {
  const phase = at(pod, ['status', 'phase']);
  return phase === 'Succeeded' || phase === 'Failed';
}

function at(object: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => (isJsonObject(value) ? value[name] : undefined), object);
}

function numberAt(object: JsonObject, path: readonly string[]): number | undefined {
  const value = at(object, path);
  return typeof value === 'number' ? value : undefined;
}

function listAt(object: JsonObject, name: string): JsonObject[] {
  const value = object[name];
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
