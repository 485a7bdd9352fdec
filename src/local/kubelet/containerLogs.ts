/**
 * The logs of simulated containers: a line at the start, one every ten seconds and one at the end, each marked as
 * simulated. The same pod always has the same lines.
 */
import type { Pod } from '../../api/kinds.ts';
import type { Clock } from '../../clock/clock.ts';
import { Duration } from '../../units/duration.ts';
import type { ApiObject } from '../apiserver/fields.ts';
import type { KubeletApi, LogOptions } from '../apiserver/http/kubeletApi.ts';
import { badRequest } from '../apiserver/status.ts';

export interface ContainerLogsOptions {
  readonly clock: Clock;
  /** Whether the kubelet of a node reports. */
  readonly canReport: (node: string) => boolean;
  /** Returns the current pod; undefined if it is gone. */
  readonly pod: (ref: { readonly name: string; readonly namespace: string | undefined }) => Pod | undefined;
}

type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];

interface Run {
  readonly container: string;
  readonly image: string;
  readonly node: string;
  readonly start: number;
  /** Undefined while the container runs. */
  readonly end: number | undefined;
  readonly exitCode: number;
}

interface Line {
  readonly at: number;
  readonly text: string;
  readonly isEnd?: true;
}

const PERIOD = 10_000;
/** Lines kept, as if the log was rotated. */
const MOST_LINES = 1_000;

export function containerLogs({ clock, canReport, pod: podNow }: ContainerLogsOptions): KubeletApi {
  function logs(object: ApiObject, options: LogOptions, signal: AbortSignal): AsyncIterable<string> | undefined {
    const pod = object as Pod & ApiObject;
    if (!canReport(pod.spec?.nodeName ?? '')) return undefined;
    // Throws before the response starts.
    const run = runOf(pod, options);
    return write(pod, run, options, signal);
  }

  function refuseEntry(object: ApiObject, way: string): Error | undefined {
    const pod = object as Pod & ApiObject;
    if (!canReport(pod.spec?.nodeName ?? '')) return undefined;
    return badRequest(
      `nothing runs inside the containers of a local AKS, so there is no way into pod ${pod.metadata.name} (${way}); kubectl logs shows what they would do`,
    );
  }

  async function* write(pod: Pod, first: Run, options: LogOptions, signal: AbortSignal): AsyncIterable<string> {
    const shown = ({ at, text }: Line): string =>
      `${options.timestamps ? `${new Date(at).toISOString().replace('Z', '000000Z')} ` : ''}${text}\n`;
    let left = options.limitBytes ?? Number.POSITIVE_INFINITY;
    let seen = clock.now();
    const so = linesUntil(first, seen).filter(({ at }) => options.since === undefined || at >= options.since);
    const take = (line: Line): string => {
      const text = shown(line).slice(0, left);
      left -= text.length;
      return text;
    };
    for (const line of options.tailLines === undefined ? so : so.slice(so.length - options.tailLines)) {
      const text = take(line);
      if (text !== '') yield text;
    }
    let run = first;
    while (options.follow && !options.previous && run.end === undefined && left > 0 && !signal.aborted) {
      await clock.sleep(PERIOD - ((clock.now() - run.start) % PERIOD), signal).catch(() => undefined);
      const { name, namespace } = pod.metadata;
      const now = podNow({ name, namespace });
      const status = now && now.metadata.uid === pod.metadata.uid ? statusOf(now, run.container) : undefined;
      const again = status?.state?.running && Date.parse(status.state.running.startedAt ?? '');
      // If the pod is gone or the container has restarted, this run has ended.
      run = again === run.start ? run : { ...run, ...ending(status, run, clock.now()) };
      const until = clock.now();
      for (const line of linesUntil(run, until)) {
        // The end of a container may be reported later than its time.
        if (line.at > seen || line.isEnd === true) yield take(line);
      }
      seen = until;
    }
  }

  return { logs, refuseEntry };
}

function ending(status: ContainerStatus | undefined, run: Run, now: number): Pick<Run, 'end' | 'exitCode'> {
  const ended = status?.state?.terminated ?? status?.lastState?.terminated;
  const isThis = Date.parse(ended?.startedAt ?? '') === run.start;
  return { end: (isThis && Date.parse(ended?.finishedAt ?? '')) || now, exitCode: isThis ? (ended?.exitCode ?? 0) : 0 };
}

function statusOf(pod: Pod, container: string): ContainerStatus | undefined {
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {};
  return [...containerStatuses, ...initContainerStatuses].find(({ name }) => name === container);
}

/** Returns the current or previous run of a container; throws the kubelet's error if there is none. */
function runOf(pod: Pod, { container, previous }: LogOptions): Run {
  const status = statusOf(pod, container);
  const { name } = pod.metadata;
  const common = { container, image: status?.image ?? '', node: pod.spec?.nodeName ?? '' };
  const before = status?.lastState?.terminated;
  if (previous && !before) throw badRequest(`previous terminated container "${container}" in pod "${name}" not found`);
  const running = previous ? undefined : status?.state?.running;
  if (running) return { ...common, start: Date.parse(running.startedAt ?? ''), end: undefined, exitCode: 0 };
  // A container in back-off has the logs of its last run.
  const ended = previous ? before : (status?.state?.terminated ?? before);
  if (!ended) {
    const reason = status?.state?.waiting?.reason ?? 'ContainerCreating';
    throw badRequest(`container "${container}" in pod "${name}" is waiting to start: ${reason}`);
  }
  const [start, end] = [Date.parse(ended.startedAt ?? ''), Date.parse(ended.finishedAt ?? '')];
  return { ...common, start, end, exitCode: ended.exitCode };
}

function linesUntil(run: Run, now: number): readonly Line[] {
  const { container, start, end } = run;
  const until = Math.min(now, end ?? now);
  const last = Math.max(0, Math.floor((until - start) / PERIOD));
  const lines: Line[] = [];
  for (let index = Math.max(0, last - MOST_LINES + 1); index <= last; index++) {
    const at = start + index * PERIOD;
    const text =
      index === 0
        ? `[simulated] ${container} (${run.image}) starts on ${run.node}; nothing really runs in it`
        : `[simulated] ${container} has been running for ${Duration.fromMilliseconds(at - start).toString()}`;
    lines.push({ at, text });
  }
  if (end !== undefined && end <= now) {
    lines.push({ at: end, text: `[simulated] ${container} ends with exit code ${run.exitCode}`, isEnd: true });
  }
  return lines;
}
