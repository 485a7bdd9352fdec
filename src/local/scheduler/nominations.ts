/**
 * Pods that are meant for a node and not bound yet (`status.nominatedNodeName`): room is kept there for them against pods
 * of the same or a lower priority.
 */
import type { PodInfo } from './podInfo.ts';

interface Nomination {
  readonly info: PodInfo;
  readonly node: string;
}

export class Nominations {
  private readonly byPod = new Map<string, Nomination>();
  private readonly byNode = new Map<string, Set<string>>();

  /** Follows the status of a pending pod. True when room is kept for it no more where it was. */
  follow(info: PodInfo): boolean {
    const known = this.byPod.get(info.key);
    const node = info.pod.status?.nominatedNodeName;
    if (node) this.set(info, node);
    // A status that never had the field is older than our own nomination; one that lost it takes the nomination back.
    else if (known?.info.pod.status?.nominatedNodeName) this.delete(info.key);
    return known !== undefined && known.node !== this.nodeOf(info.key);
  }

  set(info: PodInfo, node: string): void {
    this.delete(info.key);
    this.byPod.set(info.key, { info, node });
    const pods = this.byNode.get(node) ?? new Set();
    this.byNode.set(node, pods.add(info.key));
  }

  /** True when the pod was nominated. */
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

  /** The pods for which room must be kept from this one. */
  before({ key, priority }: PodInfo, node: string): readonly PodInfo[] {
    return this.on(node).filter((other) => other.key !== key && other.priority >= priority);
  }

  /** The pods that lose their nomination when this one is to have the node. */
  after({ priority }: PodInfo, node: string): readonly PodInfo[] {
    return this.on(node).filter((other) => other.priority < priority);
  }

  private on(node: string): readonly PodInfo[] {
    const keys = this.byNode.get(node);
    return keys ? [...keys].flatMap((key) => this.byPod.get(key)?.info ?? []) : [];
  }
}
