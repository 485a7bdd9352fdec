/** Loops over owners of many pods. In: what to do for a key. Out: the same, once for all that happens together. */
import type { Clock } from '../../clock/clock.ts';
import type { ReconcileContext } from '../../kube/runtime/reconciler.ts';
import type { ReconcileResult } from '../../kube/runtime/controller.ts';

/** Milliseconds in which changes gather. A thousand pods that start at once are then one reason to look, not a thousand. */
const GATHER = 2;

type Reconcile<Result> = (key: string, context: ReconcileContext) => Promise<Result>;

export function gathered<Result extends ReconcileResult | undefined | void>(
  clock: Clock,
  reconcile: (key: string) => Promise<Result>,
): Reconcile<Result> {
  return async (key, { signal }) => {
    await clock.sleep(GATHER, signal);
    return reconcile(key);
  };
}
