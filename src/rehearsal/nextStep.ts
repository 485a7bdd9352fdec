/** What the controller would do first in a rehearsed cluster. */
import { candidatesFor } from '../disruption/method.ts';
import { METHODS } from '../disruption/methods.ts';
import type { ChangeStep } from '../ledger/changeReport.ts';
import { stepOf, type Step } from './carryOut.ts';
import { finish } from './judge.ts';
import type { Rehearsal } from './rehearse.ts';

const MINUTE = 60_000;
/** Milliseconds per step: boot instances, move pods, remove old nodes. */
export const WAVE = 5 * MINUTE;

interface Next {
  readonly step: Step;
  readonly told: ChangeStep;
}

/** Places for waiting pods, on existing and new nodes; undefined when there are none. */
export function placeWaiting({ moment }: Rehearsal, since: number): Next | undefined {
  const { plannedNodes, onExisting } = moment.ask({ pods: moment.demand.waiting });
  if (plannedNodes.length + onExisting.length === 0) return undefined;
  const minute = Math.round(since / MINUTE);
  const told = { minute, reason: 'Pending', nodes: [], replacements: offeringsOf(plannedNodes), evictions: 0 };
  return { step: { planned: plannedNodes, onExisting, gone: [] }, told };
}

/** First nodes for waiting pods, then the first disruption method that finds something. */
export function nextStep(rehearsal: Rehearsal, since: number): Next | undefined {
  const { pass } = rehearsal;
  const minute = Math.round(since / MINUTE);
  const waiting = placeWaiting(rehearsal, since);
  if (waiting !== undefined && waiting.step.planned.length > 0) return waiting;
  for (const method of METHODS) {
    const { candidates } = candidatesFor(method, pass);
    const { commands } = candidates.length === 0 ? { commands: [] } : finish(method.decide(candidates, pass));
    if (commands.length === 0) continue;
    const step = stepOf(commands);
    const evictions = commands.reduce((sum, command) => sum + command.evictions, 0);
    const nodes = step.gone.map(({ node }) => node);
    return { step, told: { minute, reason: method.reason, nodes, replacements: offeringsOf(step.planned), evictions } };
  }
  return undefined;
}

function offeringsOf(planned: Step['planned']): ChangeStep['replacements'] {
  return planned.flatMap(({ pool, alternatives: [first] }) =>
    first === undefined ? [] : [{ nodePool: pool, ...first }],
  );
}
