/**
 * The scheduler's incrementally updated view of the cluster. Pods that selectors do not distinguish are grouped, so that
 * selectors are matched once per group instead of once per pod.
 */
import type { Node, Pod } from '../../api/kinds.ts';
import { NodeInfo } from './nodeInfo.ts';
import type { PodInfo } from './podInfo.ts';

/** Pods with equal namespace, labels and affinity, counted by node. */
export interface PodGroup {
  readonly sample: Pod;
  readonly nodes: Map<string, number>;
}

interface Placed {
  readonly info: PodInfo;
  readonly node: string;
}

export class ClusterView {
  private readonly nodeInfos = new Map<string, NodeInfo>();
  private readonly placed = new Map<string, Placed>();
  /** Pods whose node does not exist (yet, or any more), by the node's name. */
  private readonly strays = new Map<string, Map<string, PodInfo>>();
  private readonly groupedNodes = new Map<string, PodGroup>();
  private sorted: readonly NodeInfo[] | undefined;

  /** The nodes, sorted by name. */
  get nodes(): readonly NodeInfo[] {
    this.sorted ??= [...this.nodeInfos.values()].sort((left, right) => (left.name < right.name ? -1 : 1));
    return this.sorted;
  }

  node(name: string): NodeInfo | undefined {
    return this.nodeInfos.get(name);
  }

  get groups(): Iterable<PodGroup> {
    return this.groupedNodes.values();
  }

  setNode(node: Node): NodeInfo {
    const { name } = node.metadata;
    const known = this.nodeInfos.get(name);
    if (known) {
      known.update(node);
      return known;
    }
    const info = new NodeInfo(node);
    for (const pod of this.strays.get(name)?.values() ?? []) info.add(pod);
    this.strays.delete(name);
    this.nodeInfos.set(name, info);
    this.sorted = undefined;
    return info;
  }

  removeNode(name: string): void {
    const known = this.nodeInfos.get(name);
    if (!known) return;
    if (known.pods.size > 0) this.strays.set(name, new Map(known.pods));
    this.nodeInfos.delete(name);
    this.sorted = undefined;
  }

  /** Returns the node of a pod; undefined if it is not bound. */
  placeOf(key: string): string | undefined {
    return this.placed.get(key)?.node;
  }

  infoOf(key: string): PodInfo | undefined {
    return this.placed.get(key)?.info;
  }

  place(info: PodInfo, node: string): void {
    const before = this.placed.get(info.key);
    if (before && before.node === node && before.info.shape === info.shape && before.info.group === info.group) return;
    if (before) this.remove(info.key);
    this.placed.set(info.key, { info, node });
    const known = this.nodeInfos.get(node);
    if (known) known.add(info);
    else {
      const strays = this.strays.get(node) ?? new Map<string, PodInfo>();
      this.strays.set(node, strays.set(info.key, info));
    }
    const group = this.groupedNodes.get(info.group) ?? { sample: info.pod, nodes: new Map<string, number>() };
    this.groupedNodes.set(info.group, group);
    group.nodes.set(node, (group.nodes.get(node) ?? 0) + 1);
  }

  /** Removes a pod; returns whether it was present. */
  remove(key: string): boolean {
    const placed = this.placed.get(key);
    if (!placed) return false;
    const { info, node } = placed;
    this.placed.delete(key);
    this.nodeInfos.get(node)?.remove(info);
    const strays = this.strays.get(node);
    if (strays?.delete(key) && strays.size === 0) this.strays.delete(node);
    const group = this.groupedNodes.get(info.group);
    const left = (group?.nodes.get(node) ?? 0) - 1;
    if (left > 0) group?.nodes.set(node, left);
    else group?.nodes.delete(node);
    if (group?.nodes.size === 0) this.groupedNodes.delete(info.group);
    return true;
  }
}
