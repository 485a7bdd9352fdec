/**
 * In-place resize: the steps of a kubelet when the resources in the spec of a running pod differ from those of its
 * containers. They are allocated first (`allocatedResources`), then applied to the containers (`resources`); a resize
 * that does not fit the node is deferred.
 */
import type { Pod } from '../../api/kinds.ts';
import type { EventText } from './kubeletEvents.ts';

type Status = NonNullable<Pod['status']>;
type ContainerStatus = NonNullable<Status['containerStatuses']>[number];
type Container = NonNullable<Pod['spec']>['containers'][number];
type Amounts = Readonly<Record<string, string>> | undefined;

export interface ResizeStep {
  readonly status: object;
  readonly events: readonly EventText[];
  readonly isWarning?: boolean;
}

const PENDING = 'PodResizePending';
const IN_PROGRESS = 'PodResizeInProgress';

const isSame = (left: Amounts = {}, right: Amounts = {}): boolean =>
  Object.keys({ ...left, ...right }).every((name) => left[name] === right[name]);
const hasCondition = ({ status }: Pod, type: string): boolean =>
  status?.conditions?.some((condition) => condition.type === type) ?? false;
const reported = ({ spec, status }: Pod): readonly (readonly [Container, ContainerStatus])[] =>
  (spec?.containers ?? []).flatMap((container) => {
    const found = status?.containerStatuses?.find(({ name }) => name === container.name);
    return found?.resources ? [[container, found] as const] : [];
  });

/** Whether the resources in the spec are not allocated yet. */
export function needsAllocation(pod: Pod): boolean {
  return reported(pod).some(
    ([{ resources }, status]) =>
      !isSame(resources?.requests, status.allocatedResources) ||
      (!isSame(resources?.limits, status.resources?.limits) && !hasCondition(pod, IN_PROGRESS)),
  );
}

/** Whether the resources in the spec are not applied to the containers yet. */
export function needsActuation(pod: Pod): boolean {
  return reported(pod).some(
    ([{ resources }, status]) =>
      !isSame(resources?.requests, status.resources?.requests) || !isSame(resources?.limits, status.resources?.limits),
  );
}

/** Returns the step that allocates the resources. */
export function allocated(pod: Pod, at: string): ResizeStep {
  const { generation: observedGeneration = 0 } = pod.metadata;
  return {
    status: {
      conditions: [
        { type: PENDING, $patch: 'delete' },
        { type: IN_PROGRESS, status: 'True', lastTransitionTime: at, observedGeneration },
      ],
      containerStatuses: (pod.status?.containerStatuses ?? []).map((status) => ({
        ...status,
        allocatedResources: containerOf(pod, status)?.resources?.requests ?? {},
      })),
    },
    events: [['ResizeStarted', `Pod resize started: ${summary(pod)}`]],
  };
}

/** Returns the step that applies the resources, and restarts containers whose resize policy requires it. */
export function actuated(pod: Pod, at: string): ResizeStep {
  return {
    status: {
      conditions: [{ type: IN_PROGRESS, $patch: 'delete' }],
      containerStatuses: (pod.status?.containerStatuses ?? []).map((status) => {
        const container = containerOf(pod, status);
        const resized = { ...status, resources: container?.resources ?? {} };
        return container && restarts(container, status) ? { ...resized, ...restarted(status, at) } : resized;
      }),
    },
    events: [['ResizeCompleted', `Pod resize completed: ${summary(pod)}`]],
  };
}

/** Returns the step that reports a lack of room; undefined if it is already reported. */
export function deferred(pod: Pod, message: string, at: string): ResizeStep | undefined {
  const { generation: observedGeneration = 0 } = pod.metadata;
  const known = pod.status?.conditions?.find(({ type }) => type === PENDING);
  if (known?.message === message) return undefined;
  const condition = { type: PENDING, status: 'True', reason: 'Deferred', message, lastTransitionTime: at };
  return {
    status: { conditions: [{ ...condition, observedGeneration }] },
    events: [['ResizeDeferred', `Pod resize Deferred: ${summary(pod, message)}`]],
    isWarning: true,
  };
}

/** Returns the step that removes a pending resize after the spec was reverted; undefined if none is pending. */
export function withdrawn(pod: Pod): ResizeStep | undefined {
  if (!hasCondition(pod, PENDING)) return undefined;
  return { status: { conditions: [{ type: PENDING, $patch: 'delete' }] }, events: [] };
}

const containerOf = ({ spec }: Pod, { name }: ContainerStatus): Container | undefined =>
  spec?.containers.find((container) => container.name === name);

/** Whether the resize policy of a changed resource requires a restart. */
function restarts({ resizePolicy = [], resources }: Container, { resources: held }: ContainerStatus): boolean {
  return resizePolicy.some(
    ({ resourceName, restartPolicy }) =>
      restartPolicy === 'RestartContainer' &&
      (resources?.requests?.[resourceName] !== held?.requests?.[resourceName] ||
        resources?.limits?.[resourceName] !== held?.limits?.[resourceName]),
  );
}

function restarted({ restartCount, state }: ContainerStatus, at: string): Partial<ContainerStatus> {
  const startedAt = state?.running?.startedAt ?? at;
  return {
    restartCount: restartCount + 1,
    lastState: { terminated: { exitCode: 143, reason: 'Error', startedAt, finishedAt: at } },
    state: { running: { startedAt: at } },
  };
}

const summary = ({ metadata, spec }: Pod, error?: string): string =>
  JSON.stringify({
    containers: (spec?.containers ?? []).map(({ name, resources = {} }) => ({ name, resources })),
    generation: metadata.generation ?? 0,
    error,
  });
