/** What a Deployment reports of a rollout: counts, and whether it gets anywhere within its progress deadline. */
import type { Deployment, ReplicaSet } from '../../api/kinds.ts';
import { timestamp } from '../../units/timestamp.ts';
import { rolloutBounds } from './rollout.ts';

type Status = NonNullable<Deployment['status']>;
type Condition = NonNullable<Status['conditions']>[number];

interface Rollout {
  /** The ReplicaSet of the present template; undefined before it is made. */
  readonly current: ReplicaSet | undefined;
  readonly old: readonly ReplicaSet[];
  /** Whether `current` has just been made. */
  readonly created: boolean;
}

/** What the API server takes for "no deadline". */
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
    // The typings that we use are older than this field.
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

/** Milliseconds until a rollout that gets nowhere must be reported as stuck. */
export function untilDeadline(deployment: Deployment, status: Status, now: number): number | undefined {
  const deadline = deadlineOf(deployment);
  const known = status.conditions?.find(({ type }) => type === PROGRESSING);
  if (deadline === undefined || known === undefined || deployment.spec?.paused) return undefined;
  // A rollout that was complete cannot be late, whatever its pods do then.
  if (known.reason === TIMED_OUT || known.reason === COMPLETE || isComplete(deployment, status)) return undefined;
  return Date.parse(known.lastUpdateTime ?? '') + deadline - now + 1_000;
}

/** A pause is no lack of progress: the deadline counts from when it ends. */
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

/** Pods came, became ready or available, or old ones went. */
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

/** Milliseconds; undefined when the Deployment sets none. */
function deadlineOf({ spec }: Deployment): number | undefined {
  const { progressDeadlineSeconds: seconds } = spec ?? {};
  return seconds === undefined || seconds === NO_DEADLINE ? undefined : seconds * 1000;
}

/** Conditions in the order in which they last changed, as the deployment controller keeps them. */
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

  /** Keeps a condition with the same status and reason as it is, unless `touch` asks for a new update time. */
  set(type: string, status: 'True' | 'False' | 'Unknown', reason: string, message: string, touch?: 'touch'): void {
    const known = this.get(type);
    if (known?.status === status && known.reason === reason && touch === undefined) return;
    this.remove(type);
    const lastTransitionTime = (known?.status === status && known.lastTransitionTime) || this.now;
    this.list.push({ type, status, reason, message, lastUpdateTime: this.now, lastTransitionTime });
  }
}
