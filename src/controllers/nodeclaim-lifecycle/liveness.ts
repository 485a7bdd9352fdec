import { NodeClaimConditions } from '../../api/conditionTypes.ts';
import { recordOutcome } from '../nodepool-registration-health/recordOutcome.ts';
import type { Draft, StepContext, StepResult } from './step.ts';

const LAUNCH_TIMEOUT = 5 * 60_000;
const REGISTRATION_TIMEOUT = 15 * 60_000;

/** Gives a claim up that does not become a Node in time. */
export async function checkLiveness({ claim, conditions }: Draft, { world, log }: StepContext): Promise<StepResult> {
  const launched = conditions.get(NodeClaimConditions.launched);
  const registered = conditions.get(NodeClaimConditions.registered);
  if (registered?.status === 'True') return {};
  const age = (since: string | undefined): number => world.clock.now() - Date.parse(since ?? '');
  const launchAge = age(launched?.lastTransitionTime);
  if (launched?.status !== 'True' && launchAge >= LAUNCH_TIMEOUT) {
    log.error('not launched in time; deleting the nodeclaim', { timeout: '5m' });
    await recordOutcome(world, claim, conditions);
    return { giveUp: 'launch_timeout' };
  }
  const registrationAge = age(registered?.lastTransitionTime);
  if (registrationAge >= REGISTRATION_TIMEOUT) {
    log.error('not registered in time; deleting the nodeclaim', { timeout: '15m' });
    await recordOutcome(world, claim, conditions);
    return { giveUp: 'registration_timeout' };
  }
  const next = [REGISTRATION_TIMEOUT - registrationAge];
  if (launched?.status !== 'True') next.push(LAUNCH_TIMEOUT - launchAge);
  return { requeueAfter: Math.min(...next) };
}
