import { Kinds } from '../../api/kinds.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import type { Notice } from '../../ledger/notice.ts';
import type { Notices } from '../world/notices.ts';

export function insufficientCapacity(events: Notices, claim: NodeClaim, problem: string): void {
  tell(events, claim, { kind: 'insufficient-capacity', nodeClaim: claim.metadata.name, problem });
}

export function nodeClassResolutionError(events: Notices, claim: NodeClaim, problem: string): void {
  tell(events, claim, { kind: 'node-class-missing', problem });
}

export function nodeClassNotReady(events: Notices, claim: NodeClaim, problem: string): void {
  tell(events, claim, { kind: 'node-class-not-ready', nodeClaim: claim.metadata.name, problem });
}

/** Once per distinct problem: a failing launch is retried many times. */
export function launchFailed(events: Notices, claim: NodeClaim, reason: string, problem: string): void {
  tell(events, claim, { kind: 'launch-failed', nodeClaim: claim.metadata.name, reason, problem }, problem);
}

export function asyncProvisioningError(events: Notices, claim: NodeClaim, problem: string): void {
  tell(events, claim, { kind: 'accepted-launch-failed', problem });
}

export function unregisteredTaintMissing(events: Notices, claim: NodeClaim): void {
  tell(events, claim, { kind: 'unregistered-taint-missing' });
}

export function terminationGracePeriodExpiring(events: Notices, claim: NodeClaim, deadline: string): void {
  tell(events, claim, { kind: 'deadline', deadline });
}

function tell(events: Notices, claim: NodeClaim, notice: Notice, ...distinct: readonly string[]): void {
  const dedupeValues = [claim.metadata.uid ?? claim.metadata.name, ...distinct];
  events.publish({ object: claim, kind: Kinds.NodeClaim, notice, dedupeValues });
}
