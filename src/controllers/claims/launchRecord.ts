import { podList, type PodList } from '../../ledger/podList.ts';
import type { LaunchRecord } from '../../ledger/record.ts';
import type { PlannedNode } from '../../solver/problem.ts';

/** Most instance types and offerings in a record. */
const SHOWN_TYPES = 10;
const SHOWN_OFFERINGS = 12;

/** Record of the claim created for a planned node; undefined for a plan without an offering. */
export function launchRecord(
  nodeClaim: string,
  { pool, requests, alternatives, choice, pods }: PlannedNode,
  extra: { readonly command?: string; readonly pods?: PodList } = {},
): LaunchRecord | undefined {
  const [chosen] = alternatives;
  if (chosen === undefined) return undefined;
  const types = [...new Set(alternatives.map(({ instanceType }) => instanceType))];
  return {
    kind: 'launch',
    nodeClaim,
    nodePool: pool,
    requests,
    chosen,
    ladder: alternatives.slice(0, SHOWN_OFFERINGS),
    instanceTypes: types.slice(0, SHOWN_TYPES),
    instanceTypeCount: types.length,
    ...(choice && { choice }),
    pods: podList(pods),
    ...extra,
  };
}
