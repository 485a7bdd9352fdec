/**
 * Decides whether a pod may be evicted now, and with which new status of its budget; otherwise throws TooManyRequests
 * with the cause.
 */
import { at, copyJson, fieldsAt, listAt, numberAt, textAt, type ApiObject, type Fields } from './fields.ts';
import { conditionOf } from './columns/column.ts';
import { labelSelectorPredicate } from './selectors.ts';
import { forbidden, tooManyRequests, unclassified } from './status.ts';

const BUDGETS = { group: 'policy', plural: 'poddisruptionbudgets' };
const VIOLATION = "Cannot evict pod as it would violate the pod's disruption budget.";
const MAX_DISRUPTED = 2000;
const RETRY_SECONDS = 10;

/** `budget`: the status to store before the pod is deleted; absent if no budget covers the pod or counts its eviction. */
export interface EvictionVerdict {
  readonly budget: { readonly object: ApiObject; readonly status: Fields } | undefined;
}

export function judgeEviction(pod: ApiObject, budgets: Iterable<ApiObject>, now: string): EvictionVerdict {
  if (isBeyondBudgets(pod)) return { budget: undefined };
  const covering = [...budgets].filter((budget) => covers(budget, pod));
  if (covering.length > 1) {
    throw unclassified(
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    );
  }
  const [budget] = covering;
  if (budget === undefined) return { budget: undefined };
  if (textAt(conditionOf(pod, 'Ready'), 'status') !== 'True') {
    const policy = textAt(budget, 'spec', 'unhealthyPodEvictionPolicy');
    const healthy = numberAt(budget, 'status', 'currentHealthy') ?? 0;
    const desired = numberAt(budget, 'status', 'desiredHealthy') ?? 0;
    if (policy === 'AlwaysAllow' || (healthy >= desired && desired > 0)) return { budget: undefined };
  }
  return { budget: { object: budget, status: spend(budget, pod.metadata.name, now) } };
}

/** Whether the pod has ended, has not started or is being deleted, so that its eviction disrupts nothing. */
function isBeyondBudgets(pod: ApiObject): boolean {
  const phase = textAt(pod, 'status', 'phase');
  return (
    phase === 'Succeeded' || phase === 'Failed' || phase === 'Pending' || pod.metadata.deletionTimestamp !== undefined
  );
}

function covers(budget: ApiObject, pod: ApiObject): boolean {
  return (
    budget.metadata.namespace === pod.metadata.namespace &&
    labelSelectorPredicate(at(budget, 'spec', 'selector'))(pod.metadata.labels ?? {})
  );
}

function spend(budget: ApiObject, podName: string, now: string): Fields {
  const { name, generation } = budget.metadata;
  const status = copyJson(fieldsAt(budget, 'status') ?? {});
  if ((numberAt(status, 'observedGeneration') ?? 0) < (generation ?? 0)) {
    const message = `The disruption budget ${name} is still being processed by the server.`;
    throw tooManyRequests(VIOLATION, [{ reason: 'DisruptionBudget', message }], RETRY_SECONDS);
  }
  const allowed = numberAt(status, 'disruptionsAllowed') ?? 0;
  const disrupted = fieldsAt(status, 'disruptedPods') ?? {};
  if (allowed < 0) throw forbidden(BUDGETS, name, 'pdb disruptions allowed is negative');
  if (Object.keys(disrupted).length > MAX_DISRUPTED) {
    throw forbidden(BUDGETS, name, 'DisruptedPods map too big - too many evictions not confirmed by PDB controller');
  }
  if (allowed === 0) {
    const message = `The disruption budget ${name} needs ${numberAt(status, 'desiredHealthy') ?? 0} healthy pods and has ${numberAt(status, 'currentHealthy') ?? 0} currently`;
    throw tooManyRequests(VIOLATION, [{ reason: 'DisruptionBudget', message }], 0);
  }
  status['disruptionsAllowed'] = allowed - 1;
  status['disruptedPods'] = { ...disrupted, [podName]: now };
  if (allowed === 1) {
    const others = listAt(status, 'conditions').filter((entry) => textAt(entry, 'type') !== 'DisruptionAllowed');
    const condition = {
      type: 'DisruptionAllowed',
      status: 'False',
      observedGeneration: generation ?? 0,
      lastTransitionTime: now,
      reason: 'InsufficientPods',
      message: '',
    };
    status['conditions'] = [...others, condition];
  }
  return status;
}
