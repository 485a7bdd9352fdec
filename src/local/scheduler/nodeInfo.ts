/** The scheduler's state of a node: labels, taints, free resources, and the pods that are bound or assumed there. */
import type { Node } from '../../api/kinds.ts';
import { parseResources } from '../../units/resources.ts';
import { toAmounts, type Amounts, type PodInfo } from './podInfo.ts';

export type Taint = NonNullable<NonNullable<Node['spec']>['taints']>[number];

export class NodeInfo {
  readonly name: string;
  node: Node;
  labels: Readonly<Record<string, string>> = {};
  taints: readonly Taint[] = [];
  allocatable: Amounts = {};
  readonly used: Record<string, number> = {};
  readonly pods = new Map<string, PodInfo>();
  /** Number of pods on the node by PersistentVolumeClaim. */
  readonly claims = new Map<string, number>();
  private withPorts = 0;

  constructor(node: Node) {
    this.name = node.metadata.name;
    this.node = node;
    this.update(node);
  }

  update(node: Node): void {
    this.node = node;
    this.labels = node.metadata.labels ?? {};
    this.taints = node.spec?.taints ?? [];
    this.allocatable = toAmounts(parseResources(node.status?.allocatable));
  }

  get hasPorts(): boolean {
    return this.withPorts > 0;
  }

  free(resource: string): number {
    return (this.allocatable[resource] ?? 0) - (this.used[resource] ?? 0);
  }

  add(info: PodInfo): void {
    this.pods.set(info.key, info);
    this.count(info, 1);
  }

  remove(info: PodInfo): void {
    if (this.pods.delete(info.key)) this.count(info, -1);
  }

  private count(info: PodInfo, sign: 1 | -1): void {
    for (const [name, amount] of info.requested) this.used[name] = (this.used[name] ?? 0) + sign * amount;
    if (info.ports.length > 0) this.withPorts += sign;
    for (const claim of info.claims) {
      const count = (this.claims.get(claim) ?? 0) + sign;
      if (count > 0) this.claims.set(claim, count);
      else this.claims.delete(claim);
    }
  }
}
