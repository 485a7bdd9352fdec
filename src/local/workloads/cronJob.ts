/** CronJobs. In: schedules. Out: Jobs at their times, within the concurrency policy, and no more old ones than wanted. */
import { Kinds, type CronJob, type Job } from '../../api/kinds.ts';
import { ignoreNotFound, isAlreadyExists } from '../../kube/errors.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Controller, ReconcileResult } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { refOf, watch } from '../../kube/runtime/watch.ts';
import { patchStatus } from '../../kube/statusPatch.ts';
import { Schedule } from '../../units/schedule.ts';
import { timestamp } from '../../units/timestamp.ts';
import { UnitError } from '../../units/unitError.ts';
import { finishedAs } from './job.ts';
import { BY_CONTROLLER, controllerOf } from './ownedObjects.ts';
import { ownerReference, type WorkloadOptions } from './ownedPods.ts';
import { inZone, type Hits } from './zonedSchedule.ts';

export interface CronJobOptions extends Omit<WorkloadOptions, 'pods'> {
  readonly cronJobs: Informer<CronJob>;
  readonly jobs: Informer<Job>;
}

const MINUTE = 60_000;
const SCHEDULED_AT = 'batch.kubernetes.io/cronjob-scheduled-timestamp';
const BACKGROUND = { propagationPolicy: 'Background' } as const;

export function cronJobController(options: CronJobOptions): Controller {
  const { kube, clock, random, log, cronJobs, jobs, events } = options;

  async function start(cronJob: CronJob, at: number): Promise<void> {
    const { name, namespace } = cronJob.metadata;
    const template = cronJob.spec?.jobTemplate;
    const job = `${name}-${Math.floor(at / MINUTE)}`;
    try {
      await kube.create(Kinds.Job, {
        metadata: {
          name: job,
          ...(namespace && { namespace }),
          ...(template?.metadata?.labels && { labels: template.metadata.labels }),
          annotations: { ...template?.metadata?.annotations, [SCHEDULED_AT]: timestamp(at) },
          ownerReferences: [ownerReference(Kinds.CronJob, cronJob)],
        },
        ...(template?.spec && { spec: template.spec }),
      });
      events.say(Kinds.CronJob, cronJob, 'SuccessfulCreate', `Created job ${job}`);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }

  async function remove(cronJob: CronJob, { metadata: { name, namespace } }: Job): Promise<void> {
    await ignoreNotFound(kube.delete(Kinds.Job, { name, namespace }, BACKGROUND));
    events.say(Kinds.CronJob, cronJob, 'SuccessfulDelete', `Deleted job ${name}`);
  }

  async function forget(
    cronJob: CronJob,
    all: readonly Job[],
    as: 'Complete' | 'Failed',
    limit: number,
  ): Promise<void> {
    const finished = all
      .filter((job) => finishedAs(job) === as && !job.metadata.deletionTimestamp)
      .sort((left, right) => (left.status?.startTime ?? '').localeCompare(right.status?.startTime ?? ''));
    for (const job of finished.slice(0, Math.max(0, finished.length - limit))) await remove(cronJob, job);
  }

  /** The latest moment that should have had its Job and has none yet. */
  function missed(cronJob: CronJob, schedule: Hits, now: number): number | undefined {
    const latest = schedule.previous(now);
    const since = Date.parse(cronJob.status?.lastScheduleTime ?? cronJob.metadata.creationTimestamp ?? '');
    if (latest === undefined || latest <= since) return undefined;
    const { startingDeadlineSeconds } = cronJob.spec ?? {};
    const late = startingDeadlineSeconds !== undefined && now - latest > startingDeadlineSeconds * 1000;
    return late ? undefined : latest;
  }

  async function reconcile(key: string): Promise<ReconcileResult | undefined> {
    const cronJob = cronJobs.store.get(refOf(key));
    if (!cronJob?.spec || cronJob.metadata.deletionTimestamp) return undefined;
    const { concurrencyPolicy, suspend, successfulJobsHistoryLimit = 3, failedJobsHistoryLimit = 1 } = cronJob.spec;
    const all = jobs.store.byIndex(BY_CONTROLLER, cronJob.metadata.uid ?? '');
    const active = all.filter((job) => !finishedAs(job));
    for (const { name, uid } of cronJob.status?.active ?? []) {
      const ended = all.find(({ metadata }) => metadata.uid === uid);
      const as = ended && finishedAs(ended);
      if (as) events.say(Kinds.CronJob, cronJob, 'SawCompletedJob', `Saw completed job: ${name}, condition: ${as}`);
    }
    await forget(cronJob, all, 'Complete', successfulJobsHistoryLimit);
    await forget(cronJob, all, 'Failed', failedJobsHistoryLimit);
    const schedule = hitsOf(cronJob.spec);
    const now = clock.now();
    const due = suspend || !schedule ? undefined : missed(cronJob, schedule, now);
    let lastScheduleTime = cronJob.status?.lastScheduleTime;
    if (due !== undefined && !(concurrencyPolicy === 'Forbid' && active.length > 0)) {
      if (concurrencyPolicy === 'Replace') for (const job of active) await remove(cronJob, job);
      await start(cronJob, due);
      lastScheduleTime = timestamp(due);
    }
    const ends = all
      .filter((job) => finishedAs(job) === 'Complete')
      .map(({ status }) => status?.completionTime ?? '')
      .sort();
    const lastSuccessfulTime = ends.at(-1) || cronJob.status?.lastSuccessfulTime;
    await patchStatus(kube, Kinds.CronJob, cronJob, {
      ...cronJob,
      status: {
        ...(active.length > 0 && {
          active: active.map(({ metadata }) => ({
            apiVersion: 'batch/v1',
            kind: 'Job',
            name: metadata.name,
            ...(metadata.namespace && { namespace: metadata.namespace }),
            ...(metadata.uid && { uid: metadata.uid }),
          })),
        }),
        ...(lastScheduleTime && { lastScheduleTime }),
        ...(lastSuccessfulTime && { lastSuccessfulTime }),
      },
    });
    const next = suspend ? undefined : schedule?.next(now);
    return next === undefined ? undefined : { requeueAfter: next - now };
  }

  return reconciler({
    name: 'local.cronjob',
    concurrency: 4,
    clock,
    random,
    log,
    watches: [
      watch(cronJobs),
      watch(jobs, ({ object }) => {
        const owner = controllerOf(object);
        return owner?.kind === 'CronJob' ? [`${object.metadata.namespace ?? ''}/${owner.name}`] : [];
      }),
    ],
    reconcile,
  });
}

/** Undefined for a schedule or a time zone that cannot be read: such a CronJob never fires. */
function hitsOf({ schedule, timeZone }: NonNullable<CronJob['spec']>): Hits | undefined {
  try {
    const parsed = Schedule.parse(schedule);
    return timeZone ? inZone(parsed, timeZone) : parsed;
  } catch (error) {
    if (error instanceof UnitError) return undefined;
    throw error;
  }
}
