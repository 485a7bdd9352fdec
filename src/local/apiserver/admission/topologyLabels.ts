/** PodTopologyLabels: a pod carries the zone and the region of its node. */
import { textAt, type ApiObject } from '../fields.ts';
import type { StrategyContext } from '../resource.ts';

const REGION = 'topology.kubernetes.io/region';
const ZONE = 'topology.kubernetes.io/zone';

/** The labels that a pod takes over from its node; undefined when there are none. */
export function topologyLabels(
  { find }: Pick<StrategyContext, 'find'>,
  node: string,
): Readonly<Record<string, string>> | undefined {
  const { [REGION]: region, [ZONE]: zone } = find('', 'nodes', node)?.metadata.labels ?? {};
  if (region === undefined) return zone === undefined ? undefined : { [ZONE]: zone };
  return zone === undefined ? { [REGION]: region } : { [REGION]: region, [ZONE]: zone };
}

/** The same for a pod that names its node when it is made. */
export function admitTopologyLabels(draft: ApiObject, context: StrategyContext): void {
  const node = textAt(draft, 'spec', 'nodeName') ?? '';
  const labels = node === '' ? undefined : topologyLabels(context, node);
  if (labels !== undefined) draft.metadata.labels = { ...draft.metadata.labels, ...labels };
}
