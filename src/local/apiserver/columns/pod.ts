/** Table cells of pods, with upstream's rules for status and restarts. */
import { at, fieldsAt, listAt, numberAt, textAt, type ApiObject } from '../fields.ts';
import { humanDuration } from '../humanTime.ts';
import { conditionOf, NONE, type Cells } from './column.ts';

interface Summary {
  readonly ready: string;
  readonly status: string;
  readonly restarts: number;
  readonly lastRestart: number;
}

function summarise(pod: ApiObject): Summary {
  const sidecars = listAt(pod, 'spec', 'initContainers')
    .filter((container) => textAt(container, 'restartPolicy') === 'Always')
    .map((container) => textAt(container, 'name'));
  const total = listAt(pod, 'spec', 'containers').length + sidecars.length;
  let ready = 0;
  let restarts = 0;
  let lastRestart = 0;
  let status = textAt(pod, 'status', 'reason') ?? '';
  if (status === '') status = textAt(pod, 'status', 'phase') ?? '';
  if (textAt(conditionOf(pod, 'PodScheduled'), 'reason') === 'SchedulingGated') status = 'SchedulingGated';

  const latest = (known: number, entry: unknown): number => {
    const finished = Date.parse(textAt(entry, 'lastState', 'terminated', 'finishedAt') ?? '');
    return finished > known ? finished : known;
  };
  const initTotal = listAt(pod, 'spec', 'initContainers').length;
  let initializing = false;
  let sidecarRestarts = 0;
  let lastSidecarRestart = 0;
  for (const [index, entry] of listAt(pod, 'status', 'initContainerStatuses').entries()) {
    restarts += numberAt(entry, 'restartCount') ?? 0;
    lastRestart = latest(lastRestart, entry);
    const restartable = sidecars.includes(textAt(entry, 'name'));
    if (restartable) {
      sidecarRestarts += numberAt(entry, 'restartCount') ?? 0;
      lastSidecarRestart = latest(lastSidecarRestart, entry);
      if (at(entry, 'ready') === true) ready++;
    }
    const terminated = fieldsAt(entry, 'state', 'terminated');
    const waiting = textAt(entry, 'state', 'waiting', 'reason') ?? '';
    if (terminated !== undefined && terminated['exitCode'] === 0) continue;
    if (restartable && at(entry, 'started') === true) continue;
    if (terminated !== undefined) status = `Init:${endReason(terminated)}`;
    else if (waiting !== '' && waiting !== 'PodInitializing') status = `Init:${waiting}`;
    else status = `Init:${index}/${initTotal}`;
    initializing = true;
    break;
  }
  if (!initializing || textAt(conditionOf(pod, 'Initialized'), 'status') === 'True') {
    // Of init containers, only restarts of sidecars count now.
    restarts = sidecarRestarts;
    lastRestart = lastSidecarRestart;
    let running = false;
    for (const entry of listAt(pod, 'status', 'containerStatuses').toReversed()) {
      restarts += numberAt(entry, 'restartCount') ?? 0;
      lastRestart = latest(lastRestart, entry);
      const waiting = textAt(entry, 'state', 'waiting', 'reason') ?? '';
      const terminated = fieldsAt(entry, 'state', 'terminated');
      if (waiting !== '') status = waiting;
      else if (terminated !== undefined) status = endReason(terminated);
      else if (at(entry, 'ready') === true && fieldsAt(entry, 'state', 'running') !== undefined) {
        running = true;
        ready++;
      }
    }
    if (status === 'Completed' && running) {
      status = textAt(conditionOf(pod, 'Ready'), 'status') === 'True' ? 'Running' : 'NotReady';
    }
  }
  if (pod.metadata.deletionTimestamp !== undefined) {
    status = textAt(pod, 'status', 'reason') === 'NodeLost' ? 'Unknown' : 'Terminating';
  }
  return { ready: `${ready}/${total}`, status, restarts, lastRestart };
}

function endReason(terminated: Readonly<Record<string, unknown>>): string {
  const reason = textAt(terminated, 'reason') ?? '';
  if (reason !== '') return reason;
  const signal = numberAt(terminated, 'signal') ?? 0;
  return signal !== 0 ? `Signal:${signal}` : `ExitCode:${numberAt(terminated, 'exitCode') ?? 0}`;
}

/** Returns the row condition of a finished pod. */
export function podRowConditions(pod: ApiObject): readonly object[] | undefined {
  const phase = textAt(pod, 'status', 'phase');
  if (phase !== 'Succeeded' && phase !== 'Failed') return undefined;
  const message = phase === 'Succeeded' ? 'The pod has completed successfully.' : 'The pod failed.';
  return [{ type: 'Completed', status: 'True', reason: phase, message }];
}

export const podCells: Cells = {
  podReady: (pod) => summarise(pod).ready,
  podStatus: (pod) => summarise(pod).status,
  podRestarts: (pod, now) => {
    const { restarts, lastRestart } = summarise(pod);
    return restarts > 0 && lastRestart > 0 ? `${restarts} (${humanDuration(now - lastRestart)} ago)` : `${restarts}`;
  },
  readinessGates: (pod) => {
    const gates = listAt(pod, 'spec', 'readinessGates');
    if (gates.length === 0) return NONE;
    const open = gates.filter((gate) => {
      const found = conditionOf(pod, textAt(gate, 'conditionType') ?? '');
      return textAt(found, 'status') === 'True';
    });
    return `${open.length}/${gates.length}`;
  },
};
