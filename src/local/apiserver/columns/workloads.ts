/** Table cells of workloads, autoscalers and disruption budgets. */
import { at, listAt, numberAt, textAt, type ApiObject } from '../fields.ts';
import { age, humanDuration } from '../humanTime.ts';
import { conditionOf, count, firstOf, NONE, type Cells } from './column.ts';

/** The first true condition is the status; deletion (Terminating) comes after the ends and before the other states. */
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

function metricText(spec: unknown, current: unknown): string {
  const name = textAt(spec, 'resource', 'name') ?? textAt(spec, 'type') ?? '';
  const goal = numberAt(spec, 'resource', 'target', 'averageUtilization');
  const now = numberAt(current, 'resource', 'current', 'averageUtilization');
  if (goal !== undefined) return `${name}: ${now === undefined ? '<unknown>' : `${now}%`}/${goal}%`;
  const target = textAt(spec, 'resource', 'target', 'averageValue') ?? '<auto>';
  return `${name}: ${textAt(current, 'resource', 'current', 'averageValue') ?? '<unknown>'}/${target}`;
}

function metricTargets(object: ApiObject): string {
  const current = listAt(object, 'status', 'currentMetrics');
  const all = listAt(object, 'spec', 'metrics').map((spec, index) => metricText(spec, current[index]));
  return firstOf(all, 2, NONE, ', ');
}

export const workloadCells: Cells = {
  readyReplicas: (object) => `${count(object, 'status', 'readyReplicas')}/${count(object, 'spec', 'replicas')}`,
  jobStatus,
  jobCompletions,
  jobDuration,
  suspended: (job) => (at(job, 'spec', 'suspend') === true ? 'True' : 'False'),
  lastSchedule,
  controller,
  metricTargets,
};
