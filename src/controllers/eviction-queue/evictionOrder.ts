import type { Pod } from '../../api/kinds.ts';
import type { Clock } from '../../clock/clock.ts';
import { keyOf } from '../../kube/runtime/watch.ts';
import { podRequests } from '../../pods/podRequests.ts';
import { quantityOf, type Resources } from '../../units/resources.ts';

/**
 * Milliseconds without a new pod after which the collected ones are released, and the longest wait of the first one:
 * longer while pods are known to be coming, as a busy API server takes seconds to delete many nodes.
 */
const IDLE = 300;
const LONGEST = 2_000;
const LONGEST_FOR_OTHERS = 5_000;

/**
 * Collects pods of nodes that are drained together and releases them largest first. The scheduler places their
 * successors in order of arrival, each where most room is left: a large one that comes last would find no room, and a
 * node would be bought for it.
 */
export class EvictionOrder {
  private readonly clock: Clock;
  private readonly release: (key: string) => void;
  private readonly areOthersComing: () => boolean;
  private readonly pods = new Map<string, Pod>();
  private since = 0;
  private cancel: (() => void) | undefined;

  constructor(clock: Clock, release: (key: string) => void, areOthersComing: () => boolean = () => false) {
    this.clock = clock;
    this.release = release;
    this.areOthersComing = areOthersComing;
  }

  add(pod: Pod): void {
    if (this.pods.size === 0) this.since = this.clock.now();
    this.pods.set(keyOf(pod), pod);
    this.wait();
  }

  end(): void {
    this.cancel?.();
    this.cancel = undefined;
    this.pods.clear();
  }

  private wait(): void {
    const waited = this.clock.now() - this.since;
    const left = (waited < LONGEST ? LONGEST : LONGEST_FOR_OTHERS) - waited;
    this.cancel?.();
    this.cancel = this.clock.after(Math.max(0, Math.min(IDLE, left)), () => {
      const isOver = this.clock.now() - this.since >= LONGEST_FOR_OTHERS;
      if (isOver || !this.areOthersComing()) this.flush();
      else this.wait();
    });
  }

  private flush(): void {
    const pods = [...this.pods.values()];
    this.end();
    for (const pod of largestFirst(pods)) this.release(keyOf(pod));
  }
}

/** Ordered like the scheduler's queue: by priority, then by share of the total requests. */
export function largestFirst(pods: readonly Pod[]): readonly Pod[] {
  const requests = pods.map(podRequests);
  const cpu = requests.reduce((sum, each) => sum + cpuOf(each), 0) || 1;
  const memory = requests.reduce((sum, each) => sum + memoryOf(each), 0) || 1;
  return pods
    .map((pod, at) => {
      const own = requests[at] ?? {};
      return { pod, size: cpuOf(own) / cpu + memoryOf(own) / memory };
    })
    .sort((left, right) => priorityOf(right.pod) - priorityOf(left.pod) || right.size - left.size)
    .map(({ pod }) => pod);
}

const cpuOf = (requests: Resources): number => quantityOf(requests, 'cpu').milliValue();
const memoryOf = (requests: Resources): number => quantityOf(requests, 'memory').value();
const priorityOf = ({ spec }: Pod): number => spec?.priority ?? 0;
