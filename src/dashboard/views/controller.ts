/** State of the controller itself: passes, loops, lag, memory and its requests to others. */
import type { Ledger } from '../../ledger/ledger.ts';
import type { Frame } from '../feed.ts';
import type { ControllerScreen } from '../screens.ts';
import type { Sample } from './samples.ts';

const RUNS = 'controller_runtime_reconcile_total';
const TIME = 'controller_runtime_reconcile_time_seconds_sum';
const TIMES = 'controller_runtime_reconcile_time_seconds_count';
const DEPTH = 'workqueue_depth';
const AZURE = 'nodewright_azure_requests_total';
const KUBE = 'rest_client_requests_total';
const LAG = 'nodejs_eventloop_lag_p99_seconds';
const MEMORY = 'process_resident_memory_bytes';
const HEAP = 'nodejs_heap_size_used_bytes';
const CPU = 'process_cpu_seconds_total';
const SYNCED = 'karpenter_cluster_state_synced';
const HINTS = 'nodewright_placement_hints_total';
export const CONTROLLER_METRICS: ReadonlySet<string> = new Set([
  RUNS,
  TIME,
  TIMES,
  DEPTH,
  AZURE,
  KUBE,
  LAG,
  MEMORY,
  HEAP,
  CPU,
  SYNCED,
  HINTS,
]);

const MIB = 2 ** 20;
const MOST_PASSES = 200;
const MOST_CALLS = 100;

export function controllerScreen(
  { time, state }: Frame,
  version: string,
  ledger: Ledger,
  samples: readonly Sample[],
): ControllerScreen {
  const of = (name: string): readonly Sample[] => samples.filter((sample) => sample.name === name);
  const sum = (name: string): number => of(name).reduce((total, { value }) => total + value, 0);
  const passes = ledger.entries().flatMap((entry) => (entry.kind === 'plan' ? [entry] : []));
  const hints = new Map(of(HINTS).map(({ labels, value }) => [labels['outcome'] ?? '', value]));
  return {
    time,
    state,
    version,
    figures:
      samples.length === 0
        ? []
        : [
            { name: 'Version', value: version },
            { name: 'Cluster state', value: sum(SYNCED) === 1 ? 'synced' : 'not synced' },
            { name: 'Event loop lag (p99)', value: `${(sum(LAG) * 1000).toFixed(0)} ms` },
            {
              name: 'Memory',
              value: `${(sum(MEMORY) / MIB).toFixed(0)} MiB`,
              detail: `heap ${(sum(HEAP) / MIB).toFixed(0)} MiB`,
            },
            { name: 'CPU', value: `${sum(CPU).toFixed(0)} s`, detail: 'since the start' },
            {
              name: 'Placement hints',
              value: String(hints.get('written') ?? 0),
              detail: `${hints.get('followed') ?? 0} followed`,
            },
          ],
    passes: passes.slice(-MOST_PASSES).map(({ time: at, milliseconds, pods }) => ({ time: at, milliseconds, pods })),
    loops: loopsOf(of),
    calls: [
      ...of(AZURE).map(({ labels, value }) => ({ target: 'Azure', ...splitOperation(labels), count: value })),
      ...of(KUBE).map(({ labels, value }) => ({
        target: 'Kubernetes',
        method: labels['method'] ?? '',
        code: labels['code'] ?? '',
        count: value,
      })),
    ]
      .sort((left, right) => right.count - left.count)
      .slice(0, MOST_CALLS),
  };
}

const splitOperation = (labels: Sample['labels']) => ({
  method: labels['operation'] ?? '',
  code: labels['outcome'] ?? '',
});

function loopsOf(of: (name: string) => readonly Sample[]): ControllerScreen['loops'] {
  const byLoop = (name: string): ReadonlyMap<string, number> => {
    const sums = new Map<string, number>();
    for (const { labels, value } of of(name)) {
      const loop = labels['controller'] ?? labels['name'] ?? '';
      sums.set(loop, (sums.get(loop) ?? 0) + value);
    }
    return sums;
  };
  const [seconds, times, depth] = [byLoop(TIME), byLoop(TIMES), byLoop(DEPTH)];
  const errors = new Map<string, number>();
  for (const { labels, value } of of(RUNS)) {
    if (labels['result'] === 'error') errors.set(labels['controller'] ?? '', value);
  }
  return [...byLoop(RUNS)]
    .map(([name, runs]) => ({
      name,
      runs,
      errors: errors.get(name) ?? 0,
      meanMilliseconds: (1000 * (seconds.get(name) ?? 0)) / Math.max(1, times.get(name) ?? 0),
      waiting: depth.get(name) ?? 0,
    }))
    .sort((left, right) => right.runs * right.meanMilliseconds - left.runs * left.meanMilliseconds);
}
