/** The status of a Deployment: counts of pods, and whether the rollout progresses within its deadline. */
import type { Deployment, ReplicaSet } from '../../api/kinds.ts';
import { timestamp } from '../../units/timestamp.ts';
import { rolloutBounds } from './rollout.ts';

type Status = NonNullable<Deployment['status']>;
type Condition = NonNullable<Status['conditions']>[number];

interface Rollout {
  /** The ReplicaSet of the current template; undefined before its creation. */
  readonly current: ReplicaSet | undefined;
  readonly old: readonly ReplicaSet[];
  /** Whether `current` has just been created. */
  readonly created: boolean;
}

/** The value for no deadline. */
const NO_DEADLINE = 2 ** 31 - 1;
const PROGRESSING = 'Progressing';
const TIMED_OUT = 'ProgressDeadlineExceeded';
const COMPLETE = 'NewReplicaSetAvailable';
const PAUSED = 'DeploymentPaused';

export function deploymentStatus(deployment: Deployment, { current, old, created }: Rollout, now: number): Status {
  const all = current ? [current, ...old] : old;
  const sum = (amount: (replicaSet: ReplicaSet) => number | undefined): number =>
    all.reduce((total, each) => total + (amount(each) ?? 0), 0);
  const { replicas: wanted = 1 } = deployment.spec ?? {};
  const availableReplicas = sum(({ status }) => status?.availableReplicas);
  const status = {
    observedGeneration: deployment.metadata.generation ?? 0,
    replicas: sum(({ status }) => status?.replicas),
    updatedReplicas: current?.status?.replicas ?? 0,
    readyReplicas: sum(({ status }) => status?.readyReplicas),
    availableReplicas,
    unavailableReplicas: Math.max(0, sum(({ spec }) => spec?.replicas) - availableReplicas),
    // Our Kubernetes types lack this field.
    terminatingReplicas: sum(({ status }) => (status as { terminatingReplicas?: number })?.terminatingReplicas),
  };
  const conditions = new Conditions(deployment.status?.conditions ?? [], timestamp(now));
  if (deadlineOf(deployment) !== undefined) notePause(deployment, conditions);
  if (created && current && deadlineOf(deployment) !== undefined) {
    conditions.set(PROGRESSING, 'True', 'NewReplicaSetCreated', `Created new replica set "${current.metadata.name}"`);
  }
  if (availableReplicas >= wanted - rolloutBounds(deployment).maxUnavailable) {
    conditions.set('Available', 'True', 'MinimumReplicasAvailable', 'Deployment has minimum availability.');
  } else {
    const message = 'Deployment does not have minimum availability.';
    conditions.set('Available', 'False', 'MinimumReplicasUnavailable', message);
  }
  if (!deployment.spec?.paused) noteProgress(deployment, status, current, conditions, now);
  return { ...status, conditions: conditions.list };
}

/** Returns the milliseconds until the next check of the progress deadline; undefined if none is needed. */
export function untilDeadline(deployment: Deployment, status: Status, now: number): number | undefined {
  const deadline = deadlineOf(deployment);
  const known = status.conditions?.find(({ type }) => type === PROGRESSING);
  if (deadline === undefined || known === undefined || deployment.spec?.paused) return undefined;
  // A complete rollout cannot exceed its deadline, even if it loses pods.
  if (known.reason === TIMED_OUT || known.reason === COMPLETE || isComplete(deployment, status)) return undefined;
  return Date.parse(known.lastUpdateTime ?? '') + deadline - now + 1_000;
}

/** Sets the condition at the start and end of a pause; the deadline counts from the end. */
function notePause({ spec }: Deployment, conditions: Conditions): void {
  const reason = conditions.get(PROGRESSING)?.reason;
  if (reason === TIMED_OUT) return;
  if (spec?.paused) conditions.set(PROGRESSING, 'Unknown', PAUSED, 'Deployment is paused');
  else if (reason === PAUSED) conditions.set(PROGRESSING, 'Unknown', 'DeploymentResumed', 'Deployment is resumed');
}

function noteProgress(
  deployment: Deployment,
  status: Status,
  current: ReplicaSet | undefined,
  conditions: Conditions,
  now: number,
): void {
  const deadline = deadlineOf(deployment);
  if (deadline === undefined) return conditions.remove(PROGRESSING);
  const known = conditions.get(PROGRESSING);
  if (status.replicas === status.updatedReplicas && known?.reason === COMPLETE) return;
  const subject = current ? `ReplicaSet "${current.metadata.name}"` : `Deployment "${deployment.metadata.name}"`;
  const isLate = (): boolean => known !== undefined && Date.parse(known.lastUpdateTime ?? '') + deadline < now;
  if (isComplete(deployment, status)) {
    conditions.set(PROGRESSING, 'True', COMPLETE, `${subject} has successfully progressed.`);
  } else if (hasProgressed(deployment.status, status)) {
    conditions.set(PROGRESSING, 'True', 'ReplicaSetUpdated', `${subject} is progressing.`, 'touch');
  } else if (known?.reason !== COMPLETE && isLate()) {
    conditions.set(PROGRESSING, 'False', TIMED_OUT, `${subject} has timed out progressing.`);
  }
}

/** Whether new pods were created, became ready or available, or old ones were deleted. */
function hasProgressed(before: Status | undefined, after: Status): boolean {
  const grew = (field: 'updatedReplicas' | 'readyReplicas' | 'availableReplicas'): boolean =>
    (after[field] ?? 0) > (before?.[field] ?? 0);
  const oldPods = (status: Status | undefined): number => (status?.replicas ?? 0) - (status?.updatedReplicas ?? 0);
  return (
    grew('updatedReplicas') || grew('readyReplicas') || grew('availableReplicas') || oldPods(after) < oldPods(before)
  );
}

function isComplete({ spec }: Deployment, { updatedReplicas, replicas, availableReplicas }: Status): boolean {
  const { replicas: wanted = 1 } = spec ?? {};
  return updatedReplicas === wanted && replicas === wanted && availableReplicas === wanted;
}

/** Returns the progress deadline in milliseconds; undefined if there is none. */
function deadlineOf({ spec }: Deployment): number | undefined {
  const { progressDeadlineSeconds: seconds } = spec ?? {};
  return seconds === undefined || seconds === NO_DEADLINE ? undefined : seconds * 1000;
}

/** Conditions in the order of their last changes, like the deployment controller's. */
class Conditions {
  list: Condition[];
  private readonly now: string;

  constructor(before: readonly Condition[], now: string) {
    this.list = [...before];
    this.now = now;
  }

  get(type: string): Condition | undefined {
    return this.list.find((condition) => condition.type === type);
  }

  remove(type: string): void {
    this.list = this.list.filter((condition) => condition.type !== type);
  }

  /** Sets a condition; keeps one with the same status and reason unless `touch` requests a new update time. */
  set(type: string, status: 'True' | 'False' | 'Unknown', reason: string, message: string, touch?: 'touch'): void {
    const known = this.get(type);
    if (known?.status === status && known.reason === reason && touch === undefined) return;
    this.remove(type);
    const lastTransitionTime = (known?.status === status && known.lastTransitionTime) || this.now;
    this.list.push({ type, status, reason, message, lastUpdateTime: this.now, lastTransitionTime });
  }
}
