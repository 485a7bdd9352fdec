import { countText, groupedText } from './countText.ts';
import type { PoolFacts } from './explanation.ts';

/** Content of the condition Ready, if there is one. */
export interface Unready {
  readonly reason: string | undefined;
  readonly message: string | undefined;
}

/** State of a NodePool, apart from what it refuses. */
export type PoolState =
  | { readonly kind: 'deleting' }
  | ({ readonly kind: 'not-ready' } & Unready)
  | { readonly kind: 'no-nodes' }
  | { readonly kind: 'savings'; readonly facts: PoolFacts }
  | { readonly kind: 'no-savings'; readonly facts: PoolFacts };

export function poolStateText(state: PoolState): string {
  switch (state.kind) {
    case 'deleting':
      return 'it is being deleted, and gets no more nodes';
    case 'not-ready':
      return `it is not ready: ${notReadyText(state)}`;
    case 'no-nodes':
      return 'it is ready and has no nodes: no pod needs one now';
    case 'savings': {
      const { facts } = state;
      const [most] = facts.blockers;
      const held =
        most === undefined ? '' : `; most of it is blocked by ${most.cause} (${countText(most.nodes, 'node')})`;
      return `${billText(facts)}, of which ${dollars(facts.savingsPerMonth)} could be saved${held}`;
    }
    case 'no-savings':
      return `${billText(state.facts)}, and nothing can be saved on them`;
  }
}

/** Without a reason: the condition does not exist. */
export function notReadyText({ reason = 'no condition Ready', message = '' }: Unready): string {
  return message === '' ? reason : `${reason}, ${message}`;
}

function billText({ nodes, pricePerMonth }: PoolFacts): string {
  return `its ${countText(nodes, 'node')} cost ${dollars(pricePerMonth)} per month`;
}

const dollars = (amount: number): string => `$${groupedText(Math.round(amount))}`;
