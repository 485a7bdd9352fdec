/** Tables of what makes, scales and protects pods. */
import { at, listAt, numberAt, textAt, type ApiObject } from '../fields.ts';
import { age, humanDuration } from '../humanTime.ts';
import {
  AGE,
  conditionOf,
  count,
  figure,
  firstOf,
  integer,
  joined,
  labelText,
  NAME,
  NONE,
  selectorText,
  templateColumns,
  text,
  type Tables,
} from './column.ts';

const bySelector = (object: ApiObject): string => selectorText(at(object, 'spec', 'selector'));
const readyOf = (object: ApiObject): string =>
  `${count(object, 'status', 'readyReplicas')}/${count(object, 'spec', 'replicas')}`;

/** The first of these conditions that holds is the status; a job on its way out is terminating in between. */
const JOB_ENDS = ['Complete', 'Failed'];
const JOB_STATES = ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'];

function jobStatus(job: ApiObject): string {
  const isTrue = (type: string): boolean => textAt(conditionOf(job, type), 'status') === 'True';
  const ended = JOB_ENDS.find(isTrue);
  if (ended !== undefined) return ended;
  return job.metadata.deletionTimestamp === undefined ? (JOB_STATES.find(isTrue) ?? 'Running') : 'Terminating';
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

function lastSchedule(object: ApiObject, now: number): string {
  const last = at(object, 'status', 'lastScheduleTime');
  return last === undefined ? NONE : age(last, now);
}

function controller({ metadata }: ApiObject): string {
  const owner = metadata.ownerReferences?.find((reference) => reference.controller === true);
  if (owner === undefined) return NONE;
  const group = owner.apiVersion.includes('/') ? `.${owner.apiVersion.split('/')[0] ?? ''}` : '';
  return `${owner.kind.toLowerCase()}${group}/${owner.name}`;
}

const share = (field: string) => (budget: ApiObject) => {
  const value = at(budget, 'spec', field);
  return typeof value === 'number' || typeof value === 'string' ? String(value) : 'N/A';
};

function metricText(spec: unknown, current: unknown): string {
  const name = textAt(spec, 'resource', 'name') ?? textAt(spec, 'type') ?? '';
  const goal = numberAt(spec, 'resource', 'target', 'averageUtilization');
  const now = numberAt(current, 'resource', 'current', 'averageUtilization');
  if (goal !== undefined) return `${name}: ${now === undefined ? '<unknown>' : `${now}%`}/${goal}%`;
  const target = textAt(spec, 'resource', 'target', 'averageValue') ?? '<auto>';
  return `${name}: ${textAt(current, 'resource', 'current', 'averageValue') ?? '<unknown>'}/${target}`;
}

function targets(object: ApiObject): string {
  const current = listAt(object, 'status', 'currentMetrics');
  const all = listAt(object, 'spec', 'metrics').map((spec, index) => metricText(spec, current[index]));
  return firstOf(all, 2, NONE, ', ');
}

const REPLICAS = [
  NAME,
  integer('Desired', 'spec.replicas'),
  integer('Current', 'status.replicas'),
  integer('Ready', 'status.readyReplicas'),
  AGE,
];

export const workloadColumns: Tables = {
  Deployment: [
    NAME,
    text('Ready', readyOf),
    figure('Up-to-date', 'status.updatedReplicas'),
    figure('Available', 'status.availableReplicas'),
    AGE,
    ...templateColumns('spec.template', bySelector),
  ],
  ReplicaSet: [...REPLICAS, ...templateColumns('spec.template', bySelector)],
  ReplicationController: [
    ...REPLICAS,
    ...templateColumns('spec.template', (object) => labelText(at(object, 'spec', 'selector'))),
  ],
  StatefulSet: [NAME, text('Ready', readyOf), AGE, ...templateColumns('spec.template')],
  DaemonSet: [
    NAME,
    integer('Desired', 'status.desiredNumberScheduled'),
    integer('Current', 'status.currentNumberScheduled'),
    integer('Ready', 'status.numberReady'),
    integer('Up-to-date', 'status.updatedNumberScheduled'),
    integer('Available', 'status.numberAvailable'),
    text('Node Selector', (object) => labelText(at(object, 'spec', 'template', 'spec', 'nodeSelector'))),
    AGE,
    ...templateColumns('spec.template', bySelector),
  ],
  Job: [
    NAME,
    text('Status', jobStatus),
    text('Completions', jobCompletions),
    text('Duration', jobDuration),
    AGE,
    ...templateColumns('spec.template', bySelector),
  ],
  CronJob: [
    NAME,
    text('Schedule', 'spec.schedule'),
    text('Timezone', 'spec.timeZone', NONE),
    { name: 'Suspend', type: 'boolean', cell: (job) => (at(job, 'spec', 'suspend') === true ? 'True' : 'False') },
    integer('Active', (object) => listAt(object, 'status', 'active').length),
    text('Last Schedule', lastSchedule),
    AGE,
    ...templateColumns('spec.jobTemplate.spec.template', (object) =>
      selectorText(at(object, 'spec', 'jobTemplate', 'spec', 'selector')),
    ),
  ],
  ControllerRevision: [NAME, text('Controller', controller), figure('Revision', 'revision'), AGE],
  PodTemplate: [
    NAME,
    ...templateColumns('template').map((column) => ({ ...column, priority: 0 })),
    text('Pod Labels', (object) => labelText(at(object, 'template', 'metadata', 'labels'))),
  ],
  PodDisruptionBudget: [
    NAME,
    text('Min Available', share('minAvailable')),
    text('Max Unavailable', share('maxUnavailable')),
    integer('Allowed Disruptions', 'status.disruptionsAllowed'),
    AGE,
  ],
  HorizontalPodAutoscaler: [
    NAME,
    text('Reference', (object) => joined(at(object, 'spec', 'scaleTargetRef'), 'kind', 'name')),
    text('Targets', targets),
    text('MinPods', (object) => String(numberAt(object, 'spec', 'minReplicas') ?? '<unset>')),
    figure('MaxPods', 'spec.maxReplicas'),
    figure('Replicas', 'status.currentReplicas'),
    AGE,
  ],
};
