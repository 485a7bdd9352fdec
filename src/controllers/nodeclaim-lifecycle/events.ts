import { Kinds } from '../../api/kinds.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import type { EventRecorder } from '../../kube/eventRecorder.ts';

export function insufficientCapacity(events: EventRecorder, claim: NodeClaim, message: string): void {
  warn(events, claim, 'InsufficientCapacityError', `NodeClaim ${claim.metadata.name} event: ${message.slice(0, 300)}`);
}

export function nodeClassResolutionError(events: EventRecorder, claim: NodeClaim, message: string): void {
  warn(events, claim, 'NodeClassResolutionError', message);
}

export function nodeClassNotReady(events: EventRecorder, claim: NodeClaim, message: string): void {
  warn(events, claim, 'NodeClassNotReady', `NodeClaim ${claim.metadata.name} event: ${message.slice(0, 300)}`);
}

/** Once for each different message: a launch that fails is repeated many times. */
export function launchFailed(events: EventRecorder, claim: NodeClaim, reason: string, message: string): void {
  const text = `NodeClaim ${claim.metadata.name} event: ${message}`;
  warn(events, claim, reason, text, message);
}

export function asyncProvisioningError(events: EventRecorder, claim: NodeClaim, message: string): void {
  warn(events, claim, 'AsyncProvisioningError', `Failed to register: ${message}`.slice(0, 500));
}

export function unregisteredTaintMissing(events: EventRecorder, claim: NodeClaim, node: string): void {
  const message = `Node ${node} joined without the taint karpenter.sh/unregistered:NoExecute, so pods may run on it before it is set up`;
  warn(events, claim, 'UnregisteredTaintMissing', message);
}

export function terminationGracePeriodExpiring(events: EventRecorder, claim: NodeClaim, deadline: string): void {
  warn(events, claim, 'TerminationGracePeriodExpiring', `All pods will be deleted by ${deadline}`);
}

function warn(
  events: EventRecorder,
  claim: NodeClaim,
  reason: string,
  message: string,
  ...distinct: readonly string[]
): void {
  const dedupeValues = [claim.metadata.uid ?? claim.metadata.name, ...distinct];
  events.publish({ object: claim, kind: Kinds.NodeClaim, type: 'Warning', reason, message, dedupeValues });
}
