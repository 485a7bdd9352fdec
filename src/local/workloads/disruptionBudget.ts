/**
 * The status of PodDisruptionBudgets, which evictions are judged by. In: budgets, pods and what owns them. Out: how
 * many pods are healthy, how many must be, and how many may go now.
 */
import {
  Kinds,
  type Deployment,
  type Pod,
  type PodDisruptionBudget,
  type ReplicaSet,
  type StatefulSet,
} from '../../api/kinds.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Controller, ReconcileResult } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { keyOf, refOf, watch } from '../../kube/runtime/watch.ts';
import { patchStatus } from '../../kube/statusPatch.ts';
import { timestamp } from '../../units/timestamp.ts';
import { matchesLabelSelector } from '../scheduler/selectors.ts';
import { controllerOf } from './ownedObjects.ts';
import type { WorkloadOptions } from './ownedPods.ts';
import { isReady, isTerminal } from './podState.ts';
import { resolveShare } from './rollout.ts';
import { gathered } from './gathered.ts';

export interface DisruptionBudgetOptions extends Omit<WorkloadOptions, 'events'> {
  readonly budgets: Informer<PodDisruptionBudget>;
  readonly deployments: Informer<Deployment>;
  readonly replicaSets: Informer<ReplicaSet>;
  readonly statefulSets: Informer<StatefulSet>;
}

/** Name of the pod informer's index by namespace. */
export const BY_NAMESPACE = 'metadata.namespace';

/** An eviction that was allowed is believed for this long before the pod counts again. */
const EVICTION_BELIEVED = 120_000;

interface Scales {
  /** The replicas that the pod's controller wants, with the controller's identity; undefined when it cannot scale. */
  scaleOf(pod: Pod): { readonly uid: string; readonly replicas: number } | undefined;
}

interface Counts {
  readonly expected: number;
  readonly desired: number;
}

/** Undefined when a share is asked for and some pod's controller has no size to take the share of. */
function countsOf(budget: PodDisruptionBudget, pods: readonly Pod[], scales: Scales): Counts | undefined {
  const { minAvailable, maxUnavailable } = budget.spec ?? {};
  if (maxUnavailable === undefined && typeof minAvailable === 'number') {
    return { expected: pods.length, desired: minAvailable };
  }
  if (maxUnavailable === undefined && minAvailable === undefined) return { expected: pods.length, desired: 1 };
  const sizes = new Map<string, number>();
  for (const pod of pods) {
    if (controllerOf(pod) === undefined) continue;
    const scale = scales.scaleOf(pod);
    if (scale === undefined) return undefined;
    sizes.set(scale.uid, scale.replicas);
  }
  const expected = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  if (maxUnavailable !== undefined) {
    return { expected, desired: Math.max(0, expected - resolveShare(maxUnavailable, expected, Math.ceil)) };
  }
  return { expected, desired: resolveShare(minAvailable, expected, Math.ceil) };
}

export function disruptionBudgetController(options: DisruptionBudgetOptions): Controller {
  const { kube, clock, random, log, pods, budgets, deployments, replicaSets, statefulSets } = options;

  const scales: Scales = {
    scaleOf: (pod) => {
      const owner = controllerOf(pod);
      const { namespace } = pod.metadata;
      if (!owner) return undefined;
      const ref = { name: owner.name, namespace };
      if (owner.kind === 'StatefulSet') {
        const set = statefulSets.store.get(ref);
        return set && { uid: owner.uid, replicas: set.spec?.replicas ?? 1 };
      }
      if (owner.kind !== 'ReplicaSet') return undefined;
      const replicaSet = replicaSets.store.get(ref);
      const above = replicaSet && controllerOf(replicaSet);
      if (above?.kind === 'Deployment') {
        const deployment = deployments.store.get({ name: above.name, namespace });
        return deployment && { uid: above.uid, replicas: deployment.spec?.replicas ?? 1 };
      }
      return replicaSet && { uid: owner.uid, replicas: replicaSet.spec?.replicas ?? 1 };
    },
  };

  async function reconcile(key: string): Promise<ReconcileResult | undefined> {
    const budget = budgets.store.get(refOf(key));
    if (!budget?.spec || budget.metadata.deletionTimestamp) return undefined;
    const now = clock.now();
    const covered = pods.store
      .byIndex(BY_NAMESPACE, budget.metadata.namespace ?? '')
      .filter((pod) => matchesLabelSelector(budget.spec?.selector, pod.metadata.labels ?? {}));
    const alive = covered.filter((pod) => !isTerminal(pod));
    const counts = countsOf(budget, covered, scales);
    const byName = new Map(covered.map((pod) => [pod.metadata.name, pod]));
    const believed = Object.entries(budget.status?.disruptedPods ?? {}).filter(
      ([name, at]) =>
        byName.get(name)?.metadata.deletionTimestamp === undefined &&
        byName.has(name) &&
        Date.parse(at) + EVICTION_BELIEVED > now,
    );
    const leaving = new Set(believed.map(([name]) => name));
    const healthy = alive.filter(
      (pod) => isReady(pod) && !pod.metadata.deletionTimestamp && !leaving.has(pod.metadata.name),
    ).length;
    const { expected = 0, desired = 0 } = counts ?? {};
    const allowed = counts === undefined || expected <= 0 ? 0 : Math.max(0, healthy - desired);
    const conditions = [conditionOf(budget, counts !== undefined, allowed, timestamp(now))];
    await patchStatus(
      kube,
      Kinds.PodDisruptionBudget,
      budget,
      {
        ...budget,
        status: {
          observedGeneration: budget.metadata.generation ?? 0,
          currentHealthy: healthy,
          desiredHealthy: desired,
          expectedPods: expected,
          disruptionsAllowed: allowed,
          ...(believed.length > 0 && { disruptedPods: Object.fromEntries(believed) }),
          conditions,
        },
      },
      { lock: true },
    );
    const expiries = believed.map(([, at]) => Date.parse(at) + EVICTION_BELIEVED - now);
    return expiries.length > 0 ? { requeueAfter: Math.min(...expiries) } : undefined;
  }

  function budgetsOf(pod: Pod): string[] {
    const keys: string[] = [];
    for (const budget of budgets.store.list()) {
      if (budget.metadata.namespace !== pod.metadata.namespace) continue;
      if (matchesLabelSelector(budget.spec?.selector, pod.metadata.labels ?? {})) keys.push(keyOf(budget));
    }
    return keys;
  }

  /** A change of size changes what a share is a share of. */
  const sized = (object: { readonly metadata: { readonly namespace?: string } }): string[] =>
    [...budgets.store.list()].filter(({ metadata }) => metadata.namespace === object.metadata.namespace).map(keyOf);
  return reconciler({
    name: 'local.disruption',
    concurrency: 4,
    clock,
    random,
    log,
    watches: [
      watch(budgets),
      watch(pods, ({ object }) => budgetsOf(object)),
      watch(deployments, (event) =>
        event.type === 'updated' && event.old.spec?.replicas === event.object.spec?.replicas ? [] : sized(event.object),
      ),
      watch(statefulSets, (event) =>
        event.type === 'updated' && event.old.spec?.replicas === event.object.spec?.replicas ? [] : sized(event.object),
      ),
    ],
    reconcile: gathered(clock, reconcile),
  });
}

type BudgetCondition = NonNullable<NonNullable<PodDisruptionBudget['status']>['conditions']>[number];

function conditionOf(budget: PodDisruptionBudget, counted: boolean, allowed: number, now: string): BudgetCondition {
  const type = 'DisruptionAllowed';
  const status = allowed > 0 ? 'True' : 'False';
  const reason = !counted ? 'SyncFailed' : allowed > 0 ? 'SufficientPods' : 'InsufficientPods';
  const before = budget.status?.conditions?.find((each) => each.type === type);
  return {
    type,
    status,
    reason,
    message: counted ? '' : 'found no controller with a scale for some of the pods',
    observedGeneration: budget.metadata.generation ?? 0,
    lastTransitionTime: (before?.status === status && before.lastTransitionTime) || now,
  };
}
