import type { Pod } from '../../api/kinds.ts';
import { hintedNode } from '../../api/placementHint.ts';
import type { Counter } from '../../kube/metrics.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { podList } from '../../ledger/podList.ts';
import { isTerminal } from '../../pods/podPredicates.ts';
import { podKey } from '../../pods/podKey.ts';

/** As many as a record names. */
const PODS_PER_RECORD = 20;

/**
 * What became of hints: counts and records whether the scheduler followed each, and if not, which node it took. Bounded by
 * the pods that wait with a hint.
 */
export class HintOutcomes {
  private readonly ledger: Ledger;
  private readonly counter: Counter;
  /** By the UID of the pod: the node last hinted at. */
  private readonly hints = new Map<string, string>();
  private readonly waitingFor = new Map<string, number>();
  /** Pods that followed, by node, until there are enough for a record. */
  private readonly followed = new Map<string, string[]>();

  constructor(ledger: Ledger, counter: Counter) {
    this.ledger = ledger;
    this.counter = counter;
  }

  /** A hint was written, or one from before a restart was found. */
  expect(pod: Pod, node: string): void {
    const { uid = '' } = pod.metadata;
    if (this.hints.get(uid) === node) return;
    this.forget(uid);
    this.hints.set(uid, node);
    this.waitingFor.set(node, (this.waitingFor.get(node) ?? 0) + 1);
  }

  /** The node that the pod was last told. */
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
