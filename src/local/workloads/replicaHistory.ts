/** Computes the size for a HorizontalPodAutoscaler, with Kubernetes' formula, policies and stabilization windows. */
import type { HorizontalPodAutoscaler } from '../../api/kinds.ts';

/** Upstream's tolerance, with a margin for rounding errors. */
const TOLERANCE = 0.1 + 1e-9;
const DOWN_WINDOW = 300_000;
const LONGEST_WINDOW = 3_600_000;

type Rules = NonNullable<NonNullable<NonNullable<HorizontalPodAutoscaler['spec']>['behavior']>['scaleUp']>;
type Policy = NonNullable<Rules['policies']>[number];

const UP_POLICIES: readonly Policy[] = [
  { type: 'Percent', value: 100, periodSeconds: 15 },
  { type: 'Pods', value: 4, periodSeconds: 15 },
];
const DOWN_POLICIES: readonly Policy[] = [{ type: 'Percent', value: 100, periodSeconds: 15 }];

/** The recommendations and scalings of an autoscaler within the longest window. */
export class ReplicaHistory {
  private recommendations: { readonly at: number; readonly replicas: number }[] = [];
  private scales: { readonly at: number; readonly change: number }[] = [];

  noteScale(at: number, change: number): void {
    this.scales = [...this.scales.filter((each) => each.at > at - LONGEST_WINDOW), { at, change }];
  }

  recommend(at: number, replicas: number): void {
    while ((this.recommendations[0]?.at ?? at) <= at - LONGEST_WINDOW) this.recommendations.shift();
    this.recommendations.push({ at, replicas });
  }

  recommendedSince(moment: number): readonly number[] {
    const recent: number[] = [];
    for (let index = this.recommendations.length - 1; index >= 0; index--) {
      const each = this.recommendations[index];
      if (each === undefined || each.at < moment) break;
      recent.push(each.replicas);
    }
    return recent;
  }

  /** Returns the total of changes in one direction since a moment, as a positive number. */
  changedSince(moment: number, direction: 1 | -1): number {
    return this.scales
      .filter(({ at, change }) => at > moment && Math.sign(change) === direction)
      .reduce((sum, { change }) => sum + Math.abs(change), 0);
  }
}

export interface Load {
  readonly replicas: number;
  readonly ready: number;
  /** Measured value divided by the target. */
  readonly ratio: number;
}

export interface Decision {
  readonly desired: number;
  /** The bound of the spec that limits the size. */
  readonly limited?: 'TooManyReplicas' | 'TooFewReplicas';
  /** Whether an earlier, larger recommendation in the window applies. */
  readonly stabilized: boolean;
}

export function desiredReplicas(
  { spec }: HorizontalPodAutoscaler,
  { replicas, ready, ratio }: Load,
  history: ReplicaHistory,
  now: number,
): Decision {
  const { minReplicas = 1, maxReplicas, behavior } = spec ?? { maxReplicas: 1 };
  const steady = Math.abs(ratio - 1) <= TOLERANCE;
  const raw = steady ? replicas : Math.ceil(ready * ratio);
  // Unready pods count as unloaded, so while the load is too high, unready pods must not cause a smaller size.
  const wished = !steady && ratio > 1 && raw < replicas ? replicas : raw;
  history.recommend(now, wished);
  const [up, down] = [behavior?.scaleUp, behavior?.scaleDown];
  const upWindow = (up?.stabilizationWindowSeconds ?? 0) * 1000;
  const downWindow =
    down?.stabilizationWindowSeconds === undefined ? DOWN_WINDOW : down.stabilizationWindowSeconds * 1000;
  const ceiling = Math.min(...history.recommendedSince(now - upWindow), wished);
  const floor = Math.max(...history.recommendedSince(now - downWindow), wished);
  let desired = replicas;
  if (desired < ceiling) desired = ceiling;
  if (desired > floor) desired = floor;
  if (desired > replicas) desired = Math.min(desired, limit(replicas, up, UP_POLICIES, history, now, 1));
  if (desired < replicas) desired = Math.max(desired, limit(replicas, down, DOWN_POLICIES, history, now, -1));
  const stabilized = desired > wished;
  if (desired > maxReplicas) return { desired: maxReplicas, limited: 'TooManyReplicas', stabilized };
  if (desired < minReplicas) return { desired: minReplicas, limited: 'TooFewReplicas', stabilized };
  return { desired, stabilized };
}

/** Returns the largest or smallest size that the policies of a direction allow now. */
function limit(
  replicas: number,
  rules: Rules | undefined,
  usual: readonly Policy[],
  history: ReplicaHistory,
  now: number,
  direction: 1 | -1,
): number {
  if (rules?.selectPolicy === 'Disabled') return replicas;
  const policies = rules?.policies && rules.policies.length > 0 ? rules.policies : usual;
  const bounds = policies.map(({ type, value, periodSeconds }) => {
    const start = replicas - direction * history.changedSince(now - periodSeconds * 1000, direction);
    if (type === 'Pods') return start + direction * value;
    const share = start * (1 + (direction * value) / 100);
    return direction === 1 ? Math.ceil(share) : Math.floor(share);
  });
  const widest = direction === 1 ? Math.max(...bounds) : Math.min(...bounds);
  const narrowest = direction === 1 ? Math.min(...bounds) : Math.max(...bounds);
  return rules?.selectPolicy === 'Min' ? narrowest : widest;
}
