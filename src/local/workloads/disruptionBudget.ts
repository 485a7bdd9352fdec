/** Computes the status of PodDisruptionBudgets: numbers of pods that are healthy, must be, and may be evicted now. */
import { Kinds, type Pod, type PodDisruptionBudget } from '../../api/kinds.ts';
import type { KubeObject } from '../../api/object.ts';
import type { InformerEvent } from '../../kube/informer.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { keyOf, watch } from '../../kube/runtime/watch.ts';
import { matchesLabelSelector } from '../../pods/labelSelector.ts';
import { isActive, isTerminating } from '../../pods/podPredicates.ts';
import { timestamp } from '../../units/timestamp.ts';
import { BY_NAMESPACE, controllerOf, workloadOf, type ClusterInformers } from '../clusterInformers.ts';
import { controlLoop, soonest, type ControlPlaneContext, type NextLook } from '../controlLoop.ts';
import { transitionTime, writeStatus } from '../writes.ts';
import { isReady } from './podState.ts';
import { resolveShare } from '../../pods/rolloutBounds.ts';

/** Milliseconds for which a pod whose eviction was allowed counts as disrupted, if it is not deleted. */
const DISRUPTED_TIMEOUT = 120_000;

/** Returns undefined if the counts depend on the size of a controller, and that of some pod has none. */
function countsOf(
  budget: PodDisruptionBudget,
  pods: readonly Pod[],
  informers: ClusterInformers,
): { readonly expected: number; readonly desired: number } | undefined {
  const { minAvailable = 1, maxUnavailable } = budget.spec ?? {};
  if (maxUnavailable === undefined && typeof minAvailable === 'number') {
    return { expected: pods.length, desired: minAvailable };
  }
  const sizes = new Map<string, number>();
  for (const pod of pods) {
    if (controllerOf(pod) === undefined) continue;
    const scaled = workloadOf(pod, informers)?.object;
    if (scaled === undefined) return undefined;
    sizes.set(scaled.metadata.uid ?? '', scaled.spec?.replicas ?? 1);
  }
  const expected = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  if (maxUnavailable !== undefined) {
    return { expected, desired: Math.max(0, expected - resolveShare(maxUnavailable, expected, Math.ceil)) };
  }
  return { expected, desired: resolveShare(minAvailable, expected, Math.ceil) };
}

export function disruptionBudgetController(context: ControlPlaneContext): Controller {
  const { kube, clock, informers } = context;
  const { pods, budgets, deployments, statefulSets } = informers;

  async function reconcile(budget: PodDisruptionBudget): Promise<NextLook> {
    const now = clock.now();
    const covered = pods.store
      .byIndex(BY_NAMESPACE, budget.metadata.namespace ?? '')
      .filter((pod) => covers(budget, pod));
    const counts = countsOf(budget, covered, informers);
    const present = new Set(covered.filter((pod) => !isTerminating(pod)).map(({ metadata }) => metadata.name));
    const disrupted = Object.entries(budget.status?.disruptedPods ?? {}).filter(
      ([name, at]) => present.has(name) && Date.parse(at) + DISRUPTED_TIMEOUT > now,
    );
    const leaving = new Set(disrupted.map(([name]) => name));
    const healthy = covered.filter((pod) => isActive(pod) && isReady(pod) && !leaving.has(pod.metadata.name)).length;
    const { expected = 0, desired = 0 } = counts ?? {};
    const allowed = expected <= 0 ? 0 : Math.max(0, healthy - desired);
    const status = {
      observedGeneration: budget.metadata.generation ?? 0,
      currentHealthy: healthy,
      desiredHealthy: desired,
      expectedPods: expected,
      disruptionsAllowed: allowed,
      ...(disrupted.length > 0 && { disruptedPods: Object.fromEntries(disrupted) }),
      conditions: [conditionOf(budget, counts !== undefined, allowed, timestamp(now))],
    };
    await writeStatus(kube, Kinds.PodDisruptionBudget, budget, status, { lock: true });
    return soonest(...disrupted.map(([, at]) => Date.parse(at) + DISRUPTED_TIMEOUT - now));
  }

  const sameNamespace = ({ metadata: { namespace } }: KubeObject): PodDisruptionBudget[] =>
    [...budgets.store.list()].filter(({ metadata }) => metadata.namespace === namespace);
  const covers = ({ spec }: PodDisruptionBudget, pod: Pod): boolean =>
    matchesLabelSelector(spec?.selector, pod.metadata.labels);
  /** Returns the budgets of the namespace after a change of replicas, which percentages depend on. */
  const onSize = <T extends KubeObject & { spec?: { replicas?: number } }>(event: InformerEvent<T>): string[] =>
    event.type === 'updated' && event.old.spec?.replicas === event.object.spec?.replicas
      ? []
      : sameNamespace(event.object).map(keyOf);
  return controlLoop(context, {
    name: 'disruption',
    of: budgets,
    also: [
      watch(pods, ({ object }) =>
        sameNamespace(object)
          .filter((budget) => covers(budget, object))
          .map(keyOf),
      ),
      watch(deployments, onSize),
      watch(statefulSets, onSize),
    ],
    concurrency: 4,
    gathers: true,
    reconcile,
  });
}

type BudgetCondition = NonNullable<NonNullable<PodDisruptionBudget['status']>['conditions']>[number];

function conditionOf(budget: PodDisruptionBudget, counted: boolean, allowed: number, now: string): BudgetCondition {
  const type = 'DisruptionAllowed';
  const status = allowed > 0 ? 'True' : 'False';
  const reason = !counted ? 'SyncFailed' : allowed > 0 ? 'SufficientPods' : 'InsufficientPods';
  return {
    type,
    status,
    reason,
    message: counted ? '' : 'found no controller with a scale for some of the pods',
    observedGeneration: budget.metadata.generation ?? 0,
    lastTransitionTime: transitionTime(budget.status?.conditions, type, status, now),
  };
}
