/**
 * What runs inside containers that end. In: running pods whose restart policy is not Always. Out: after the seconds of
 * `local.nodewright.dev/run-seconds` they end with `local.nodewright.dev/exit-code`, as the kubelet would report it.
 */
import { Kinds, type Pod } from '../../api/kinds.ts';
import { ignoreNotFound } from '../../kube/errors.ts';
import type { Controller, ReconcileResult } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { keyOf, refOf, watch } from '../../kube/runtime/watch.ts';
import { timestamp } from '../../units/timestamp.ts';
import type { WorkloadOptions } from './ownedPods.ts';

export const RUN_SECONDS = 'local.nodewright.dev/run-seconds';
export const EXIT_CODE = 'local.nodewright.dev/exit-code';
const DEFAULT_SECONDS = 5;

export interface PodCompletionOptions extends WorkloadOptions {
  /** Whether the kubelet of a node can speak; one that cannot reports nothing. */
  readonly canReport: (node: string) => boolean;
  /** Milliseconds until a pod on a silent node is looked at again. */
  readonly silence?: number;
}

const isFinite = (pod: Pod): boolean =>
  pod.spec?.restartPolicy !== undefined && pod.spec.restartPolicy !== 'Always' && pod.spec.nodeName !== undefined;

function startedAt(pod: Pod): number {
  const starts = (pod.status?.containerStatuses ?? []).map(({ state }) => Date.parse(state?.running?.startedAt ?? ''));
  return Math.max(...starts.filter((at) => !Number.isNaN(at)), Date.parse(pod.status?.startTime ?? '') || 0);
}

export function podCompletionController(options: PodCompletionOptions): Controller {
  const { kube, clock, random, log, pods, canReport, silence = 10_000 } = options;

  async function reconcile(key: string): Promise<ReconcileResult | undefined> {
    const ref = refOf(key);
    const pod = pods.store.get(ref);
    if (!pod || !isFinite(pod) || pod.status?.phase !== 'Running' || pod.metadata.deletionTimestamp) return undefined;
    const seconds = Number(pod.metadata.annotations?.[RUN_SECONDS] ?? DEFAULT_SECONDS);
    const now = clock.now();
    const due = startedAt(pod) + (Number.isFinite(seconds) ? seconds : DEFAULT_SECONDS) * 1000;
    if (now < due) return { requeueAfter: due - now };
    if (!canReport(pod.spec?.nodeName ?? '')) return { requeueAfter: silence };
    const status = ended(pod, Number(pod.metadata.annotations?.[EXIT_CODE] ?? 0), timestamp(now));
    await ignoreNotFound(
      kube.patch(Kinds.Pod, ref, { type: 'strategic', body: { status } }, { subresource: 'status' }),
    );
    return undefined;
  }

  return reconciler({
    name: 'local.kubelet.completion',
    concurrency: 32,
    clock,
    random,
    log,
    watches: [watch(pods, ({ object }) => (isFinite(object) ? [keyOf(object)] : []))],
    reconcile,
  });
}

function ended(pod: Pod, exitCode: number, at: string): object {
  const again = exitCode !== 0 && pod.spec?.restartPolicy === 'OnFailure';
  const containerStatuses = (pod.status?.containerStatuses ?? []).map((container) => {
    const terminated = {
      exitCode,
      reason: exitCode === 0 ? 'Completed' : 'Error',
      startedAt: container.state?.running?.startedAt ?? at,
      finishedAt: at,
    };
    return again
      ? {
          ...container,
          restartCount: container.restartCount + 1,
          lastState: { terminated },
          state: { running: { startedAt: at } },
        }
      : { ...container, ready: false, started: false, state: { running: null, terminated } };
  });
  if (again) return { containerStatuses };
  const reason = exitCode === 0 ? 'PodCompleted' : 'PodFailed';
  const notReady = (type: string): object => ({ type, status: 'False', reason, lastTransitionTime: at });
  return {
    phase: exitCode === 0 ? 'Succeeded' : 'Failed',
    conditions: [notReady('Ready'), notReady('ContainersReady')],
    containerStatuses,
  };
}
