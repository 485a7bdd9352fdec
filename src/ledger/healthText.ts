/** State of a cluster in one sentence. */
import { countText } from './countText.ts';

export interface HealthFacts {
  /** Whether a controller is active, or none is expected. */
  readonly running: boolean;
  readonly pending: number;
  /** Pending pods without a place in any plan. */
  readonly stuck: number;
  readonly joining: number;
  readonly leaving: number;
  readonly lost: number;
  /** Recent failed launches. */
  readonly failures: number;
  readonly heldPerHour: number;
}

export interface Health extends HealthFacts {
  readonly mood: 'good' | 'busy' | 'bad';
}

export function healthOf(facts: HealthFacts): Health {
  const { running, stuck, lost, pending, joining, leaving, failures } = facts;
  const isBad = !running || stuck > 0 || lost > 0;
  const isBusy = pending + joining + leaving + failures > 0;
  return { ...facts, mood: isBad ? 'bad' : isBusy ? 'busy' : 'good' };
}

/** Smaller savings, in dollars per hour, are not mentioned. */
const WORTH_A_WORD = 0.01;

export function healthText({ running, pending, stuck, joining, leaving, lost, failures, heldPerHour }: Health): string {
  const parts = [
    ...(running ? [] : ['The controller is not active']),
    ...(stuck > 0 ? [`${countText(stuck, 'pod')} cannot be placed`] : []),
    ...(pending > stuck
      ? [`${countText(pending - stuck, 'pod')} wait${pending - stuck === 1 ? 's' : ''} for a node`]
      : []),
    ...(joining > 0 ? [`${countText(joining, 'node')} ${joining === 1 ? 'is' : 'are'} joining`] : []),
    ...(leaving > 0 ? [`${countText(leaving, 'node')} ${leaving === 1 ? 'is' : 'are'} being removed`] : []),
    ...(lost > 0 ? [`${countText(lost, 'node')} ${lost === 1 ? 'is' : 'are'} not ready`] : []),
    ...(failures > 0 ? [`${failures === 1 ? 'a launch' : `${failures} launches`} failed in the last ten minutes`] : []),
  ];
  if (parts.length > 0) return `${sentence(parts)}.`;
  const rest = heldPerHour >= WORTH_A_WORD ? `; $${heldPerHour.toFixed(2)} per hour could be saved` : '';
  return `All pods have a place and all nodes are ready${rest}.`;
}

function sentence(parts: readonly string[]): string {
  const [first = '', ...others] = parts;
  return [first[0]?.toUpperCase() + first.slice(1), ...others].join(', ');
}
