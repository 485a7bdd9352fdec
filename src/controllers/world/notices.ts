import type { KubeObject, ResourceKind } from '../../api/object.ts';
import type { EventFrequency } from '../../kube/eventFilter.ts';
import type { EventRecorder } from '../../kube/eventRecorder.ts';
import type { Notice } from '../../ledger/notice.ts';
import { noticeText } from '../../ledger/noticeText.ts';

/** A notice for the owner of an object, and what makes it a repetition of another. */
interface NoticeDraft extends Omit<EventFrequency, 'reason'> {
  readonly kind: ResourceKind<KubeObject>;
  readonly object: KubeObject;
  readonly notice: Notice;
}

/** Where loops publish events: as typed notices only, so that their words are in `ledger/` and nowhere else. */
export interface Notices {
  /** Returns at once and never throws. */
  publish(draft: NoticeDraft): void;
}

/** Notices as events of Kubernetes. */
export function noticesTo(recorder: EventRecorder): Notices {
  return { publish: ({ notice, ...about }) => recorder.publish({ ...about, ...noticeText(notice) }) };
}
