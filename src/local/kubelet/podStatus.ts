/** The status that a kubelet reports of a pod while its containers are created, run, are ready, and have ended. */
import { NodewrightError } from '../../errors/nodewrightError.ts';
import { createHash } from 'node:crypto';
import type { Pod } from '../../api/kinds.ts';
import type { FailedPull } from './imagePulls.ts';

type Status = NonNullable<Pod['status']>;
type Condition = NonNullable<Status['conditions']>[number];
type ContainerStatus = NonNullable<Status['containerStatuses']>[number];
type Container = NonNullable<Pod['spec']>['containers'][number];

/** The addresses of a pod and its node. */
export interface Place {
  readonly hostIP: string;
  readonly podIP: string;
}

/** Exit code of a container that ends on SIGTERM. */
const TERMINATED = 143;
/** Status fields of a container that has not run before. */
const FRESH = { ready: false, started: false, restartCount: 0, lastState: {} };

function condition(pod: Pod, type: string, at: string, unready?: { reason: string; message?: string }): Condition {
  const status = unready === undefined ? 'True' : 'False';
  const known = pod.status?.conditions?.find((each) => each.type === type);
  const lastTransitionTime = known?.status === status ? (known.lastTransitionTime ?? at) : at;
  return { type, status, lastTransitionTime, ...unready };
}

const containersOf = (pod: Pod): readonly Container[] => pod.spec?.containers ?? [];
/** Init containers, including sidecars. */
const initContainersOf = (pod: Pod): readonly Container[] => pod.spec?.initContainers ?? [];
const isSidecar = (container: Container): boolean =>
  'restartPolicy' in container && (container as { restartPolicy?: string }).restartPolicy === 'Always';

/** Returns the first status: the containers are being created. */
export function creatingStatus(pod: Pod, at: string, { hostIP }: Pick<Place, 'hostIP'>): Status {
  const first = initContainersOf(pod);
  const reason = first.length > 0 ? 'PodInitializing' : 'ContainerCreating';
  const state = { waiting: { reason } };
  const waiting = ({ name, image = '' }: Container): ContainerStatus => ({ name, image, imageID: '', ...FRESH, state });
  const uninitialised = first.length > 0 ? notAll(first, 'ContainersNotInitialized', 'incomplete') : undefined;
  const notReady = notAll(containersOf(pod), 'ContainersNotReady', 'unready');
  return {
    phase: 'Pending',
    startTime: pod.status?.startTime ?? at,
    hostIP,
    conditions: [
      condition(pod, 'PodReadyToStartContainers', at, { reason: '' }),
      condition(pod, 'Initialized', at, uninitialised),
      condition(pod, 'Ready', at, notReady),
      condition(pod, 'ContainersReady', at, notReady),
      condition(pod, 'PodScheduled', at),
    ].map(withoutEmptyReason),
    ...(first.length > 0 && { initContainerStatuses: first.map(waiting) }),
    containerStatuses: containersOf(pod).map(waiting),
  };
}

/** Returns the status when an image cannot be pulled: its containers wait for the next attempt. */
export function pullingStatus(
  pod: Pod,
  at: string,
  place: Pick<Place, 'hostIP'>,
  { image, message }: FailedPull,
): Status {
  const status = creatingStatus(pod, at, place);
  const text = `Back-off pulling image "${image}": ErrImagePull: ${message}`;
  const waiting = (each: ContainerStatus): ContainerStatus =>
    each.image === image ? { ...each, state: { waiting: { reason: 'ImagePullBackOff', message: text } } } : each;
  return {
    ...status,
    ...(status.initContainerStatuses && { initContainerStatuses: status.initContainerStatuses.map(waiting) }),
    containerStatuses: (status.containerStatuses ?? []).map(waiting),
  };
}

/** Returns reason and message of a condition that is False because of some containers. */
function notAll(containers: readonly Container[], reason: string, how: string): { reason: string; message: string } {
  return { reason, message: `containers with ${how} status: [${containers.map(({ name }) => name).join(' ')}]` };
}

/** Returns the status of running containers, before (`ready` false) or after their probes succeed. */
export function runningStatus(pod: Pod, at: string, place: Place, ready: boolean): Status {
  const running = (container: Container, isReady: boolean): ContainerStatus => ({
    ...identity(pod, container),
    ...FRESH,
    resources: container.resources ?? {},
    ...(container.resources?.requests && { allocatedResources: container.resources.requests }),
    ready: isReady,
    started: true,
    state: { running: { startedAt: at } },
  });
  const completed = (container: Container): ContainerStatus => {
    const id = { containerID: containerID(pod, container.name) };
    const terminated = { exitCode: 0, reason: 'Completed', startedAt: at, finishedAt: at, ...id };
    return { ...identity(pod, container), ...FRESH, ready: true, state: { terminated } };
  };
  const first = initContainersOf(pod);
  const isProbed = (container: Container): boolean => isUnhealthy(pod) || hasProbe(container);
  const probed = containersOf(pod).filter(isProbed);
  const unready = ready ? undefined : notAll(probed, 'ContainersNotReady', 'unready');
  return {
    phase: 'Running',
    startTime: pod.status?.startTime ?? at,
    ...place,
    podIPs: [{ ip: place.podIP }],
    conditions: [
      condition(pod, 'PodReadyToStartContainers', at),
      condition(pod, 'Initialized', at),
      condition(pod, 'Ready', at, unready),
      condition(pod, 'ContainersReady', at, unready),
      condition(pod, 'PodScheduled', at),
    ].map(cleared),
    ...(first.length > 0 && {
      initContainerStatuses: first.map((each) => (isSidecar(each) ? running(each, true) : completed(each))),
    }),
    containerStatuses: containersOf(pod).map((container) => running(container, ready || !isProbed(container))),
  };
}

/** Returns the status after the probes have succeeded. */
export function readyStatus(pod: Pod, at: string): Status {
  return {
    conditions: [condition(pod, 'Ready', at), condition(pod, 'ContainersReady', at)].map(cleared),
    containerStatuses: (pod.status?.containerStatuses ?? []).map((status) => ({ ...status, ready: true })),
  };
}

/** Returns the status of a deleted pod whose containers have ended. */
export function endedStatus(pod: Pod, at: string): Status {
  const reason = 'PodFailed';
  return {
    phase: pod.status?.phase === 'Succeeded' ? 'Succeeded' : 'Failed',
    conditions: [condition(pod, 'Ready', at, { reason }), condition(pod, 'ContainersReady', at, { reason })],
    containerStatuses: (pod.status?.containerStatuses ?? []).map((status) => {
      const startedAt = status.state?.running?.startedAt ?? at;
      const ended = { exitCode: TERMINATED, reason: 'Error', finishedAt: at, startedAt };
      const state = status.state?.terminated ? status.state : { terminated: ended };
      return { ...status, ready: false, started: false, state };
    }),
  };
}

/** Returns the milliseconds from the start of the containers until all probes succeed; infinite if they never do. */
export function readinessDelay(pod: Pod): number {
  if (isUnhealthy(pod)) return Number.POSITIVE_INFINITY;
  const seconds = containersOf(pod).map(
    ({ readinessProbe, startupProbe }) =>
      (readinessProbe ? (readinessProbe.initialDelaySeconds ?? 0) : 0) +
      (startupProbe ? (startupProbe.initialDelaySeconds ?? 0) : 0),
  );
  return 1000 * Math.max(0, ...seconds);
}

/** Returns the duration of the preStop hooks in milliseconds. */
export function preStopDelay(pod: Pod): number {
  return 1000 * Math.max(0, ...containersOf(pod).map(({ lifecycle }) => lifecycle?.preStop?.sleep?.seconds ?? 0));
}

/** Annotation with the seconds that the containers take to end, within the grace period. */
const STOP_SECONDS = 'local.nodewright.dev/stop-seconds';

/** Returns the milliseconds that the containers take to end; `usual` without the annotation. */
export function stopDelay(pod: Pod, usual: number): number {
  const seconds = Number(pod.metadata.annotations?.[STOP_SECONDS] ?? Number.NaN);
  return seconds >= 0 ? seconds * 1000 : usual;
}

/** kwok's label for pods whose probes never succeed. */
const STAGE = { key: 'kwok.x-k8s.io/stage', unhealthy: 'unhealthy' };
const isUnhealthy = ({ metadata }: Pod): boolean => metadata.labels?.[STAGE.key] === STAGE.unhealthy;

const hasProbe = ({ readinessProbe, startupProbe }: Container): boolean =>
  readinessProbe !== undefined || startupProbe !== undefined;

const withoutEmptyReason = ({ reason, ...rest }: Condition): Condition => (reason ? { ...rest, reason } : rest);

/** Removes the old reason and message, which a patch would keep. */
const cleared = (each: Condition): Condition =>
  each.reason === undefined ? ({ ...each, reason: null, message: null } as unknown as Condition) : each;

function identity(
  pod: Pod,
  { name, image = '' }: Container,
): Pick<ContainerStatus, 'name' | 'image' | 'imageID' | 'containerID'> {
  const full = fullImageName(image);
  const digest = createHash('sha256').update(full).digest('hex');
  return {
    name,
    image: full,
    imageID: `${full.replace(/(@.*|:[^/:]*)$/, '')}@sha256:${digest}`,
    containerID: containerID(pod, name),
  };
}

function containerID(pod: Pod, name: string): string {
  return `containerd://${createHash('sha256')
    .update(`${pod.metadata.uid ?? ''} ${name}`)
    .digest('hex')}`;
}

/** Returns the full name of an image: `docker.io/library/nginx:latest` for `nginx`. */
function fullImageName(image: string): string {
  if (image === '') return '';
  const [first = '', ...rest] = image.split('/');
  const isHost = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost');
  const path = isHost ? image : rest.length > 0 ? `docker.io/${image}` : `docker.io/library/${image}`;
  return /[@:][^/]*$/.test(path.slice(path.indexOf('/'))) ? path : `${path}:latest`;
}

/** Returns an unused address in the pod network 10.244.0.0/16, derived from the UID. */
export function podAddress(uid: string, isTaken: (address: string) => boolean): string {
  let hash = 0;
  for (const character of uid) hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  for (let step = 0; step < ADDRESSES; step++) {
    const place = (hash + step) % ADDRESSES;
    const address = `10.244.${Math.floor(place / HOSTS)}.${(place % HOSTS) + 2}`;
    if (!isTaken(address)) return address;
  }
  throw new NodewrightError('LocalRangeExhausted', { what: 'pod address', range: '10.244.0.0/16' });
}

const HOSTS = 250;
const ADDRESSES = 256 * HOSTS;
