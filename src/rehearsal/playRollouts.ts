/**
 * Simulates rollouts of workloads to their end: new pods that start before old ones are deleted may temporarily need
 * nodes.
 */
import type { ChangeStep } from '../ledger/changeReport.ts';
import { carryOut } from './carryOut.ts';
import type { ClusterObjects } from './clusterObjects.ts';
import { placeWaiting, WAVE } from './nextStep.ts';
import type { QuotaShares } from './quotaShares.ts';
import { afterScheduler, endingPods } from './schedulerTurn.ts';
import { rehearse, type RehearsalOptions } from './rehearse.ts';
import { finishRollouts, rollOn, type Rollout } from './rollout.ts';

interface Play {
  readonly options: Omit<RehearsalOptions, 'objects'>;
  /** When the change was made. */
  readonly begin: number;
  /** Steps for nodes bought on the way are appended. */
  readonly steps: ChangeStep[];
  readonly quotas: QuotaShares;
}

/** Limit on rounds of placing new pods; then the rest is replaced at once. */
const MOST_TURNS = 60;
const NONE: ReadonlySet<string> = new Set();

export async function playRollouts(
  start: ClusterObjects,
  rollouts: readonly Rollout[],
  { options, begin, steps, quotas }: Play,
): Promise<ClusterObjects> {
  let objects = start;
  let rolling = rollouts;
  // Pods placed on other nodes start long before these have booted, so old pods can be deleted earlier.
  let booting = NONE;
  for (let turns = 0; turns < MOST_TURNS; turns++) {
    const before = objects;
    ({ objects, rollouts: rolling } = rollOn(objects, rolling, booting));
    let now = await rehearse({ ...options, objects });
    const bound = afterScheduler(now, objects, endingPods(before, objects));
    const isBound = bound !== objects;
    if (isBound) {
      objects = bound;
      now = await rehearse({ ...options, objects });
    }
    if (rolling.length === 0) return objects;
    const next = placeWaiting(now, objects.time - begin);
    const planned = booting.size > 0 ? [] : (next?.step.planned ?? []);
    const onExisting = next?.step.onExisting ?? [];
    if (next !== undefined && planned.length + onExisting.length > 0) {
      if (planned.length > 0) {
        quotas.beside(now, planned);
        steps.push(next.told);
        booting = new Set(planned.map((_, at) => `new-${steps.length}-${at + 1}`));
      }
      objects = carryOut(objects, { planned, onExisting, gone: [] }, now.pass.pools, `new-${steps.length}`);
    } else if (isBound) {
      continue;
    } else if (booting.size > 0) {
      booting = NONE;
      objects = { ...objects, time: objects.time + WAVE };
      // Without a place for its new pods, a rollout makes no progress.
    } else return objects;
  }
  return finishRollouts(objects, rolling);
}
