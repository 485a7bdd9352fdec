/**
 * The bill in the format of OpenCost's `/allocation` API, for existing consumers. A rehearsal knows only one moment:
 * the window is the time before it, as if the cluster had not changed in it.
 */
import type { Pod } from '../api/kinds.ts';
import type { NodeView } from '../cluster/nodeView.ts';
import { podRequests } from '../pods/podRequests.ts';
import { quantityOf } from '../units/resources.ts';
import { timestamp } from '../units/timestamp.ts';
import { sharesOf, workloadOf } from './costReportOf.ts';
import { nodePrice } from './nodeFactsOf.ts';
import type { Rehearsal } from './rehearse.ts';

export type Aggregate = 'cluster' | 'node' | 'namespace' | 'controllerKind' | 'controller' | 'pod' | `label:${string}`;

export interface OpenCostOptions {
  readonly aggregate: Aggregate;
  /** Milliseconds. */
  readonly window: number;
  readonly cluster: string;
}

interface Allocation {
  readonly name: string;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly window: { readonly start: string; readonly end: string };
  readonly start: string;
  readonly end: string;
  readonly minutes: number;
  readonly totalCost: number;
  readonly [figure: string]: unknown;
}

export interface OpenCostAnswer {
  readonly code: 200;
  readonly data: readonly Readonly<Record<string, Allocation>>[];
}

/** OpenCost's name for unrequested resources, and the one for pods without the label. */
const IDLE = '__idle__';
const UNALLOCATED = '__unallocated__';
const HOUR = 3_600_000;
/** Costs that are not known here. */
const FREE = [
  'gpuCount',
  'gpuHours',
  'gpuCost',
  'gpuCostAdjustment',
  'gpuCostIdle',
  'gpuEfficiency',
  'networkTransferBytes',
  'networkReceiveBytes',
  'networkCost',
  'networkCrossZoneCost',
  'networkCrossRegionCost',
  'networkInternetCost',
  'networkCostAdjustment',
  'loadBalancerCost',
  'loadBalancerCostAdjustment',
  'pvBytes',
  'pvByteHours',
  'pvCost',
  'pvCostAdjustment',
  'externalCost',
  'sharedCost',
];
const NOTHING = Object.fromEntries(FREE.map((name) => [name, 0]));

/** Sum per hour over pods that are reported together. */
interface Sum {
  readonly properties: Record<string, unknown>;
  cores: number;
  bytes: number;
  cpuPrice: number;
  ramPrice: number;
}

export function openCostOf({ pass }: Rehearsal, options: OpenCostOptions): OpenCostAnswer {
  const { aggregate, window, cluster } = options;
  const sums = new Map<string, Sum>();
  const add = (name: string, properties: Record<string, unknown>, part: Omit<Sum, 'properties'>): void => {
    const sum = sums.get(name) ?? { properties, cores: 0, bytes: 0, cpuPrice: 0, ramPrice: 0 };
    for (const figure of ['cores', 'bytes', 'cpuPrice', 'ramPrice'] as const) sum[figure] += part[figure];
    sums.set(name, sum);
  };
  for (const view of pass.views.filter(({ claim }) => claim !== undefined)) {
    // As in `cost`: half of a node's price is for its cpu, half for its memory.
    const half = (nodePrice(pass, view) ?? 0) / 2;
    const left = { cpu: half, memory: half };
    for (const pod of view.pods) {
      const shares = sharesOf(pod, view);
      const cpuPrice = Math.min(left.cpu, half * shares.cpu);
      const ramPrice = Math.min(left.memory, half * shares.memory);
      left.cpu -= cpuPrice;
      left.memory -= ramPrice;
      const requests = podRequests(pod);
      const cores = quantityOf(requests, 'cpu').milliValue() / 1000;
      const bytes = quantityOf(requests, 'memory').value();
      const known = propertiesOf(pod, view, cluster);
      add(nameBy(aggregate, known, pod), shown(aggregate, known), { cores, bytes, cpuPrice, ramPrice });
    }
    const byNode = aggregate === 'node' ? { node: view.name } : {};
    const idle = aggregate === 'node' ? `${view.name}/${IDLE}` : IDLE;
    add(idle, { cluster, ...byNode }, { cores: 0, bytes: 0, cpuPrice: left.cpu, ramPrice: left.memory });
  }
  const named = [...sums].map(([name, sum]) => [name, allocation(name, sum, pass.now, window)] as const);
  return { code: 200, data: [Object.fromEntries(named.sort(([one], [other]) => (one < other ? -1 : 1)))] };
}

interface Properties {
  readonly cluster: string;
  readonly node: string;
  readonly namespace: string;
  readonly controllerKind: string;
  readonly controller: string;
  readonly pod: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly providerID: string;
}

function propertiesOf(pod: Pod, { name, node }: NodeView, cluster: string): Properties {
  const [namespace = '', kind = '', controller = ''] = workloadOf(pod).split('/');
  return {
    cluster,
    node: name,
    namespace,
    // A pod without an owner has no controller.
    controllerKind: kind === 'Pod' ? '' : kind.toLowerCase(),
    controller: kind === 'Pod' ? '' : controller,
    pod: pod.metadata.name,
    labels: pod.metadata.labels ?? {},
    providerID: node?.spec?.providerID ?? '',
  };
}

function nameBy(aggregate: Aggregate, properties: Properties, { metadata }: Pod): string {
  if (aggregate.startsWith('label:')) return metadata.labels?.[aggregate.slice('label:'.length)] ?? UNALLOCATED;
  if (aggregate === 'pod') return `${properties.namespace}/${properties.pod}`;
  if (aggregate === 'controller' && properties.controller !== '') {
    return `${properties.controllerKind}:${properties.controller}`;
  }
  const value = properties[aggregate as 'cluster' | 'node' | 'namespace' | 'controllerKind' | 'controller'];
  return value === '' ? UNALLOCATED : value;
}

/** Properties that all pods of the group share. */
function shown(aggregate: Aggregate, known: Properties): Record<string, unknown> {
  const { cluster, namespace, controller, controllerKind, node } = known;
  switch (aggregate) {
    case 'pod':
      return { ...known };
    case 'node':
      return { cluster, node };
    case 'namespace':
      return { cluster, namespace };
    case 'controller':
      return { cluster, namespace, controller, controllerKind };
    case 'controllerKind':
      return { cluster, controllerKind };
    case 'cluster':
    default:
      return { cluster };
  }
}

function allocation(name: string, sum: Sum, now: number, window: number): Allocation {
  const hours = window / HOUR;
  const [start, end] = [timestamp(now - window), timestamp(now)];
  const isIdle = name.endsWith(IDLE);
  const [cpuCost, ramCost] = [sum.cpuPrice * hours, sum.ramPrice * hours];
  // Actual usage is not known: requests count as used.
  const efficiency = isIdle ? 0 : 1;
  return {
    name,
    properties: sum.properties,
    window: { start, end },
    start,
    end,
    minutes: rounded(window / 60_000),
    cpuCores: rounded(sum.cores),
    cpuCoreRequestAverage: rounded(sum.cores),
    cpuCoreLimitAverage: 0,
    cpuCoreUsageAverage: rounded(sum.cores),
    cpuCoreHours: rounded(sum.cores * hours),
    cpuCost: rounded(cpuCost),
    cpuCostAdjustment: 0,
    cpuCostIdle: 0,
    cpuEfficiency: efficiency,
    ramBytes: rounded(sum.bytes),
    ramByteRequestAverage: rounded(sum.bytes),
    ramByteLimitAverage: 0,
    ramByteUsageAverage: rounded(sum.bytes),
    ramByteHours: rounded(sum.bytes * hours),
    ramCost: rounded(ramCost),
    ramCostAdjustment: 0,
    ramCostIdle: 0,
    ramEfficiency: efficiency,
    ...NOTHING,
    pvs: null,
    lbAllocations: null,
    gpuAllocation: null,
    totalCost: rounded(cpuCost + ramCost),
    totalEfficiency: efficiency,
  };
}

/** Rounded as in OpenCost. */
const rounded = (value: number): number => Math.round(value * 100_000) / 100_000;
