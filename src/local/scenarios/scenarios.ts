/** Scenarios for the local world: workloads to create, and faults at fixed times of the world's clock. */
import { Kinds } from '../../api/kinds.ts';
import { Labels } from '../../api/labels.ts';
import { Duration } from '../../units/duration.ts';
import { parseFault, type FaultOrder } from '../faults/faultKinds.ts';
import type { Faults } from '../faults/faults.ts';
import {
  batch,
  database,
  manifest,
  nightly,
  service,
  type BatchShape,
  type DatabaseShape,
  type Manifest,
  type ServiceShape,
} from './manifests.ts';
import file from './scenarios.json' with { type: 'json' };

export type ScenarioName = keyof typeof file;
export const SCENARIOS = Object.keys(file) as ScenarioName[];

/** A workload in scenarios.json; the member with its kind has its name. */
type Workload =
  | (ServiceShape & { readonly service: string; readonly onSpot?: boolean })
  | (DatabaseShape & { readonly database: string })
  | (BatchShape & { readonly batch: string })
  | (BatchShape & { readonly nightly: string; readonly schedule: string });

interface Row {
  readonly summary: string;
  readonly workloads: readonly Workload[];
  readonly faults: readonly { readonly at: string; readonly every?: string; readonly fault: string }[];
}

interface ScheduledFault {
  /** Milliseconds after the start. */
  readonly at: number;
  /** Interval in milliseconds at which the fault recurs. */
  readonly every?: number;
  readonly fault: string;
}

export interface Scenario {
  readonly summary: string;
  readonly manifests: readonly Manifest[];
  readonly faults: readonly ScheduledFault[];
}

const TOLERATES_SPOT = {
  key: 'kubernetes.azure.com/scalesetpriority',
  operator: 'Equal',
  value: 'spot',
  effect: 'NoSchedule',
} as const;

const spotPool = manifest(Kinds.NodePool, {
  metadata: { name: 'spot' },
  spec: {
    weight: 50,
    disruption: {
      consolidateAfter: '30s',
      consolidationPolicy: 'WhenEmptyOrUnderutilized',
      budgets: [{ nodes: '30%' }],
    },
    template: {
      spec: {
        nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' },
        expireAfter: 'Never',
        requirements: [
          { key: Labels.arch, operator: 'In', values: ['amd64'] },
          { key: Labels.os, operator: 'In', values: ['linux'] },
          { key: Labels.capacityType, operator: 'In', values: ['spot'] },
          { key: Labels.skuFamily, operator: 'In', values: ['D', 'E', 'F'] },
        ],
      },
    },
  },
});

const onSpot = { containers: [], nodeSelector: { [Labels.capacityType]: 'spot' }, tolerations: [TOLERATES_SPOT] };

function manifestsOf(workload: Workload): readonly Manifest[] {
  if ('service' in workload) {
    const { service: name, onSpot: isOnSpot, ...shape } = workload;
    return service(name, isOnSpot ? { ...shape, spec: onSpot } : shape);
  }
  if ('database' in workload) return database(workload.database, workload);
  return 'batch' in workload
    ? [batch(workload.batch, workload)]
    : [nightly(workload.nightly, workload.schedule, workload)];
}

function scenarioOf({ summary, workloads, faults }: Row): Scenario {
  const needsSpot = workloads.some((workload) => 'onSpot' in workload);
  const milliseconds = (text: string): number => Duration.parse(text).milliseconds;
  return {
    summary,
    manifests: [...(needsSpot ? [spotPool] : []), ...workloads.flatMap(manifestsOf)],
    faults: faults.map(({ at, every, fault }) => ({
      at: milliseconds(at),
      ...(every !== undefined && { every: milliseconds(every) }),
      fault,
    })),
  };
}

const ROWS: Readonly<Record<ScenarioName, Row>> = file;

export const scenarios = Object.fromEntries(
  Object.entries(ROWS).map(([name, row]) => [name, scenarioOf(row)]),
) as Readonly<Record<ScenarioName, Scenario>>;

/**
 * Schedules the scenario's faults; returns a function that cancels them. `age` is how long the world has existed: faults
 * that were due before are added only if they recur or would still last.
 */
export function scheduleFaults(name: ScenarioName, faults: Faults, age = 0): () => void {
  const cancels = new Map<ScheduledFault, () => void>();
  const plan = (scheduled: ScheduledFault, wait: number, order: FaultOrder): void => {
    const cancel = faults.clock.after(wait, () => {
      faults.add(order);
      if (scheduled.every !== undefined) plan(scheduled, scheduled.every, parseFault(scheduled.fault));
    });
    cancels.set(scheduled, cancel);
  };
  for (const scheduled of scenarios[name].faults) {
    const order = parseFault(scheduled.fault);
    const { at, every } = scheduled;
    const late = age - at;
    const lasts = order.numbers['for'] ?? 0;
    if (late <= 0) plan(scheduled, -late, order);
    else if (every !== undefined) plan(scheduled, every - (late % every), order);
    else if (late < lasts) plan(scheduled, 0, { ...order, numbers: { ...order.numbers, for: lasts - late } });
  }
  return () => {
    for (const cancel of cancels.values()) cancel();
  };
}
