/** PodTopologyLabels: a pod carries the zone and the region of its node. */
import { textAt, type ApiObject } from '../fields.ts';
import type { StrategyContext } from '../resource.ts';

const KEYS = ['topology.kubernetes.io/region', 'topology.kubernetes.io/zone'];

/** The labels that a pod takes over from its node; none when the node is not there. */
export function topologyLabels({ find }: Pick<StrategyContext, 'find'>, node: string): Record<string, string> {
  const labels = find('', 'nodes', node)?.metadata.labels ?? {};
  return Object.fromEntries(KEYS.flatMap((key) => (labels[key] === undefined ? [] : [[key, labels[key]]])));
}

/** The same for a pod that names its node when it is made. */
export function admitTopologyLabels(draft: ApiObject, context: StrategyContext): void {
  const node = textAt(draft, 'spec', 'nodeName') ?? '';
  const labels = node === '' ? {} : topologyLabels(context, node);
  if (Object.keys(labels).length > 0) draft.metadata.labels = { ...draft.metadata.labels, ...labels };
}
