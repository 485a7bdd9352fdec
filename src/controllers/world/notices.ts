import type { KubeObject, ResourceKind } from '../../api/object.ts';
import type { EventFrequency } from '../../kube/eventFilter.ts';
import type { EventRecorder } from '../../kube/eventRecorder.ts';
import type { Notice } from '../../ledger/notice.ts';
import { noticeText } from '../../ledger/noticeText.ts';

/** A notice for the owner of an object, and the values that identify repetitions. */
interface NoticeDraft extends Omit<EventFrequency, 'reason'> {
  readonly kind: ResourceKind<KubeObject>;
  readonly object: KubeObject;
  readonly notice: Notice;
}

/** Where loops publish events: only as typed notices, so that all sentences are in `ledger/`. */
export interface Notices {
  /** Returns at once and never throws. */
  publish(draft: NoticeDraft): void;
}

/** Publishes notices as Kubernetes events. */
export function noticesTo(recorder: EventRecorder): Notices {
  return { publish: ({ notice, ...about }) => recorder.publish({ ...about, ...noticeText(notice) }) };
}
