/**
 * Unbound pods with `status.nominatedNodeName`: room on that node is reserved for them against pods of the same or a
 * lower priority.
 */
import type { PodInfo } from './podInfo.ts';

interface Nomination {
  readonly info: PodInfo;
  readonly node: string;
}

export class Nominations {
  private readonly byPod = new Map<string, Nomination>();
  private readonly byNode = new Map<string, Set<string>>();

  /** Updates the nomination from the status of a pending pod; returns whether its earlier reservation ended. */
  follow(info: PodInfo): boolean {
    const known = this.byPod.get(info.key);
    const node = info.pod.status?.nominatedNodeName;
    if (node) this.set(info, node);
    // Without the field, the status may be older than the nomination; if the field was removed, so is the nomination.
    else if (known?.info.pod.status?.nominatedNodeName) this.delete(info.key);
    return known !== undefined && known.node !== this.nodeOf(info.key);
  }

  set(info: PodInfo, node: string): void {
    this.delete(info.key);
    this.byPod.set(info.key, { info, node });
    const pods = this.byNode.get(node) ?? new Set();
    this.byNode.set(node, pods.add(info.key));
  }

  /** Removes the nomination of a pod; returns whether it had one. */
  delete(key: string): boolean {
    const known = this.byPod.get(key);
    if (!known) return false;
    this.byPod.delete(key);
    const pods = this.byNode.get(known.node);
    if (pods?.delete(key) && pods.size === 0) this.byNode.delete(known.node);
    return true;
  }

  nodeOf(key: string): string | undefined {
    return this.byPod.get(key)?.node;
  }

  /** Returns the nominated pods whose reservations apply to this pod. */
  before({ key, priority }: PodInfo, node: string): readonly PodInfo[] {
    return this.on(node).filter((other) => other.key !== key && other.priority >= priority);
  }

  /** Returns the nominated pods that lose the node to this pod. */
  after({ priority }: PodInfo, node: string): readonly PodInfo[] {
    return this.on(node).filter((other) => other.priority < priority);
  }

  private on(node: string): readonly PodInfo[] {
    const keys = this.byNode.get(node);
    return keys ? [...keys].flatMap((key) => this.byPod.get(key)?.info ?? []) : [];
  }
}
