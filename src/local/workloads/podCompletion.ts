/**
 * Ends simulated containers: those of pods with another restart policy than Always, or with the annotation, end after
 * `run-seconds` with `exit-code`, and restart by the restart policy, with the kubelet's back-off.
 */
import type { Pod } from '../../api/kinds.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { Duration } from '../../units/duration.ts';
import { timestamp } from '../../units/timestamp.ts';
import { controlLoop, type ControlPlaneContext, type NextLook } from '../controlLoop.ts';
import { patchPodStatus } from '../writes.ts';

export const RUN_SECONDS = 'local.nodewright.dev/run-seconds';
export const EXIT_CODE = 'local.nodewright.dev/exit-code';
const DEFAULT_SECONDS = 5;
const BACK_OFF = 'CrashLoopBackOff';
const FIRST_BACK_OFF = 10_000;
const LONGEST_BACK_OFF = 300_000;

/** Milliseconds until a pod on a node whose kubelet does not report is reconciled again. */
const SILENCE = 10_000;

/** Whether the containers of a pod end by themselves. */
const ends = ({ metadata, spec }: Pod): boolean =>
  spec?.nodeName !== undefined &&
  spec.restartPolicy !== undefined &&
  (spec.restartPolicy !== 'Always' || metadata.annotations?.[RUN_SECONDS] !== undefined);

function startedAt(pod: Pod): number {
  const starts = (pod.status?.containerStatuses ?? []).map(({ state }) => Date.parse(state?.running?.startedAt ?? ''));
  return Math.max(...starts.filter((at) => !Number.isNaN(at)), Date.parse(pod.status?.startTime ?? '') || 0);
}

/** Returns the milliseconds before a kubelet restarts a container after a number of restarts. */
const backOff = (restarts: number): number =>
  restarts === 0 ? 0 : Math.min(FIRST_BACK_OFF * 2 ** (restarts - 1), LONGEST_BACK_OFF);

/** Returns the time at which containers in back-off may restart; undefined if there are none. */
function heldUntil(pod: Pod): number | undefined {
  const held = (pod.status?.containerStatuses ?? []).filter(({ state }) => state?.waiting?.reason === BACK_OFF);
  if (held.length === 0) return undefined;
  return Math.max(
    ...held.map(
      ({ restartCount, lastState }) => Date.parse(lastState?.terminated?.finishedAt ?? '') + backOff(restartCount),
    ),
  );
}

/** `canReport`: whether the kubelet of a node reports; the state of containers on other nodes does not change. */
export function podCompletionController(
  context: ControlPlaneContext,
  canReport: (node: string) => boolean,
): Controller {
  const { kube, clock, informers } = context;

  async function reconcile(pod: Pod): Promise<NextLook> {
    if (!ends(pod) || pod.status?.phase !== 'Running') return undefined;
    const seconds = Number(pod.metadata.annotations?.[RUN_SECONDS] ?? DEFAULT_SECONDS);
    const now = clock.now();
    const held = heldUntil(pod);
    const due = held ?? startedAt(pod) + (Number.isFinite(seconds) ? seconds : DEFAULT_SECONDS) * 1000;
    if (now < due) return due - now;
    if (!canReport(pod.spec?.nodeName ?? '')) return SILENCE;
    const exitCode = Number(pod.metadata.annotations?.[EXIT_CODE] ?? 0);
    const status = held === undefined ? ended(pod, exitCode, timestamp(now)) : again(pod, timestamp(now));
    await patchPodStatus(kube, pod, status);
    return undefined;
  }

  return controlLoop(context, {
    name: 'kubelet.completion',
    of: informers.pods,
    when: ({ object }) => ends(object),
    concurrency: 32,
    reconcile,
  });
}

function ended(pod: Pod, exitCode: number, at: string): object {
  const { restartPolicy } = pod.spec ?? {};
  const restarts = restartPolicy === 'Always' || (exitCode !== 0 && restartPolicy === 'OnFailure');
  const isHeld =
    restarts && (pod.status?.containerStatuses ?? []).some(({ restartCount }) => backOff(restartCount) > 0);
  const containerStatuses = (pod.status?.containerStatuses ?? []).map((container) => {
    const terminated = {
      exitCode,
      reason: exitCode === 0 ? 'Completed' : 'Error',
      startedAt: container.state?.running?.startedAt ?? at,
      finishedAt: at,
    };
    if (!restarts) return { ...container, ready: false, started: false, state: { terminated } };
    const wait = backOff(container.restartCount);
    if (wait === 0) {
      const state = { running: { startedAt: at } };
      return { ...container, restartCount: container.restartCount + 1, lastState: { terminated }, state };
    }
    const { name, namespace, uid } = pod.metadata;
    const message = `back-off ${Duration.fromMilliseconds(wait).toString()} restarting failed container=${container.name} pod=${name}_${namespace}(${uid})`;
    const state = { waiting: { reason: BACK_OFF, message } };
    return { ...container, ready: false, started: false, lastState: { terminated }, state };
  });
  if (restarts && !isHeld) return { containerStatuses };
  if (restarts) {
    const message = `containers with unready status: [${containerStatuses.map(({ name }) => name).join(' ')}]`;
    return { conditions: readiness('False', at, { reason: 'ContainersNotReady', message }), containerStatuses };
  }
  const [phase, reason] = exitCode === 0 ? ['Succeeded', 'PodCompleted'] : ['Failed', 'PodFailed'];
  return { phase, conditions: readiness('False', at, { reason }), containerStatuses };
}

const readiness = (status: string, lastTransitionTime: string, why: object): readonly object[] =>
  ['Ready', 'ContainersReady'].map((type) => ({ type, status, lastTransitionTime, ...why }));

/** Returns the status of a pod whose containers restart after their back-off. */
function again(pod: Pod, at: string): object {
  return {
    conditions: readiness('True', at, { reason: null, message: null }),
    containerStatuses: (pod.status?.containerStatuses ?? []).map((container) => ({
      ...container,
      ready: true,
      started: true,
      restartCount: container.restartCount + 1,
      state: { running: { startedAt: at } },
    })),
  };
}
