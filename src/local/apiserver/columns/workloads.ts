/** Tables of what makes pods. */
import { at, listAt, numberAt, textAt, type ApiObject } from '../fields.ts';
import { age, humanDuration } from '../humanTime.ts';
import type { Column } from '../resource.ts';
import {
  ageColumn,
  boolean,
  count,
  figure,
  integer,
  labelText,
  nameColumn,
  NONE,
  selectorText,
  templateColumns,
  text,
} from './column.ts';

const TEMPLATE = ['spec', 'template'];
const bySelector = (object: ApiObject): string => selectorText(at(object, 'spec', 'selector'));

export const deploymentColumns: readonly Column[] = [
  nameColumn,
  text('Ready', (object) => `${count(object, 'status', 'readyReplicas')}/${count(object, 'spec', 'replicas')}`),
  text('Up-to-date', (object) => count(object, 'status', 'updatedReplicas')),
  text('Available', (object) => count(object, 'status', 'availableReplicas')),
  ageColumn,
  ...templateColumns(TEMPLATE, bySelector),
];

export const replicaSetColumns: readonly Column[] = [
  nameColumn,
  integer('Desired', (object) => count(object, 'spec', 'replicas')),
  integer('Current', (object) => count(object, 'status', 'replicas')),
  integer('Ready', (object) => count(object, 'status', 'readyReplicas')),
  ageColumn,
  ...templateColumns(TEMPLATE, bySelector),
];

export const replicationControllerColumns: readonly Column[] = [
  ...replicaSetColumns.slice(0, 5),
  ...templateColumns(TEMPLATE, (object) => labelText(at(object, 'spec', 'selector'))),
];

export const statefulSetColumns: readonly Column[] = [
  nameColumn,
  text('Ready', (object) => `${count(object, 'status', 'readyReplicas')}/${count(object, 'spec', 'replicas')}`),
  ageColumn,
  ...templateColumns(TEMPLATE, undefined),
];

export const daemonSetColumns: readonly Column[] = [
  nameColumn,
  integer('Desired', (object) => count(object, 'status', 'desiredNumberScheduled')),
  integer('Current', (object) => count(object, 'status', 'currentNumberScheduled')),
  integer('Ready', (object) => count(object, 'status', 'numberReady')),
  integer('Up-to-date', (object) => count(object, 'status', 'updatedNumberScheduled')),
  integer('Available', (object) => count(object, 'status', 'numberAvailable')),
  text('Node Selector', (object) => labelText(at(object, 'spec', 'template', 'spec', 'nodeSelector'))),
  ageColumn,
  ...templateColumns(TEMPLATE, bySelector),
];

function jobCondition(job: ApiObject, type: string): boolean {
  return listAt(job, 'status', 'conditions').some(
    (entry) => textAt(entry, 'type') === type && textAt(entry, 'status') === 'True',
  );
}

function jobStatus(job: ApiObject): string {
  if (jobCondition(job, 'Complete')) return 'Complete';
  if (jobCondition(job, 'Failed')) return 'Failed';
  if (job.metadata.deletionTimestamp !== undefined) return 'Terminating';
  if (jobCondition(job, 'Suspended')) return 'Suspended';
  if (jobCondition(job, 'FailureTarget')) return 'FailureTarget';
  if (jobCondition(job, 'SuccessCriteriaMet')) return 'SuccessCriteriaMet';
  return 'Running';
}

function jobCompletions(job: ApiObject): string {
  const succeeded = count(job, 'status', 'succeeded');
  const wanted = numberAt(job, 'spec', 'completions');
  if (wanted !== undefined) return `${succeeded}/${wanted}`;
  const parallelism = count(job, 'spec', 'parallelism');
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function jobDuration(job: ApiObject, now: number): string {
  const start = Date.parse(textAt(job, 'status', 'startTime') ?? '');
  if (Number.isNaN(start)) return '';
  const end = Date.parse(textAt(job, 'status', 'completionTime') ?? '');
  return humanDuration((Number.isNaN(end) ? now : end) - start);
}

export const jobColumns: readonly Column[] = [
  nameColumn,
  text('Status', jobStatus),
  text('Completions', jobCompletions),
  text('Duration', jobDuration),
  ageColumn,
  ...templateColumns(TEMPLATE, bySelector),
];

export const cronJobColumns: readonly Column[] = [
  nameColumn,
  text('Schedule', (object) => textAt(object, 'spec', 'schedule') ?? ''),
  text('Timezone', (object) => textAt(object, 'spec', 'timeZone') ?? NONE),
  boolean('Suspend', (object) => (at(object, 'spec', 'suspend') === true ? 'True' : 'False')),
  integer('Active', (object) => listAt(object, 'status', 'active').length),
  text('Last Schedule', (object, now) => {
    const last = at(object, 'status', 'lastScheduleTime');
    return last === undefined ? NONE : age(last, now);
  }),
  ageColumn,
  ...templateColumns(['spec', 'jobTemplate', 'spec', 'template'], (object) =>
    selectorText(at(object, 'spec', 'jobTemplate', 'spec', 'selector')),
  ),
];

export const controllerRevisionColumns: readonly Column[] = [
  nameColumn,
  text('Controller', (object) => {
    const owner = object.metadata.ownerReferences?.find((reference) => reference.controller === true);
    if (owner === undefined) return NONE;
    const group = owner.apiVersion.includes('/') ? `.${owner.apiVersion.split('/')[0] ?? ''}` : '';
    return `${owner.kind.toLowerCase()}${group}/${owner.name}`;
  }),
  text('Revision', (object) => count(object, 'revision')),
  ageColumn,
];

export const podTemplateColumns: readonly Column[] = [
  nameColumn,
  ...templateColumns(['template'], undefined).map((column) => ({ ...column, priority: 0 })),
  text('Pod Labels', (object) => labelText(at(object, 'template', 'metadata', 'labels'))),
];

const percentOrNumber = (value: unknown): string =>
  typeof value === 'number' || typeof value === 'string' ? String(value) : 'N/A';

export const budgetColumns: readonly Column[] = [
  nameColumn,
  text('Min Available', (object) => percentOrNumber(at(object, 'spec', 'minAvailable'))),
  text('Max Unavailable', (object) => percentOrNumber(at(object, 'spec', 'maxUnavailable'))),
  integer('Allowed Disruptions', (object) => count(object, 'status', 'disruptionsAllowed')),
  ageColumn,
];

function metricText(spec: unknown, current: unknown): string {
  const name = textAt(spec, 'resource', 'name') ?? textAt(spec, 'type') ?? '';
  const goal = numberAt(spec, 'resource', 'target', 'averageUtilization');
  const now = numberAt(current, 'resource', 'current', 'averageUtilization');
  if (goal !== undefined) return `${name}: ${now === undefined ? '<unknown>' : `${now}%`}/${goal}%`;
  const target = textAt(spec, 'resource', 'target', 'averageValue') ?? '<auto>';
  return `${name}: ${textAt(current, 'resource', 'current', 'averageValue') ?? '<unknown>'}/${target}`;
}

export const autoscalerColumns: readonly Column[] = [
  nameColumn,
  text(
    'Reference',
    (object) =>
      `${textAt(object, 'spec', 'scaleTargetRef', 'kind') ?? ''}/${textAt(object, 'spec', 'scaleTargetRef', 'name') ?? ''}`,
  ),
  text('Targets', (object) => {
    const current = listAt(object, 'status', 'currentMetrics');
    const parts = listAt(object, 'spec', 'metrics').map((spec, index) => metricText(spec, current[index]));
    return parts.length === 0
      ? NONE
      : parts.slice(0, 2).join(', ') + (parts.length > 2 ? ` + ${parts.length - 2} more...` : '');
  }),
  text('MinPods', (object) => String(numberAt(object, 'spec', 'minReplicas') ?? '<unset>')),
  figure('MaxPods', (object) => count(object, 'spec', 'maxReplicas')),
  figure('Replicas', (object) => count(object, 'status', 'currentReplicas')),
  ageColumn,
];
