/** Which pods kube-scheduler tries again when a node comes or changes: those that were refused for what has changed. */
import type { Node } from '../../api/kinds.ts';
import { unschedulable, taints } from './filters.ts';
import type { NodeInfo } from './nodeInfo.ts';
import type { PodInfo } from './podInfo.ts';

/**
 * Why a pod found no node: every node refused it by its taints, or it would fit somewhere if fewer pods were there, or
 * something else.
 */
export type Setback = 'kept out' | 'crowded out' | 'other';

export interface NodeNews {
  readonly node: NodeInfo;
  readonly isNew: boolean;
  readonly hasOtherLabels: boolean;
  readonly hasOtherRoom: boolean;
}

/** Undefined when nothing changed that decides which pods fit the node. */
export function nodeNews(node: NodeInfo, now: Node, before: Node | undefined): NodeNews | undefined {
  if (before === undefined) return { node, isNew: true, hasOtherLabels: true, hasOtherRoom: true };
  const isOther = (of: (each: Node) => unknown): boolean => JSON.stringify(of(before)) !== JSON.stringify(of(now));
  const news = {
    node,
    isNew: false,
    hasOtherLabels: isOther(({ metadata }) => metadata.labels),
    hasOtherRoom: isOther(({ status }) => status?.allocatable),
  };
  const hasOtherTaints = isOther(({ spec }) => [spec?.taints, spec?.unschedulable]);
  return hasOtherTaints || news.hasOtherLabels || news.hasOtherRoom ? news : undefined;
}

/** Whether the pod, which had this setback, is worth trying again. A node that it may not use is no news for its taints. */
export function isWorthTrying(info: PodInfo, setback: Setback, { node, ...news }: NodeNews): boolean {
  if (unschedulable({ info }, node) === undefined && taints({ info }, node) === undefined) return true;
  if (setback === 'kept out') return false;
  return news.isNew || news.hasOtherLabels || news.hasOtherRoom;
}
