/** Decides from the counted pods of a Job whether it has ended, and which pods to create or delete next. */
import type { Job, Pod } from '../../api/kinds.ts';
import { isActive } from '../../pods/podPredicates.ts';

export const JOB_TRACKING = 'batch.kubernetes.io/job-tracking';
export const COMPLETION_INDEX = 'batch.kubernetes.io/job-completion-index';
const FIRST_BACKOFF = 10_000;
const MAX_BACKOFF = 600_000;
const MOST_AT_ONCE = 500;

export interface JobTally {
  readonly succeeded: number;
  readonly failed: number;
  /** UIDs of ended pods that are not in the totals yet. */
  readonly uncounted: { readonly succeeded: string[]; readonly failed: string[] };
  readonly completedIndexes: ReadonlySet<number>;
  /** Whether a rule of the failure policy fails the whole Job. */
  readonly mustFail: boolean;
  readonly release: readonly Pod[];
}

export interface Outcome {
  readonly type: 'Complete' | 'Failed';
  readonly reason: string;
  readonly message: string;
}

interface Verdict {
  readonly outcome?: Outcome;
  /** Milliseconds until the active deadline. */
  readonly deadlineIn?: number;
}

/** Returns the action of the Job's failure policy for a failed pod; `Count` by default. */
export function failureVerdict(job: Job, pod: Pod): 'Count' | 'Ignore' | 'FailJob' {
  for (const rule of job.spec?.podFailurePolicy?.rules ?? []) {
    const byCondition = (rule.onPodConditions ?? []).some((pattern) =>
      pod.status?.conditions?.some(
        ({ type, status }) => type === pattern.type && status === (pattern.status || 'True'),
      ),
    );
    const codes = rule.onExitCodes;
    const byCode =
      codes !== undefined &&
      (pod.status?.containerStatuses ?? []).some(({ name, state }) => {
        const code = state?.terminated?.exitCode;
        if (code === undefined || code === 0 || (codes.containerName && codes.containerName !== name)) return false;
        return codes.values.includes(code) === (codes.operator === 'In');
      });
    if (!byCondition && !byCode) continue;
    return rule.action === 'Ignore' || rule.action === 'FailJob' ? rule.action : 'Count';
  }
  return 'Count';
}

export function judgeJob(
  job: Job,
  tally: JobTally,
  active: number,
  startTime: string | undefined,
  now: number,
): Verdict {
  const { completions, backoffLimit = 6, activeDeadlineSeconds } = job.spec ?? {};
  const succeeded = tally.succeeded + tally.uncounted.succeeded.length;
  const failed = tally.failed + tally.uncounted.failed.length;
  const fail = (reason: string, message: string): Verdict => ({ outcome: { type: 'Failed', reason, message } });
  if (tally.mustFail) return fail('PodFailurePolicy', 'A pod failed in a way that the failure policy does not allow');
  if (failed > backoffLimit) return fail('BackoffLimitExceeded', 'Job has reached the specified backoff limit');
  const done = job.spec?.completionMode === 'Indexed' ? tally.completedIndexes.size : succeeded;
  // Without completions, the Job is a work queue: complete after one success when no pod is active.
  const complete = completions === undefined ? succeeded > 0 && active === 0 : done >= completions;
  if (complete) {
    const message = 'Reached expected number of succeeded pods';
    return { outcome: { type: 'Complete', reason: 'CompletionsReached', message } };
  }
  if (activeDeadlineSeconds === undefined || startTime === undefined) return {};
  const deadlineIn = Date.parse(startTime) + activeDeadlineSeconds * 1000 - now;
  return deadlineIn > 0 ? { deadlineIn } : fail('DeadlineExceeded', 'Job was active longer than specified deadline');
}

interface Plan {
  /** The completion index of each pod to create; undefined if the Job is not indexed. */
  readonly create: readonly (number | undefined)[];
  readonly remove: readonly Pod[];
  /** Milliseconds until failed pods may be replaced. */
  readonly wait?: number;
}

export function nextPods(job: Job, tally: JobTally, pods: readonly Pod[], now: number): Plan {
  const active = pods.filter(isActive);
  const { completions, parallelism = 1, suspend } = job.spec ?? {};
  const succeeded = tally.succeeded + tally.uncounted.succeeded.length;
  const indexed = job.spec?.completionMode === 'Indexed';
  const done = indexed ? tally.completedIndexes.size : succeeded;
  const open = completions === undefined ? (succeeded > 0 ? active.length : parallelism) : completions - done;
  const wanted = suspend ? 0 : Math.max(0, Math.min(parallelism, open));
  if (active.length > wanted) {
    const youngest = [...active].sort((left, right) =>
      (right.metadata.creationTimestamp ?? '').localeCompare(left.metadata.creationTimestamp ?? ''),
    );
    return { create: [], remove: youngest.slice(0, active.length - wanted) };
  }
  if (active.length === wanted) return { create: [], remove: [] };
  const wait = backoffLeft(tally, pods, now);
  if (wait > 0) return { create: [], remove: [], wait };
  const count = Math.min(wanted - active.length, MOST_AT_ONCE);
  if (!indexed) return { create: Array.from({ length: count }, () => undefined), remove: [] };
  const busy = new Set(active.map((pod) => Number(pod.metadata.annotations?.[COMPLETION_INDEX])));
  const create: number[] = [];
  for (let index = 0; index < (completions ?? 0) && create.length < count; index++) {
    if (!busy.has(index) && !tally.completedIndexes.has(index)) create.push(index);
  }
  return { create, remove: [] };
}

/** Returns the remaining back-off after failures: 10 s, doubled by each failure, up to ten minutes. */
function backoffLeft(tally: JobTally, pods: readonly Pod[], now: number): number {
  const failures = tally.failed + tally.uncounted.failed.length;
  if (failures === 0) return 0;
  const ended = pods
    .filter((pod) => !isActive(pod) && pod.status?.phase !== 'Succeeded')
    .map((pod) => {
      const ends = (pod.status?.containerStatuses ?? []).map(({ state }) => state?.terminated?.finishedAt ?? '');
      return Date.parse(ends.sort().at(-1) || pod.metadata.deletionTimestamp || '');
    })
    .filter((at) => !Number.isNaN(at));
  if (ended.length === 0) return 0;
  const backoff = Math.min(MAX_BACKOFF, FIRST_BACKOFF * 2 ** (failures - 1));
  return Math.max(...ended) + backoff - now;
}
