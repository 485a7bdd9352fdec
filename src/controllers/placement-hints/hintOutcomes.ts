import type { Pod } from '../../api/kinds.ts';
import { hintedNode } from '../../api/placementHint.ts';
import type { Counter } from '../../kube/metrics.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { podList } from '../../ledger/podList.ts';
import { isTerminal } from '../../pods/podPredicates.ts';
import { podKey } from '../../pods/podKey.ts';

/** Pods named per record. */
const PODS_PER_RECORD = 20;

/**
 * Counts and records whether the scheduler followed each hint, and if not, which node it chose. Bounded by the number
 * of waiting pods with a hint.
 */
export class HintOutcomes {
  private readonly ledger: Ledger;
  private readonly counter: Counter;
  /** By pod UID: the last hinted node. */
  private readonly hints = new Map<string, string>();
  private readonly waitingFor = new Map<string, number>();
  /** By node: pods that followed, collected until there are enough for a record. */
  private readonly followed = new Map<string, string[]>();

  constructor(ledger: Ledger, counter: Counter) {
    this.ledger = ledger;
    this.counter = counter;
  }

  /** Records a written hint, or one found after a restart. */
  expect(pod: Pod, node: string): void {
    const { uid = '' } = pod.metadata;
    if (this.hints.get(uid) === node) return;
    this.forget(uid);
    this.hints.set(uid, node);
    this.waitingFor.set(node, (this.waitingFor.get(node) ?? 0) + 1);
  }

  /** The node in the pod's last hint. */
  nodeOf({ metadata }: Pod): string | undefined {
    return this.hints.get(metadata.uid ?? '');
  }

  observe(pod: Pod): void {
    const { uid = '' } = pod.metadata;
    const { nodeName } = pod.spec ?? {};
    const written = hintedNode(pod);
    if (written !== undefined && !nodeName) this.expect(pod, written);
    const node = this.hints.get(uid);
    if (node === undefined) return;
    if (nodeName) this.conclude(pod, node, nodeName);
    else if (isTerminal(pod)) this.forget(uid);
  }

  forget(uid: string): void {
    const node = this.hints.get(uid);
    if (node === undefined) return;
    this.hints.delete(uid);
    const left = (this.waitingFor.get(node) ?? 1) - 1;
    if (left > 0) this.waitingFor.set(node, left);
    else {
      this.waitingFor.delete(node);
      this.report(node);
    }
  }

  private conclude(pod: Pod, node: string, took: string): void {
    if (took === node) {
      this.counter.inc({ outcome: 'followed' });
      const pods = this.followed.get(node) ?? [];
      pods.push(podKey(pod));
      this.followed.set(node, pods);
      if (pods.length >= PODS_PER_RECORD) this.report(node);
    } else {
      this.counter.inc({ outcome: 'lost' });
      this.ledger.append({ kind: 'hint', pods: podList([podKey(pod)]), node, took });
    }
    this.forget(pod.metadata.uid ?? '');
  }

  private report(node: string): void {
    const pods = this.followed.get(node);
    this.followed.delete(node);
    if (pods) this.ledger.append({ kind: 'hint', pods: podList(pods), node, took: node });
  }
}
