import { Kinds, type Node, type Pod } from '../../api/kinds.ts';
import type { EvictionRefusal, ForcedDeletion, Notice } from '../../ledger/notice.ts';
import type { DisruptionShield } from '../../pods/doNotDisrupt.ts';
import { podKey } from '../../pods/podKey.ts';
import type { Notices } from '../world/notices.ts';

export function evicted(events: Notices, pod: Pod, cause: string): void {
  tell(events, pod, { kind: 'evicted', cause }, pod.metadata.name);
}

export function disrupted(events: Notices, pod: Pod, deletion: ForcedDeletion): void {
  tell(events, pod, { kind: 'pod-deleted', ...deletion }, pod.metadata.name);
}

export function failedDraining(
  events: Notices,
  pod: Pod,
  node: Node | undefined,
  refusal: Omit<EvictionRefusal, 'pod'>,
): void {
  const name = pod.spec?.nodeName ?? '';
  events.publish({
    object: node ?? { metadata: { name } },
    kind: Kinds.Node,
    notice: { kind: 'eviction-refused', pod: podKey(pod), ...refusal },
    // Separate from the event with the count of waiting pods, which has the same reason and would suppress this one.
    dedupeValues: [name, 'eviction'],
  });
}

/** Reports how a do-not-disrupt annotation was interpreted; no event for the plain value "true". */
export function disruptionShield(events: Notices, pod: Pod, shield: DisruptionShield): void {
  const uid = pod.metadata.uid ?? pod.metadata.name;
  if (shield.state === 'invalid') tell(events, pod, { kind: 'shield', shield }, uid, shield.value);
  else if (shield.state === 'elapsed') tell(events, pod, { kind: 'shield', shield }, uid);
  else if (shield.state === 'until' && shield.end !== undefined) {
    const { end } = shield;
    tell(events, pod, { kind: 'shield', shield: { state: 'until', end } }, uid, String(end));
  }
}

function tell(events: Notices, pod: Pod, notice: Notice, ...dedupeValues: readonly string[]): void {
  events.publish({ object: pod, kind: Kinds.Pod, notice, dedupeValues });
}
