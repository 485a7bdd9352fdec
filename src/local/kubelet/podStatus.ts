/** What a kubelet reports of a pod while its containers are made, while they run, once they are ready and when they ended. */
import { NodewrightError } from '../../errors/nodewrightError.ts';
import { createHash } from 'node:crypto';
import type { Pod } from '../../api/kinds.ts';
import type { FailedPull } from './imagePulls.ts';

type Status = NonNullable<Pod['status']>;
type Condition = NonNullable<Status['conditions']>[number];
type ContainerStatus = NonNullable<Status['containerStatuses']>[number];
type Container = NonNullable<Pod['spec']>['containers'][number];

/** Where a pod runs, and under which address. */
export interface Place {
  readonly hostIP: string;
  readonly podIP: string;
}

/** Exit code of a container that ends when it is asked to. */
const TERMINATED = 143;
/** Of a container that has not run before. */
const FRESH = { ready: false, started: false, restartCount: 0, lastState: {} };

function condition(pod: Pod, type: string, at: string, unready?: { reason: string; message?: string }): Condition {
  const status = unready === undefined ? 'True' : 'False';
  const known = pod.status?.conditions?.find((each) => each.type === type);
  const lastTransitionTime = known?.status === status ? (known.lastTransitionTime ?? at) : at;
  return { type, status, lastTransitionTime, ...unready };
}

const containersOf = (pod: Pod): readonly Container[] => pod.spec?.containers ?? [];
/** Containers that end before the others start, and sidecars. */
const initContainersOf = (pod: Pod): readonly Container[] => pod.spec?.initContainers ?? [];
const isSidecar = (container: Container): boolean =>
  'restartPolicy' in container && (container as { restartPolicy?: string }).restartPolicy === 'Always';

/** The containers are being made: the first report of a pod from its node. */
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

/** An image cannot be had: its containers wait for the next attempt. */
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

/** Why a condition does not hold: some containers are not as far. */
function notAll(containers: readonly Container[], reason: string, how: string): { reason: string; message: string } {
  return { reason, message: `containers with ${how} status: [${containers.map(({ name }) => name).join(' ')}]` };
}

/** The containers run; whether they are ready is up to the probes. */
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

/** The probes have succeeded. */
export function readyStatus(pod: Pod, at: string): Status {
  return {
    conditions: [condition(pod, 'Ready', at), condition(pod, 'ContainersReady', at)].map(cleared),
    containerStatuses: (pod.status?.containerStatuses ?? []).map((status) => ({ ...status, ready: true })),
  };
}

/** The containers ended because the pod was deleted. */
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

/** Milliseconds from the start of the containers until all probes have succeeded; infinite when they never do. */
export function readinessDelay(pod: Pod): number {
  if (isUnhealthy(pod)) return Number.POSITIVE_INFINITY;
  const seconds = containersOf(pod).map(
    ({ readinessProbe, startupProbe }) =>
      (readinessProbe ? (readinessProbe.initialDelaySeconds ?? 0) : 0) +
      (startupProbe ? (startupProbe.initialDelaySeconds ?? 0) : 0),
  );
  return 1000 * Math.max(0, ...seconds);
}

/** Milliseconds that the preStop hooks take. */
export function preStopDelay(pod: Pod): number {
  return 1000 * Math.max(0, ...containersOf(pod).map(({ lifecycle }) => lifecycle?.preStop?.sleep?.seconds ?? 0));
}

/** Annotation: how long the containers take to end, within the grace period. */
const STOP_SECONDS = 'local.nodewright.dev/stop-seconds';

/** Milliseconds that the containers take to end: those of the annotation, or the usual. */
export function stopDelay(pod: Pod, usual: number): number {
  const seconds = Number(pod.metadata.annotations?.[STOP_SECONDS] ?? Number.NaN);
  return seconds >= 0 ? seconds * 1000 : usual;
}

/** The label with which users of kwok ask for a pod whose probes never succeed. */
const STAGE = { key: 'kwok.x-k8s.io/stage', unhealthy: 'unhealthy' };
const isUnhealthy = ({ metadata }: Pod): boolean => metadata.labels?.[STAGE.key] === STAGE.unhealthy;

const hasProbe = ({ readinessProbe, startupProbe }: Container): boolean =>
  readinessProbe !== undefined || startupProbe !== undefined;

const withoutEmptyReason = ({ reason, ...rest }: Condition): Condition => (reason ? { ...rest, reason } : rest);

/** A patch merges conditions: a reason that no longer holds must be removed. */
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

/** `nginx` is `docker.io/library/nginx:latest` to a container runtime. */
function fullImageName(image: string): string {
  if (image === '') return '';
  const [first = '', ...rest] = image.split('/');
  const isHost = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost');
  const path = isHost ? image : rest.length > 0 ? `docker.io/${image}` : `docker.io/library/${image}`;
  return /[@:][^/]*$/.test(path.slice(path.indexOf('/'))) ? path : `${path}:latest`;
}

/** An address in the pod network 10.244.0.0/16 that is always the same for a pod, and not taken. */
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
