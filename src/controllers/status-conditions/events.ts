import type { Condition, KubeObject, ResourceKind } from '../../api/object.ts';
import type { Notices } from '../world/notices.ts';

export function conditionChanged(
  events: Notices,
  kind: ResourceKind<KubeObject>,
  object: KubeObject,
  before: string,
  condition: Condition,
): void {
  events.publish({ object, kind, notice: { kind: 'condition-changed', before, condition } });
}

export function finalized(
  events: Notices,
  kind: ResourceKind<KubeObject>,
  object: KubeObject,
  finalizer: string,
): void {
  events.publish({ object, kind, notice: { kind: 'finalized', finalizer } });
}
