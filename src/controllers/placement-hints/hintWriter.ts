import { Kinds, type Pod } from '../../api/kinds.ts';
import { FieldManagers } from '../../api/labels.ts';
import type { Kube } from '../../kube/kube.ts';

/** Concurrent writes. */
const CONCURRENCY = 50;

export interface HintOptions {
  readonly signal: AbortSignal;
  /** Written before others: a Node waits for it. */
  readonly isUrgent?: boolean;
}

/** Writes hints under a field manager of their own, with bounded concurrency. */
export class HintWriter {
  private readonly kube: Kube;
  /** Number of completed writes. */
  finished = 0;
  private running = 0;
  private readonly queue: (() => void)[] = [];

  constructor(kube: Kube) {
    this.kube = kube;
  }

  /**
   * Writes the node to the pod's status, or removes it. Fails with Conflict when the pod has changed since: the
   * scheduler may have chosen a node for it.
   */
  async write({ metadata }: Pod, node: string | null, { signal, isUrgent = false }: HintOptions): Promise<Pod> {
    await this.turn(isUrgent);
    try {
      signal.throwIfAborted();
      const { name, namespace, resourceVersion } = metadata;
      const body = { metadata: { resourceVersion }, status: { nominatedNodeName: node } };
      const answer = await this.kube.patch(
        Kinds.Pod,
        { name, namespace },
        { type: 'merge', body },
        { subresource: 'status', fieldManager: FieldManagers.placementHints, isUrgent: true, signal },
      );
      this.finished += 1;
      return answer;
    } finally {
      this.running -= 1;
      this.queue.shift()?.();
    }
  }

  private async turn(isUrgent: boolean): Promise<void> {
    if (this.running >= CONCURRENCY) {
      await new Promise<void>((resolve) => (isUrgent ? this.queue.unshift(resolve) : this.queue.push(resolve)));
    }
    this.running += 1;
  }
}
