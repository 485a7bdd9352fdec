/** Simulates the controller's actions after a change, step by step, until nothing is left to do. */
import { Labels } from '../api/labels.ts';
import { findCondition } from '../api/conditions.ts';
import { isPendingDisruption } from '../controllers/claims/isPendingDisruption.ts';
import type { ChangeReport, ChangeStep } from '../ledger/changeReport.ts';
import { nodeFateText } from '../ledger/nodeFateText.ts';
import { reasonText } from '../ledger/reasonText.ts';
import type { AppliedObjects } from './applyManifests.ts';
import { carryOut, finishDepartures, type Step } from './carryOut.ts';
import type { ClusterObjects } from './clusterObjects.ts';
import { finishArrivals } from './finishArrivals.ts';
import { fateOf, fatesOf } from './judge.ts';
import { nextStep, WAVE } from './nextStep.ts';
import { playRollouts } from './playRollouts.ts';
import { recountedBudgets } from './recountedBudgets.ts';
import { HOURS_PER_MONTH, nodePrice } from './nodeFactsOf.ts';
import { beforeRollouts } from './rollout.ts';
import { QuotaShares } from './quotaShares.ts';
import { rehearse, type Rehearsal, type RehearsalOptions } from './rehearse.ts';

type Options = Omit<RehearsalOptions, 'objects' | 'changedPools'>;

const MINUTE = 60_000;
/** Milliseconds between passes while budgets or consolidateAfter block everything. */
const PAUSE = 30 * MINUTE;
/** Milliseconds of rest after the last step: savings by new nodes are expected to last only when these have lived a while. */
const SETTLED = 20 * MINUTE;
/** Consecutive passes without action before the rest counts as blocked. */
const MOST_PAUSES = 48;
const MOST_STEPS = 500;

export async function rehearseChange(
  before: ClusterObjects,
  { rollouts, changedPools, ...changed }: AppliedObjects,
  options: Options,
): Promise<ChangeReport> {
  const start = await rehearse({ ...options, objects: finishArrivals(before) });
  const counted = (each: ClusterObjects): ClusterObjects => recountedBudgets(each, before);
  let objects = counted(beforeRollouts(finishArrivals(changed.objects), rollouts));
  let now = await rehearse({ ...options, objects, changedPools });
  const drifting = driftedIn(now).filter(
    ({ nodeClaim }) => !driftedIn(start).some((each) => each.nodeClaim === nodeClaim),
  );
  const pools = new Set(now.pass.pools.keys());
  const steps: ChangeStep[] = [];
  const quotas = new QuotaShares(start);
  let pauses = 0;
  const leaving = leavingIn(now);
  if (leaving.length > 0) {
    objects = finishDepartures(objects, leaving);
    now = await rehearse({ ...options, objects, changedPools: pools });
  }
  if (rollouts.length > 0) {
    const play = { options: { ...options, changedPools: pools }, begin: before.time, steps, quotas };
    objects = counted(await playRollouts(objects, rollouts, play));
    now = await rehearse({ ...options, objects, changedPools: pools });
  }
  let settledAt = objects.time;
  while (steps.length < MOST_STEPS && pauses <= MOST_PAUSES) {
    const next = nextStep(now, objects.time - before.time);
    if (next === undefined) {
      const isBlocked = isWaiting(now);
      const isSettling = steps.length > 0 && objects.time - settledAt < SETTLED;
      if (!isBlocked && !isSettling) break;
      pauses += 1;
      objects = { ...objects, time: objects.time + (isBlocked ? PAUSE : WAVE) };
    } else {
      pauses = 0;
      steps.push(next.told);
      quotas.beside(now, next.step.planned);
      objects = counted(carryOut(objects, next.step, now.pass.pools, `new-${steps.length}`));
      objects = { ...objects, time: objects.time + WAVE };
      settledAt = objects.time;
    }
    now = await rehearse({ ...options, objects, changedPools: pools });
  }
  const waiting = now.moment.ask({ pods: now.moment.demand.waiting }, { searchRounds: 0 });
  return {
    before: billOf(start),
    after: billOf(now),
    ...difference(start, now),
    drifting,
    steps,
    quotas: quotas.sharesAt(now),
    evictions: steps.reduce((sum, { evictions }) => sum + evictions, 0),
    unplaced: waiting.unplaced.map(({ pod, reason }) => ({ pod, reason: reasonText(reason) })),
    held: driftedIn(now).flatMap(({ node, nodeClaim }) => {
      const fate = fateOf(nodeClaim, now);
      return fate?.kind === 'kept' ? [{ node, sentence: nodeFateText(fate) }] : [];
    }),
    complete: steps.length < MOST_STEPS,
  };
}

function driftedIn({ pass }: Rehearsal): ChangeReport['drifting'] {
  return pass.views.flatMap(({ claim, name }) => {
    const drifted = claim && findCondition(claim, 'Drifted');
    return claim !== undefined && drifted?.status === 'True'
      ? [{ node: name, nodeClaim: claim.metadata.name, reason: drifted.reason ?? '' }]
      : [];
  });
}

/** Nodes already being removed before the change: they go first. */
function leavingIn({ pass }: Rehearsal): Step['gone'] {
  return pass.views.flatMap(({ claim, name, deleting }) =>
    claim !== undefined && (deleting || isPendingDisruption(claim)) ? [{ claim: claim.metadata.name, node: name }] : [],
  );
}

/** Whether time alone unblocks something: a budget window, or the end of consolidateAfter. */
function isWaiting(rehearsal: Rehearsal): boolean {
  return [...fatesOf(rehearsal).values()].some(
    (fate) =>
      fate.kind === 'kept' &&
      (fate.kept.cause.kind === 'too-young' || (fate.kept.cause.kind === 'budget' && fate.kept.cause.window)),
  );
}

function difference(start: Rehearsal, end: Rehearsal): Pick<ChangeReport, 'removed' | 'added'> {
  const [before, after] = [ownIn(start), ownIn(end)];
  const names = (views: typeof before): Set<string> => new Set(views.map(({ name }) => name));
  const [old, left] = [names(before), names(after)];
  return {
    removed: before.flatMap(({ name }) => (left.has(name) ? [] : [name])),
    added: after.flatMap((view) => {
      const { name, nodePool = '', claim } = view;
      if (old.has(name)) return [];
      const { labels = {} } = claim?.metadata ?? {};
      const [instanceType = '', zone = '', capacityType = ''] = [
        labels[Labels.instanceType],
        labels[Labels.zone],
        labels[Labels.capacityType],
      ];
      return [{ nodePool, instanceType, zone, capacityType, pricePerHour: nodePrice(end.pass, view) ?? 0 }];
    }),
  };
}

const ownIn = ({ pass }: Rehearsal) => pass.views.filter(({ claim, deleting }) => claim !== undefined && !deleting);

function billOf(rehearsal: Rehearsal): ChangeReport['before'] {
  const { pass } = rehearsal;
  const own = ownIn(rehearsal);
  const pricePerHour = own.reduce((sum, view) => sum + (nodePrice(pass, view) ?? 0), 0);
  return { nodes: own.length, pricePerHour, pricePerMonth: pricePerHour * HOURS_PER_MONTH };
}
