/** PodDisruptionBudgets as Kubernetes' disruption controller counts them once pods that start or wait in a plan run. */
import { Kinds, type Pod, type PodDisruptionBudget } from '../api/kinds.ts';
import { matchesLabelSelector } from '../pods/labelSelector.ts';
import { isStarting, isTerminating, isUnready } from '../pods/podPredicates.ts';
import { portionOf } from './applyPatches.ts';
import { findObject, kindKey, objectsOf, type ClusterObjects } from './clusterObjects.ts';

/** `before`: as read from the cluster. Budgets that the change itself brings have been counted with it. */
export function recountedBudgets(objects: ClusterObjects, before: ClusterObjects): ClusterObjects {
  const budgets = objectsOf(objects, Kinds.PodDisruptionBudget);
  const next = budgets.map((budget) => {
    const read = findObject(before, Kinds.PodDisruptionBudget, budget.metadata);
    return read === undefined || budget.spec !== read.spec ? budget : recounted(read, objects, before);
  });
  if (next.every((budget, at) => budget === budgets[at])) return objects;
  return { ...objects, kinds: new Map([...objects.kinds, [kindKey(Kinds.PodDisruptionBudget), next] as const]) };
}

/** Only the difference is counted: what the budget says of other pods may have reasons that pods do not show. */
function recounted(budget: PodDisruptionBudget, objects: ClusterObjects, before: ClusterObjects): PodDisruptionBudget {
  const { status, spec } = budget;
  if (status === undefined || spec === undefined || status.expectedPods === 0) return budget;
  const [first, now] = [coveredBy(budget, before), coveredBy(budget, objects)];
  const more = now.length - first.length;
  const healthier = now.filter(willBeHealthy).length - first.filter(isHealthy).length;
  if (more === 0 && healthier === 0) return budget;
  const expectedPods = Math.max(0, status.expectedPods + more);
  const currentHealthy = Math.min(expectedPods, Math.max(0, status.currentHealthy + healthier));
  const { maxUnavailable, minAvailable = 0 } = spec;
  const desiredHealthy =
    maxUnavailable === undefined
      ? portionOf(minAvailable, expectedPods)
      : Math.max(0, expectedPods - portionOf(maxUnavailable, expectedPods));
  const disruptionsAllowed = expectedPods === 0 ? 0 : Math.max(0, currentHealthy - desiredHealthy);
  return { ...budget, status: { ...status, expectedPods, currentHealthy, desiredHealthy, disruptionsAllowed } };
}

function coveredBy({ metadata, spec }: PodDisruptionBudget, objects: ClusterObjects): readonly Pod[] {
  return objectsOf(objects, Kinds.Pod).filter(
    (pod) =>
      pod.metadata.namespace === metadata.namespace &&
      !isTerminating(pod) &&
      matchesLabelSelector(spec?.selector, pod.metadata.labels),
  );
}

const isHealthy = (pod: Pod): boolean => willBeHealthy(pod) && !isStarting(pod);

const willBeHealthy = (pod: Pod): boolean => pod.spec?.nodeName !== undefined && (isStarting(pod) || !isUnready(pod));
