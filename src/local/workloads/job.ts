/**
 * Jobs: runs pods, up to the parallelism, until enough have succeeded or too many have failed. Each finished pod is
 * counted exactly once: it keeps a finalizer until the Job's status contains it.
 */
import { Kinds, type Job, type Pod } from '../../api/kinds.ts';
import { ignoreNotFound } from '../../kube/errors.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { keyOf, watch } from '../../kube/runtime/watch.ts';
import { isActive, isTerminal, isTerminating } from '../../pods/podPredicates.ts';
import { timestamp } from '../../units/timestamp.ts';
import { BY_CONTROLLER, controllerOf } from '../clusterInformers.ts';
import { controlLoop, soonest, type ControlPlaneContext, type NextLook } from '../controlLoop.ts';
import { refTo, setFinalizers, writeStatus } from '../writes.ts';
import {
  COMPLETION_INDEX,
  failureVerdict,
  JOB_TRACKING,
  judgeJob,
  nextPods,
  type JobTally,
  type Outcome,
} from './jobProgress.ts';
import { OwnedPods } from './ownedPods.ts';
import { isReady } from './podState.ts';

type Status = NonNullable<Job['status']>;
type JobCondition = NonNullable<Status['conditions']>[number];

const isTracked = (pod: Pod): boolean => pod.metadata.finalizers?.includes(JOB_TRACKING) ?? false;
/** Whether a pod has ended, or counts as failed because it is being deleted. */
const isOver = (pod: Pod): boolean => isTerminal(pod) || isTerminating(pod);
const hasSucceeded = (pod: Pod): boolean => pod.status?.phase === 'Succeeded';

export const finishedAs = (job: Job): 'Complete' | 'Failed' | undefined => {
  const found = job.status?.conditions?.find(
    ({ type, status }) => status === 'True' && (type === 'Complete' || type === 'Failed'),
  );
  return found?.type as 'Complete' | 'Failed' | undefined;
};

export function jobControllers(context: ControlPlaneContext): readonly Controller[] {
  const { kube, clock, informers, eventsOf } = context;
  const { jobs, pods } = informers;
  const events = eventsOf('job-controller');
  const owned = new OwnedPods(Kinds.Job, context, events);

  async function release(pod: Pod): Promise<void> {
    const finalizers = (pod.metadata.finalizers ?? []).filter((finalizer) => finalizer !== JOB_TRACKING);
    await setFinalizers(kube, Kinds.Pod, pod, finalizers);
  }

  async function createPods(job: Job, indexes: readonly (number | undefined)[]): Promise<void> {
    const template = job.spec?.template;
    if (!template) return;
    for (const index of indexes) {
      const mark = index === undefined ? {} : { [COMPLETION_INDEX]: String(index) };
      await owned.create(job, template, {
        ...(index !== undefined && { generateName: `${job.metadata.name}-${index}-` }),
        labels: mark,
        annotations: mark,
        finalizers: [JOB_TRACKING],
      });
    }
  }

  /**
   * Counts ended pods in two steps: first by UID in the status, then, when their finalizer is gone, in its totals. So an
   * interruption neither loses a pod nor counts it twice.
   */
  function tallyOf(job: Job, pods: readonly Pod[]): JobTally {
    const noted = job.status?.uncountedTerminatedPods;
    const present = new Set(pods.filter(isTracked).map(({ metadata }) => metadata.uid ?? ''));
    const settle = (uids: readonly string[] | undefined): [string[], number] => {
      const waiting = (uids ?? []).filter((uid) => present.has(uid));
      return [waiting, (uids ?? []).length - waiting.length];
    };
    const [succeededNoted, succeededSettled] = settle(noted?.succeeded);
    const [failedNoted, failedSettled] = settle(noted?.failed);
    const known = new Set([...succeededNoted, ...failedNoted]);
    const over = pods.filter((pod) => isTracked(pod) && isOver(pod) && !known.has(pod.metadata.uid ?? ''));
    const ended = over.filter((pod) => hasSucceeded(pod));
    const broken = over.filter((pod) => !hasSucceeded(pod));
    const counted = broken.filter((pod) => failureVerdict(job, pod) !== 'Ignore');
    const indexes = new Set((job.status?.completedIndexes ?? '').split(',').flatMap(readRange));
    for (const pod of ended) {
      const index = pod.metadata.annotations?.[COMPLETION_INDEX];
      if (index !== undefined) indexes.add(Number(index));
    }
    return {
      succeeded: (job.status?.succeeded ?? 0) + succeededSettled,
      failed: (job.status?.failed ?? 0) + failedSettled,
      uncounted: {
        succeeded: [...succeededNoted, ...ended.map(({ metadata }) => metadata.uid ?? '')],
        failed: [...failedNoted, ...counted.map(({ metadata }) => metadata.uid ?? '')],
      },
      completedIndexes: indexes,
      mustFail: broken.some((pod) => failureVerdict(job, pod) === 'FailJob'),
      release: pods.filter((pod) => isTracked(pod) && isOver(pod)),
    };
  }

  /** Releases or deletes the remaining pods of a finished Job, and deletes the Job after its time to live. */
  async function finish(job: Job): Promise<NextLook> {
    for (const pod of owned.of(job)) {
      if (isTracked(pod)) await release(pod);
      if (isActive(pod)) await owned.delete(job, pod);
    }
    const { ttlSecondsAfterFinished } = job.spec ?? {};
    if (ttlSecondsAfterFinished === undefined) return undefined;
    const ended = job.status?.conditions?.find(({ type }) => type === finishedAs(job))?.lastTransitionTime ?? '';
    const wait = Date.parse(ended) + ttlSecondsAfterFinished * 1000 - clock.now();
    if (wait > 0) return wait;
    await ignoreNotFound(kube.delete(Kinds.Job, refTo(job), { propagationPolicy: 'Background' }));
    return undefined;
  }

  async function reconcile(job: Job): Promise<NextLook> {
    if (!job.spec) return undefined;
    if (finishedAs(job)) return finish(job);
    const now = clock.now();
    const mine = owned.of(job);
    const tally = tallyOf(job, mine);
    const active = mine.filter(isActive);
    const startTime = job.spec.suspend ? undefined : (job.status?.startTime ?? timestamp(now));
    const verdict = judgeJob(job, tally, active.length, startTime, now);
    const plan = verdict.outcome ? undefined : nextPods(job, tally, mine, now);
    // The Job ends when its last pod has been counted; pods that still run are deleted.
    const ends = verdict.outcome && !mine.some(isTracked) ? verdict.outcome : undefined;
    const conditions = conditionsOf(job, ends && { ...ends, at: timestamp(now) });
    const status: Status = {
      ...(startTime && { startTime }),
      active: active.length,
      ready: active.filter(isReady).length,
      terminating: mine.filter((pod) => isTerminating(pod) && !isTerminal(pod)).length,
      succeeded: tally.succeeded,
      failed: tally.failed,
      uncountedTerminatedPods: tally.uncounted,
      ...(job.spec.completionMode === 'Indexed' && { completedIndexes: writeRanges(tally.completedIndexes) }),
      ...(conditions.length > 0 && { conditions }),
      ...(ends?.type === 'Complete' && { completionTime: timestamp(now) }),
    };
    const written = await writeStatus(kube, Kinds.Job, job, status, { lock: true });
    // The status contains these pods now, so they need no finalizer.
    for (const pod of tally.release) await release(pod);
    if (ends) {
      if (ends.type === 'Complete') events.say(Kinds.Job, job, 'Completed', 'Job completed');
      else events.say(Kinds.Job, job, ends.reason, ends.message, 'Warning');
      return finish(written);
    }
    if (verdict.outcome) for (const pod of active) await owned.delete(job, pod);
    if (plan) {
      for (const pod of plan.remove) await owned.delete(job, pod);
      await createPods(job, plan.create);
    }
    return soonest(plan?.wait, verdict.deadlineIn);
  }

  /** Removes the finalizer of a pod whose Job is gone or being deleted, and so will not count it. */
  async function releaseOrphan(pod: Pod): Promise<NextLook> {
    const owner = controllerOf(pod);
    if (!isTracked(pod) || (owner && owner.kind !== 'Job')) return;
    const job = owner && jobs.store.get({ name: owner.name, namespace: pod.metadata.namespace });
    if (job?.metadata.uid !== owner?.uid || job === undefined || job.metadata.deletionTimestamp) await release(pod);
  }

  const podsOf = ({ metadata: { uid = '' } }: Job): string[] => pods.store.byIndex(BY_CONTROLLER, uid).map(keyOf);
  return [
    controlLoop(context, { name: 'job', of: jobs, also: [owned.watch()], gathers: true, reconcile }),
    controlLoop(context, {
      name: 'job.orphans',
      of: pods,
      when: ({ type, object }) => type !== 'deleted' && isTracked(object),
      also: [
        watch(jobs, ({ type, object }) =>
          type === 'deleted' || object.metadata.deletionTimestamp ? podsOf(object) : [],
        ),
      ],
      untilGone: true,
      reconcile: releaseOrphan,
    }),
  ];
}

function conditionsOf(job: Job, outcome: (Outcome & { readonly at: string }) | undefined): JobCondition[] {
  const before = job.status?.conditions ?? [];
  if (!outcome) return before;
  const { type, reason, message, at } = outcome;
  const types = [type === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget', type];
  const common = { status: 'True', reason, message, lastProbeTime: at, lastTransitionTime: at } as const;
  return [...before, ...types.map((each) => ({ type: each, ...common }))];
}

/** Parses `3` or `5-7`. */
function readRange(text: string): number[] {
  if (text === '') return [];
  const [first = '', last = first] = text.split('-');
  return Array.from({ length: Number(last) - Number(first) + 1 }, (_, offset) => Number(first) + offset);
}

function writeRanges(indexes: ReadonlySet<number>): string {
  const parts: [number, number][] = [];
  for (const index of [...indexes].sort((left, right) => left - right)) {
    const last = parts.at(-1);
    if (last && last[1] === index - 1) last[1] = index;
    else parts.push([index, index]);
  }
  return parts.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(',');
}
