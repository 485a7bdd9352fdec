import { ConditionSet, NODE_CLAIM_CONDITIONS } from '../../api/conditions.ts';
import { Kinds } from '../../api/kinds.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import { Finalizers } from '../../api/labels.ts';
import type { Controller, ReconcileResult } from '../../kube/runtime/controller.ts';
import { reconciler, type ReconcileContext } from '../../kube/runtime/reconciler.ts';
import { watch } from '../../kube/runtime/watch.ts';
import { patchConditions } from '../../kube/conditionPatch.ts';
import { patchObject } from '../../kube/statusPatch.ts';
import type { RemovalRecord } from '../../ledger/record.ts';
import { deleteClaim } from '../claims/deleteClaim.ts';
import { noteRemoval } from '../claims/noteRemoval.ts';
import type { World } from '../world/world.ts';
import { finalize } from './finalization.ts';
import { initialize } from './initialization.ts';
import { launch } from './launch.ts';
import { LaunchMemory } from './launchMemory.ts';
import { checkLiveness } from './liveness.ts';
import { lifecycleMetrics } from './metrics.ts';
import { register } from './registration.ts';
import type { RegistrationHook } from './registrationHook.ts';
import type { Draft, LifecycleTimeouts, StepContext, StepResult } from './step.ts';

export interface NodeClaimLifecycleOptions {
  readonly hooks?: readonly RegistrationHook[];
  readonly timeouts?: LifecycleTimeouts;
}

const TIMEOUTS: LifecycleTimeouts = { launch: 5 * 60_000, registration: 15 * 60_000 };

/** Takes each NodeClaim from creation to an initialized node, and removes node and instance when it is deleted. */
export function nodeClaimLifecycleController(world: World, options: NodeClaimLifecycleOptions = {}): Controller {
  const { hooks = [], timeouts = TIMEOUTS } = options;
  const { metrics: registry, informers, cluster } = world;
  const metrics = lifecycleMetrics(registry);
  const launches = new LaunchMemory();
  return reconciler({
    ...world,
    name: 'nodeclaim.lifecycle',
    concurrency: 1000,
    backoff: { base: 1_000, max: 60_000 },
    watches: [
      watch(informers.nodeClaims),
      watch(informers.nodes, ({ object }) => {
        const claim = cluster.claimByProviderID(object.spec?.providerID);
        return claim ? [claim.metadata.name] : [];
      }),
    ],
    reconcile: async (name, { signal, log: contextLog }: ReconcileContext) => {
      const claim = cluster.claim(name);
      if (!claim) return undefined;
      const context: StepContext = { world, metrics, launches, hooks, timeouts, signal, log: contextLog };
      return claim.metadata.deletionTimestamp ? finalize(claim, context) : advance(claim, context);
    },
  });
}

async function advance(known: NodeClaim, context: StepContext): Promise<ReconcileResult | undefined> {
  const { world } = context;
  const { kube, clock } = world;
  // Add the finalizer first: no instance may exist whose claim could be deleted without it.
  const claim = await withFinalizer(known, context);
  const draft: Draft = { claim, conditions: new ConditionSet(NODE_CLAIM_CONDITIONS, claim, clock.now()) };

  const results: StepResult[] = [];
  const errors: unknown[] = [];
  // A Node may accept pods only once its claim names it: otherwise a claim deleted in between could not drain it.
  const isRecorded = claim.status?.providerID !== undefined;
  for (const step of isRecorded ? [launch, register, initialize, checkLiveness] : [launch, checkLiveness]) {
    try {
      results.push(await step(draft, context));
    } catch (error) {
      errors.push(error);
    }
  }
  const reason = results.find(({ giveUp }) => giveUp !== undefined)?.giveUp;
  if (reason !== undefined) {
    await giveUp(claim, reason, context);
    return undefined;
  }

  // Labels, annotations and our conditions are merged into what others wrote in the meantime.
  const labelled = await patchObject(kube, Kinds.NodeClaim, claim, draft.claim);
  const after = { ...claim, status: { ...draft.claim.status, conditions: draft.conditions.conditions } };
  await patchConditions(kube, Kinds.NodeClaim, NODE_CLAIM_CONDITIONS, claim, after, labelled);
  for (const { stored } of results) await stored?.();
  if (errors.length > 0) throw errors[0];
  const waits = results.flatMap(({ requeueAfter }) => requeueAfter ?? []);
  return waits.length === 0 ? undefined : { requeueAfter: Math.min(...waits) };
}

async function withFinalizer(claim: NodeClaim, { world }: StepContext): Promise<NodeClaim> {
  const finalizers = claim.metadata.finalizers ?? [];
  if (finalizers.includes(Finalizers.termination)) return claim;
  const metadata = { ...claim.metadata, finalizers: [...finalizers, Finalizers.termination] };
  return patchObject(world.kube, Kinds.NodeClaim, claim, { ...claim, metadata }, { lock: true });
}

const LATE: Readonly<Record<string, RemovalRecord['reason']>> = {
  launch_timeout: 'launch-timeout',
  registration_timeout: 'registration-timeout',
};

async function giveUp(
  claim: NodeClaim,
  reason: string,
  { world, metrics, launches, signal }: StepContext,
): Promise<void> {
  const deleted = await deleteClaim(world.kube, claim, signal);
  launches.forget(claim.metadata.uid ?? '');
  if (!deleted) return;
  metrics.disrupted.count(claim, reason);
  const late = LATE[reason];
  // A failed launch has its own record.
  if (late !== undefined) noteRemoval(world, claim, { reason: late });
}
