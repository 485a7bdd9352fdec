/** Renders notices. Types, reasons and most messages are Karpenter's, because dashboards and alerts match them. */
import { Duration } from '../units/duration.ts';
import { timestamp } from '../units/timestamp.ts';
import { disruptionNoticeText } from './disruptionNoticeText.ts';
import type { Notice, NoticeText, ResourceShortfall } from './notice.ts';
import { objectionText } from './objectionText.ts';
import { reasonText } from './reasonText.ts';
import { nominationTargets } from './recordText.ts';

const INSUFFICIENT = 'InsufficientCapacityError';
const ACCEPTED_AND_FAILED = 'AsyncProvisioningError';
/** Reasons of events of NodeClaims for which no instance could be had. */
export const LAUNCH_FAILED: readonly string[] = [INSUFFICIENT, ACCEPTED_AND_FAILED];

const LAUNCH_LIMIT = 300;
const ACCEPTED_LAUNCH_LIMIT = 500;
const SHOWN_NAMES = 5;

export function noticeText(notice: Notice): NoticeText {
  switch (notice.kind) {
    case 'nominated':
      return normal('Nominated', `Pod should schedule on: ${nominationTargets(notice).join(', ')}`);
    case 'unschedulable':
      return warning('FailedScheduling', `Failed to schedule pod, ${reasonText(notice.reason)}`);
    case 'ignored':
      return warning('FailedScheduling', `Failed to schedule pod, ${objectionText(notice.objection)}`);
    case 'no-instance-types':
      return warning(
        'NoCompatibleInstanceTypes',
        'NodePool requirements filtered out all compatible available instance types',
      );
    case 'insufficient-capacity':
      return warning(INSUFFICIENT, launchMessage(notice.nodeClaim, notice.problem));
    case 'node-class-not-ready':
      return warning('NodeClassNotReady', launchMessage(notice.nodeClaim, notice.problem));
    case 'launch-failed':
      return warning(notice.reason, launchMessage(notice.nodeClaim, notice.problem));
    case 'node-class-missing':
      return warning('NodeClassResolutionError', notice.problem);
    case 'accepted-launch-failed':
      return warning(ACCEPTED_AND_FAILED, `Failed to register: ${notice.problem}`.slice(0, ACCEPTED_LAUNCH_LIMIT));
    case 'unregistered-taint-missing':
      return warning(
        'UnregisteredTaintMissing',
        'Missing karpenter.sh/unregistered taint which prevents registration related race conditions on Karpenter-managed nodes',
      );
    case 'resource-shortfall':
      return warning('FailedConsistencyCheck', shortfallText(notice.shortfall));
    case 'repair-blocked':
      return warning(
        'NodeRepairBlocked',
        `more than ${notice.toleratedPercent}% nodes are unhealthy in the ${notice.scope}`,
      );
    case 'evicted':
      return normal('Evicted', `Evicted pod: ${notice.cause}`);
    case 'pod-deleted':
      return normal(
        'Disrupted',
        `Deleting the pod to accommodate the terminationTime ${timestamp(notice.deadline)} of the node. The pod was granted ${notice.granted} seconds of grace-period of its ${notice.asked} terminationGracePeriodSeconds. This bypasses the PDB of the pod and the do-not-disrupt annotation.`,
      );
    case 'eviction-refused':
      return warning('FailedDraining', `Failed to drain node, ${refusalText(notice)}`);
    case 'shield':
      return shieldText(notice.shield);
    case 'pods-to-evict':
      return warning('FailedDraining', `Failed to drain node, ${notice.count} pods are waiting to be evicted`);
    case 'volumes-attached':
      return normal(
        'AwaitingVolumeDetachment',
        `Awaiting deletion of bound volumeattachments (${some(notice.attachments)})`,
      );
    case 'deadline':
      return warning('TerminationGracePeriodExpiring', `All pods will be deleted by ${notice.deadline}`);
    case 'claims-remain':
      return normal('WaitingOnNodeClaimTermination', `Waiting on NodeClaim termination for ${some(notice.nodeClaims)}`);
    case 'condition-changed':
      return conditionText(notice);
    case 'finalized':
      return normal('Finalized', `Finalized ${notice.finalizer}`);
    case 'replacement-launching':
    case 'replacement-not-ready':
    case 'disrupting':
    case 'disruption-blocked':
    case 'unconsolidatable':
    case 'budget-blocked':
    case 'budget-unreadable':
    case 'repair-over-budget':
    case 'consolidation-approved':
    case 'consolidation-candidate':
    case 'consolidation-rejected':
      return disruptionNoticeText(notice);
  }
}

/** Also the message of the ConsistentStateFound condition. */
export function shortfallText({ resource, expected, found, share }: ResourceShortfall): string {
  const percent = (share * 100).toFixed(1);
  return `expected ${expected} of resource ${resource}, but found ${found} (${percent}% of expected)`;
}

/** Karpenter's message, then the API server's own, which names the budget. */
function refusalText({ pod, because, problem }: Extract<Notice, { kind: 'eviction-refused' }>): string {
  const what = because === 'budget' ? 'evicting pod violates a PDB' : 'eviction does not support multiple PDBs';
  return `${what} (Pod=${pod}): ${problem}`;
}

function shieldText(shield: Extract<Notice, { kind: 'shield' }>['shield']): NoticeText {
  switch (shield.state) {
    case 'invalid': {
      const isDuration = Duration.tryParse(shield.value) !== undefined;
      const problem = isDuration
        ? `duration "${shield.value}" must be positive`
        : `failed to parse "${shield.value}" as a duration`;
      const message = `Invalid karpenter.sh/do-not-disrupt annotation: ${problem}, ignoring annotation`;
      return warning('InvalidDoNotDisruptAnnotation', message);
    }
    case 'until': {
      const message = `The karpenter.sh/do-not-disrupt grace period will elapse at ${timestamp(shield.end)}`;
      return normal('DoNotDisruptUntil', message);
    }
    case 'elapsed':
      return normal(
        'DoNotDisruptGracePeriodElapsed',
        'The karpenter.sh/do-not-disrupt grace period has elapsed, pod is now disruptable',
      );
  }
}

function conditionText({ before, condition }: Extract<Notice, { kind: 'condition-changed' }>): NoticeText {
  const { type, status, reason = '', message = '' } = condition;
  const details = message === '' ? '' : `, Message: ${message}`;
  return normal(
    type,
    `Status condition transitioned, Type: ${type}, Status: ${before} -> ${status}, Reason: ${reason}${details}`,
  );
}

function launchMessage(nodeClaim: string, problem: string): string {
  return `NodeClaim ${nodeClaim} event: ${problem.slice(0, LAUNCH_LIMIT)}`;
}

function some(names: readonly string[]): string {
  const more = names.length - SHOWN_NAMES;
  return `${names.slice(0, SHOWN_NAMES).join(', ')}${more > 0 ? ` and ${more} other(s)` : ''}`;
}

function normal(reason: string, message: string): NoticeText {
  return { type: 'Normal', reason, message };
}

function warning(reason: string, message: string): NoticeText {
  return { type: 'Warning', reason, message };
}
