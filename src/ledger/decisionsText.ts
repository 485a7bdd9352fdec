import type { Alternative } from '../solver/problem.ts';
import { countText } from './countText.ts';

/** Decisions found by a replay. */
interface DecisionList {
  readonly time: string;
  readonly launches: readonly {
    readonly nodePool: string;
    readonly offering: Alternative;
    readonly pods: readonly string[];
  }[];
  readonly nominations: readonly { readonly node: string; readonly pods: readonly string[] }[];
  readonly refusals: readonly { readonly pod: string; readonly reason: string }[];
  readonly nodes: readonly { readonly nodeClaim: string; readonly sentence: string }[];
}

export function decisionsText({ time, launches, nominations, refusals, nodes }: DecisionList): string {
  const lines = [
    `at ${time}`,
    ...launches.map(({ nodePool, offering, pods }) => {
      const { instanceType, zone, capacityType, pricePerHour } = offering;
      return `buys ${instanceType} in ${zone} ${capacityType} for NodePool ${nodePool} at $${pricePerHour.toFixed(4)} per hour, for ${countText(pods.length, 'pod')}`;
    }),
    ...nominations.map(({ node, pods }) => `expects ${countText(pods.length, 'pod')} on node ${node}`),
    ...refusals.map(({ pod, reason }) => `refuses ${pod}: ${reason}`),
    ...nodes.map(({ nodeClaim, sentence }) => `${nodeClaim}: ${sentence}`),
  ];
  return `${lines.join('\n')}\n`;
}
