import { NodeClaimConditions } from '../../api/conditionTypes.ts';
import { recordOutcome } from '../nodepool-registration-health/recordOutcome.ts';
import { Duration } from '../../units/duration.ts';
import type { Draft, StepContext, StepResult } from './step.ts';

/** Deletes a claim that does not launch or register in time. */
export async function checkLiveness(
  { claim, conditions }: Draft,
  { world, log, timeouts }: StepContext,
): Promise<StepResult> {
  const launched = conditions.get(NodeClaimConditions.launched);
  const registered = conditions.get(NodeClaimConditions.registered);
  if (registered?.status === 'True') return {};
  const age = (since: string | undefined): number => world.clock.now() - Date.parse(since ?? '');
  const launchAge = age(launched?.lastTransitionTime);
  if (launched?.status !== 'True' && launchAge >= timeouts.launch) {
    log.error('not launched in time; deleting the nodeclaim', { timeout: textOf(timeouts.launch) });
    await recordOutcome(world, claim, conditions);
    return { giveUp: 'launch_timeout' };
  }
  const registrationAge = age(registered?.lastTransitionTime);
  if (registrationAge >= timeouts.registration) {
    log.error('not registered in time; deleting the nodeclaim', { timeout: textOf(timeouts.registration) });
    await recordOutcome(world, claim, conditions);
    return { giveUp: 'registration_timeout' };
  }
  const next = [timeouts.registration - registrationAge];
  if (launched?.status !== 'True') next.push(timeouts.launch - launchAge);
  return { requeueAfter: Math.min(...next) };
}

const textOf = (milliseconds: number): string => Duration.fromMilliseconds(milliseconds).toString();
