/** Decides which pods to retry when a node is added or changed: those that failed for a reason that has changed. */
import type { Node } from '../../api/kinds.ts';
import { unschedulable, taints } from './filters.ts';
import type { NodeInfo } from './nodeInfo.ts';
import type { PodInfo } from './podInfo.ts';

/**
 * Why no node was found for a pod: the taints of all nodes, other pods on a node where it would fit otherwise, or
 * something else.
 */
export type FailureCause = 'taints' | 'room' | 'other';

export interface NodeChange {
  readonly node: NodeInfo;
  readonly isNew: boolean;
  readonly hasOtherLabels: boolean;
  readonly hasOtherRoom: boolean;
}

/** Returns the relevant change of a node; undefined if nothing changed that decides which pods fit it. */
export function nodeChange(node: NodeInfo, now: Node, before: Node | undefined): NodeChange | undefined {
  if (before === undefined) return { node, isNew: true, hasOtherLabels: true, hasOtherRoom: true };
  const isOther = (of: (each: Node) => unknown): boolean => JSON.stringify(of(before)) !== JSON.stringify(of(now));
  const change = {
    node,
    isNew: false,
    hasOtherLabels: isOther(({ metadata }) => metadata.labels),
    hasOtherRoom: isOther(({ status }) => status?.allocatable),
  };
  const hasOtherTaints = isOther(({ spec }) => [spec?.taints, spec?.unschedulable]);
  return hasOtherTaints || change.hasOtherLabels || change.hasOtherRoom ? change : undefined;
}

/** Whether to retry a pod. A node whose taints it does not tolerate matters only if the cause was not taints. */
export function isWorthTrying(info: PodInfo, cause: FailureCause, { node, ...change }: NodeChange): boolean {
  if (unschedulable({ info }, node) === undefined && taints({ info }, node) === undefined) return true;
  if (cause === 'taints') return false;
  return change.isNew || change.hasOtherLabels || change.hasOtherRoom;
}
