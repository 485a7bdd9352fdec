/** CronJobs: creates Jobs on schedule, within the concurrency policy, and deletes old ones beyond the history limits. */
import { Kinds, type CronJob, type Job } from '../../api/kinds.ts';
import { ignoreNotFound } from '../../kube/errors.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { Schedule } from '../../units/schedule.ts';
import { timestamp } from '../../units/timestamp.ts';
import { UnitError } from '../../units/unitError.ts';
import { BY_CONTROLLER } from '../clusterInformers.ts';
import { controlLoop, watchOwned, type ControlPlaneContext, type NextLook } from '../controlLoop.ts';
import { createIfAbsent, inNamespaceOf, ownerReference, refTo, writeStatus } from '../writes.ts';
import { finishedAs } from './job.ts';
import { inZone, type Occurrences } from './zonedSchedule.ts';

type Reference = NonNullable<NonNullable<CronJob['status']>['active']>[number];

const MINUTE = 60_000;
const SCHEDULED_AT = 'batch.kubernetes.io/cronjob-scheduled-timestamp';
const referenceTo = ({ metadata }: Job): Reference => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  name: metadata.name,
  ...inNamespaceOf({ metadata }),
  ...(metadata.uid && { uid: metadata.uid }),
  ...(metadata.resourceVersion && { resourceVersion: metadata.resourceVersion }),
});

export function cronJobController(context: ControlPlaneContext): Controller {
  const { kube, clock, informers, eventsOf } = context;
  const { cronJobs, jobs } = informers;
  const events = eventsOf('cronjob-controller');

  async function start(cronJob: CronJob, at: number): Promise<Job> {
    const template = cronJob.spec?.jobTemplate;
    const name = `${cronJob.metadata.name}-${Math.floor(at / MINUTE)}`;
    const created = await createIfAbsent(kube, Kinds.Job, {
      metadata: {
        name,
        ...inNamespaceOf(cronJob),
        ...(template?.metadata?.labels && { labels: template.metadata.labels }),
        annotations: { ...template?.metadata?.annotations, [SCHEDULED_AT]: timestamp(at) },
        ownerReferences: [ownerReference(Kinds.CronJob, cronJob)],
      },
      ...(template?.spec && { spec: template.spec }),
    });
    if (created) events.say(Kinds.CronJob, cronJob, 'SuccessfulCreate', `Created job ${name}`);
    return created ?? kube.get(Kinds.Job, { name, ...inNamespaceOf(cronJob) });
  }

  async function stop(cronJob: CronJob, job: Job): Promise<void> {
    await ignoreNotFound(kube.delete(Kinds.Job, refTo(job), { propagationPolicy: 'Background' }));
    events.say(Kinds.CronJob, cronJob, 'SuccessfulDelete', `Deleted job ${job.metadata.name}`);
  }

  async function prune(cronJob: CronJob, all: readonly Job[], as: 'Complete' | 'Failed', limit: number): Promise<void> {
    const finished = all
      .filter((job) => finishedAs(job) === as && !job.metadata.deletionTimestamp)
      .sort((left, right) => (left.status?.startTime ?? '').localeCompare(right.status?.startTime ?? ''));
    for (const job of finished.slice(0, Math.max(0, finished.length - limit))) await stop(cronJob, job);
  }

  /** Returns the CronJob, read again if a Job is in its informer before the status that lists it. */
  async function upToDate(cronJob: CronJob): Promise<CronJob> {
    const listed = new Set((cronJob.status?.active ?? []).map(({ uid }) => uid));
    const all = jobs.store.byIndex(BY_CONTROLLER, cronJob.metadata.uid ?? '');
    if (all.every((job) => finishedAs(job) || listed.has(job.metadata.uid))) return cronJob;
    return (await ignoreNotFound(kube.get(Kinds.CronJob, refTo(cronJob)))) ?? cronJob;
  }

  /** Returns the unfinished Jobs that this controller created; records events about the others. */
  function activeOf(cronJob: CronJob, all: readonly Job[]): Job[] {
    const listed = new Map((cronJob.status?.active ?? []).map(({ uid, name }) => [uid, name]));
    for (const [uid, name] of listed) {
      const job = all.find(({ metadata }) => metadata.uid === uid);
      const as = job && finishedAs(job);
      if (as) events.say(Kinds.CronJob, cronJob, 'SawCompletedJob', `Saw completed job: ${name}, condition: ${as}`);
      if (!job) events.say(Kinds.CronJob, cronJob, 'MissingJob', `Active job went missing: ${name}`);
    }
    const unfinished = all.filter((job) => !finishedAs(job));
    for (const { metadata } of unfinished.filter((job) => !listed.has(job.metadata.uid))) {
      const message = `Saw a job that the controller did not create or forgot: ${metadata.name}`;
      events.say(Kinds.CronJob, cronJob, 'UnexpectedJob', message, 'Warning');
    }
    return unfinished.filter(({ metadata }) => listed.has(metadata.uid));
  }

  async function reconcile(seen: CronJob): Promise<NextLook> {
    const cronJob = await upToDate(seen);
    if (!cronJob.spec) return undefined;
    const { concurrencyPolicy, suspend, successfulJobsHistoryLimit = 3, failedJobsHistoryLimit = 1 } = cronJob.spec;
    const all = jobs.store.byIndex(BY_CONTROLLER, cronJob.metadata.uid ?? '');
    const known = new Map((cronJob.status?.active ?? []).map((reference) => [reference.uid, reference]));
    let active = activeOf(cronJob, all);
    await prune(cronJob, all, 'Complete', successfulJobsHistoryLimit);
    await prune(cronJob, all, 'Failed', failedJobsHistoryLimit);
    const schedule = occurrencesOf(cronJob.spec);
    const now = clock.now();
    const due = suspend || !schedule ? undefined : missed(cronJob, schedule, now);
    let { lastScheduleTime, lastSuccessfulTime } = cronJob.status ?? {};
    if (due !== undefined && !(concurrencyPolicy === 'Forbid' && active.length > 0)) {
      if (concurrencyPolicy === 'Replace') for (const job of active.splice(0)) await stop(cronJob, job);
      active = [...active, await start(cronJob, due)];
      lastScheduleTime = timestamp(due);
    }
    const completed = all.filter((job) => finishedAs(job) === 'Complete');
    for (const { status } of completed) {
      if ((status?.completionTime ?? '') > (lastSuccessfulTime ?? '')) lastSuccessfulTime = status?.completionTime;
    }
    await writeStatus(kube, Kinds.CronJob, cronJob, {
      ...(active.length > 0 && { active: active.map((job) => known.get(job.metadata.uid) ?? referenceTo(job)) }),
      ...(lastScheduleTime && { lastScheduleTime }),
      ...(lastSuccessfulTime && { lastSuccessfulTime }),
    });
    const next = suspend ? undefined : schedule?.next(now);
    return next === undefined ? undefined : next - now;
  }

  return controlLoop(context, {
    name: 'cronjob',
    of: cronJobs,
    also: [watchOwned(jobs, Kinds.CronJob)],
    concurrency: 4,
    reconcile,
  });
}

/** Returns the latest scheduled time whose Job has not been created yet; undefined if there is none or it is too late. */
function missed(cronJob: CronJob, schedule: Occurrences, now: number): number | undefined {
  const latest = schedule.previous(now);
  const since = Date.parse(cronJob.status?.lastScheduleTime ?? cronJob.metadata.creationTimestamp ?? '');
  if (latest === undefined || latest <= since) return undefined;
  const { startingDeadlineSeconds } = cronJob.spec ?? {};
  const late = startingDeadlineSeconds !== undefined && now - latest > startingDeadlineSeconds * 1000;
  return late ? undefined : latest;
}

/** Returns the times of a schedule; undefined if the schedule or time zone is invalid. */
function occurrencesOf({ schedule, timeZone }: NonNullable<CronJob['spec']>): Occurrences | undefined {
  try {
    const parsed = Schedule.parse(schedule);
    return timeZone ? inZone(parsed, timeZone) : parsed;
  } catch (error) {
    if (error instanceof UnitError) return undefined;
    throw error;
  }
}
