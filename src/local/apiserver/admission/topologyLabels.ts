/** The admission plugin PodTopologyLabels: copies the zone and region labels of a node to its pods. */
import { textAt, type ApiObject } from '../fields.ts';
import type { StrategyContext } from '../resource.ts';

const REGION = 'topology.kubernetes.io/region';
const ZONE = 'topology.kubernetes.io/zone';

/** Returns the labels that pods get from a node; undefined if there are none. */
export function topologyLabels(
  { find }: Pick<StrategyContext, 'find'>,
  node: string,
): Readonly<Record<string, string>> | undefined {
  const { [REGION]: region, [ZONE]: zone } = find('', 'nodes', node)?.metadata.labels ?? {};
  if (region === undefined) return zone === undefined ? undefined : { [ZONE]: zone };
  return zone === undefined ? { [REGION]: region } : { [REGION]: region, [ZONE]: zone };
}

/** Sets the labels of a pod that is created with a node name. */
export function admitTopologyLabels(draft: ApiObject, context: StrategyContext): void {
  const node = textAt(draft, 'spec', 'nodeName') ?? '';
  const labels = node === '' ? undefined : topologyLabels(context, node);
  if (labels !== undefined) draft.metadata.labels = { ...draft.metadata.labels, ...labels };
}
