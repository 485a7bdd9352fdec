/** What the controller would do first in a rehearsed cluster. */
import { candidatesFor } from '../disruption/method.ts';
import { METHODS } from '../disruption/methods.ts';
import type { ChangeStep } from '../ledger/changeReport.ts';
import { stepOf, type Step } from './carryOut.ts';
import { finish } from './judge.ts';
import type { Rehearsal } from './rehearse.ts';

const MINUTE = 60_000;
/** Milliseconds that a step takes: instances boot, pods move, old nodes go. */
export const WAVE = 5 * MINUTE;

/** Nodes for pods that wait come first, then the first method that has something to do. */
export function nextStep(
  { moment, pass }: Rehearsal,
  since: number,
): { readonly step: Step; readonly told: ChangeStep } | undefined {
  const minute = Math.round(since / MINUTE);
  const { plannedNodes, onExisting } = moment.ask({ pods: moment.demand.waiting });
  if (plannedNodes.length > 0) {
    const told = { minute, reason: 'Pending', nodes: [], replacements: offeringsOf(plannedNodes), evictions: 0 };
    return { step: { planned: plannedNodes, onExisting, gone: [] }, told };
  }
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
