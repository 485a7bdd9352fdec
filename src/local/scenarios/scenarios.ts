/** Scenarios for the local world: workloads to create, and faults at fixed times of the world's clock. */
import { Kinds } from '../../api/kinds.ts';
import { Labels } from '../../api/labels.ts';
import { parseFault, type FaultOrder } from '../faults/faultKinds.ts';
import type { Faults } from '../faults/faults.ts';
import { batch, database, manifest, nightly, service, type Manifest } from './manifests.ts';

export const SCENARIOS = [
  'quiet',
  'black-friday',
  'batch-night',
  'streaming-surge',
  'spot-storm',
  'quota-wall',
] as const;
export type ScenarioName = (typeof SCENARIOS)[number];

interface Trouble {
  /** Milliseconds after the start. */
  readonly at: number;
  /** Again after this many milliseconds. */
  readonly every?: number;
  readonly fault: string;
}

export interface Scenario {
  readonly summary: string;
  readonly manifests: readonly Manifest[];
  readonly troubles: readonly Trouble[];
}

const MINUTE = 60_000;
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

export const scenarios: Readonly<Record<ScenarioName, Scenario>> = {
  quiet: { summary: 'nothing happens until you make it happen', manifests: [], troubles: [] },
  'black-friday': {
    summary: 'a shop whose customers all come within minutes, stay for half an hour and go',
    manifests: [
      ...service('storefront', {
        replicas: 6,
        cpu: '500m',
        memory: '512Mi',
        load: '0s=2, 2m=2, 6m=60, 30m=70, 40m=4',
        most: 160,
        spreadOverZones: true,
        maxUnavailable: '20%',
      }),
      ...service('checkout', {
        replicas: 3,
        cpu: '1',
        memory: '1Gi',
        load: '0s=1, 3m=1, 8m=24, 30m=28, 42m=2',
        most: 60,
        maxUnavailable: 1,
      }),
      ...service('search', {
        replicas: 3,
        cpu: '1500m',
        memory: '6Gi',
        load: '0s=2, 2m=2, 7m=30, 30m=30, 45m=3',
        most: 40,
      }),
      ...database('orders', 3, { cpu: '1', memory: '4Gi', storage: '64Gi' }),
    ],
    troubles: [],
  },
  'batch-night': {
    summary: 'jobs by the hundred, again and again, and next to nothing in between',
    manifests: [
      ...service('portal', { replicas: 2, cpu: '250m', memory: '256Mi', maxUnavailable: 1 }),
      batch('reindex', { completions: 120, parallelism: 60, runSeconds: 90, cpu: '1', memory: '2Gi' }),
      nightly('invoices', '*/10 * * * *', {
        completions: 80,
        parallelism: 40,
        runSeconds: 60,
        cpu: '900m',
        memory: '3Gi',
      }),
      nightly('reports', '*/15 * * * *', {
        completions: 20,
        parallelism: 20,
        runSeconds: 180,
        cpu: '3',
        memory: '12Gi',
      }),
    ],
    troubles: [],
  },
  'streaming-surge': {
    summary: 'brokers with disks in every zone, and consumers that follow a load in waves',
    manifests: [
      ...database('broker', 3, { cpu: '2', memory: '8Gi', storage: '256Gi' }),
      ...service('consumer', {
        replicas: 4,
        cpu: '750m',
        memory: '1Gi',
        load: '0s=2, 2m=2, 4m=40, 10m=40, 13m=5, 18m=5, 20m=60, 30m=60, 35m=3',
        most: 120,
        maxUnavailable: '25%',
      }),
      ...service('transcode', {
        replicas: 2,
        cpu: '3',
        memory: '4Gi',
        load: '0s=4, 5m=4, 8m=48, 20m=48, 25m=4',
        most: 40,
      }),
    ],
    troubles: [],
  },
  'spot-storm': {
    summary: 'everything runs on spot instances, and Azure takes them back',
    manifests: [
      spotPool,
      ...service('renderer', { replicas: 40, cpu: '900m', memory: '2Gi', maxUnavailable: '30%', spec: onSpot }),
      ...service('api', { replicas: 6, cpu: '500m', memory: '1Gi', maxUnavailable: 1 }),
    ],
    troubles: [
      // One instance for certain: a share of a few may be none of them.
      { at: MINUTE, every: 4 * MINUTE, fault: 'spot-eviction notice=30s' },
      { at: 3 * MINUTE, every: 4 * MINUTE, fault: 'spot-eviction share=0.4 notice=30s' },
      { at: 5 * MINUTE, every: 9 * MINUTE, fault: 'zonal-allocation zone=1 priority=spot for=4m' },
      { at: 10 * MINUTE, every: 15 * MINUTE, fault: 'spot-eviction share=0.8 notice=0s' },
    ],
  },
  'quota-wall': {
    summary: 'more pods than the subscription has vCPUs for, until the quota is raised',
    manifests: [
      ...service('analytics', { replicas: 60, cpu: '1900m', memory: '4Gi' }),
      ...service('web', { replicas: 12, cpu: '500m', memory: '1Gi', maxUnavailable: 1 }),
    ],
    troubles: [
      { at: 0, fault: 'regional-quota limit=64 for=10m' },
      { at: 10 * MINUTE, fault: 'family-quota share=0.5 for=10m' },
    ],
  },
};

/**
 * Schedules the scenario's faults; returns how to cancel them. `age` is how long the world has existed: a fault that was
 * due before comes again only if it repeats or would still last.
 */
export function troubleWorld(name: ScenarioName, faults: Faults, age = 0): () => void {
  const cancels = new Map<Trouble, () => void>();
  const plan = (trouble: Trouble, wait: number, order: FaultOrder): void => {
    const cancel = faults.clock.after(wait, () => {
      faults.add(order);
      if (trouble.every !== undefined) plan(trouble, trouble.every, parseFault(trouble.fault));
    });
    cancels.set(trouble, cancel);
  };
  for (const trouble of scenarios[name].troubles) {
    const order = parseFault(trouble.fault);
    const { at, every } = trouble;
    const late = age - at;
    const lasts = order.numbers['for'] ?? 0;
    if (late <= 0) plan(trouble, -late, order);
    else if (every !== undefined) plan(trouble, every - (late % every), order);
    else if (late < lasts) plan(trouble, 0, { ...order, numbers: { ...order.numbers, for: lasts - late } });
  }
  return () => {
    for (const cancel of cancels.values()) cancel();
  };
}
