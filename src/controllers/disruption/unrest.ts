import type { Pod } from '../../api/kinds.ts';
import type { Clock } from '../../clock/clock.ts';
import type { Informer, InformerEvent } from '../../kube/informer.ts';
import { isDaemonPod, isTerminal, isTerminating } from '../../pods/podPredicates.ts';

/** Milliseconds without a pod event after which the cluster is quiet. */
const QUIET = 3_000;
/** If the cluster never becomes quiet, waiting ends after this long. */
const PATIENCE = 15_000;

/**
 * Whether pods are currently being created or deleted. While a workload shrinks, each second leaves other nodes worth
 * removing: a move chosen too early evicts pods for nothing.
 */
export class Unrest {
  private readonly clock: Clock;
  private began: number | undefined;
  private last = 0;

  constructor(clock: Clock, pods: Pick<Informer<Pod>, 'subscribe'>) {
    this.clock = clock;
    const startedAt = clock.now();
    pods.subscribe((event) => {
      if (isMove(event, startedAt)) this.note();
    });
  }

  /** Milliseconds until the next check; 0 when the cluster is quiet or the wait was too long. */
  wait(): number {
    const now = this.clock.now();
    const quietAt = this.last + QUIET;
    if (this.began === undefined || now >= quietAt) {
      this.began = undefined;
      return 0;
    }
    return Math.max(0, Math.min(quietAt, this.began + PATIENCE) - now);
  }

  /** Restarts the wait: executed decisions cause pod events of their own. */
  reset(): void {
    this.began = undefined;
  }

  private note(): void {
    this.last = this.clock.now();
    this.began ??= this.last;
  }
}

function isMove(event: InformerEvent<Pod>, startedAt: number): boolean {
  const { object: pod } = event;
  if (isDaemonPod(pod)) return false;
  if (event.type === 'deleted') return true;
  if (event.type === 'added') return Date.parse(pod.metadata.creationTimestamp ?? '') >= startedAt;
  const { old } = event;
  return (
    old.spec?.nodeName !== pod.spec?.nodeName ||
    isTerminal(old) !== isTerminal(pod) ||
    isTerminating(old) !== isTerminating(pod)
  );
}
