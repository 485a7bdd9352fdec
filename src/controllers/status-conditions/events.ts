import type { Condition, KubeObject, ResourceKind } from '../../api/object.ts';
import type { EventRecorder } from '../../kube/eventRecorder.ts';

export function conditionChanged(
  events: EventRecorder,
  kind: ResourceKind<KubeObject>,
  object: KubeObject,
  before: string,
  { type, status, reason = '', message = '' }: Condition,
): void {
  const details = message === '' ? '' : `, Message: ${message}`;
  const text = `Status condition transitioned, Type: ${type}, Status: ${before} -> ${status}, Reason: ${reason}${details}`;
  events.publish({ object, kind, type: 'Normal', reason: type, message: text });
}

export function finalized(
  events: EventRecorder,
  kind: ResourceKind<KubeObject>,
  object: KubeObject,
  finalizer: string,
): void {
  events.publish({ object, kind, type: 'Normal', reason: 'Finalized', message: `Finalized ${finalizer}` });
}
