/** Everything that the controller would decide about a cluster now, as plain data in a fixed order. */
import type { NodeFate } from '../ledger/nodeFateText.ts';
import { nodeFateText } from '../ledger/nodeFateText.ts';
import { reasonText } from '../ledger/reasonText.ts';
import type { Alternative } from '../solver/problem.ts';
import { timestamp } from '../units/timestamp.ts';
import { fatesOf } from './judge.ts';
import type { Rehearsal } from './rehearse.ts';

export interface Decisions {
  /** RFC 3339. */
  readonly time: string;
  /** Nodes to buy for waiting pods. */
  readonly launches: readonly {
    readonly nodePool: string;
    readonly offering: Alternative;
    readonly pods: readonly string[];
  }[];
  readonly nominations: readonly { readonly node: string; readonly pods: readonly string[] }[];
  readonly refusals: readonly { readonly pod: string; readonly reason: string }[];
  /** Sorted by claim name. */
  readonly nodes: readonly { readonly nodeClaim: string; readonly sentence: string; readonly fate: NodeFate }[];
}

export function decisionsOf(rehearsal: Rehearsal): Decisions {
  const { moment, pass } = rehearsal;
  const solution = moment.ask({ pods: moment.demand.waiting });
  const fates = [...fatesOf(rehearsal)].sort(([left], [right]) => (left < right ? -1 : 1));
  return {
    time: timestamp(pass.now),
    launches: solution.plannedNodes.flatMap(({ pool, alternatives: [offering], pods }) =>
      offering === undefined ? [] : [{ nodePool: pool, offering, pods }],
    ),
    nominations: solution.onExisting,
    refusals: solution.unplaced.map(({ pod, reason }) => ({ pod, reason: reasonText(reason) })),
    nodes: fates.map(([nodeClaim, fate]) => ({ nodeClaim, sentence: nodeFateText(fate), fate })),
  };
}
