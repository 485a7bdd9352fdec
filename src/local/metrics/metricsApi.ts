/**
 * `metrics.k8s.io`, which `kubectl top` reads and AKS serves with metrics-server. As there, pods that have just started
 * and nodes that do not report are omitted.
 */
import type { Pod } from '../../api/kinds.ts';
import type { Clock } from '../../clock/clock.ts';
import { timestamp } from '../../units/timestamp.ts';
import { listAt, textAt, type ApiObject } from '../apiserver/fields.ts';
import type { AggregatedResource } from '../apiserver/http/aggregatedApi.ts';
import { PLAIN, type Column } from '../apiserver/resource.ts';
import { BY_NODE, type ClusterInformers } from '../clusterInformers.ts';
import { addUsage, type Usage } from '../workloads/loadModel.ts';
import { podUsage } from './podUsage.ts';

export interface MetricsApiOptions {
  readonly informers: ClusterInformers;
  readonly clock: Clock;
  /** Whether the kubelet of a node reports. */
  readonly canReport: (node: string) => boolean;
}

const API_VERSION = 'metrics.k8s.io/v1beta1';
/** Milliseconds between two scrapes of a kubelet. */
const RESOLUTION = 15_000;
/** Usage of a node's system processes, in millicores and bytes. */
const SYSTEM: Usage = { cpu: 60, memory: 600 * 2 ** 20 };

/** `options` is called for every request, because the control plane is created after the server. */
export function metricsApi(options: () => MetricsApiOptions): readonly AggregatedResource[] {
  return [
    {
      ...common('nodes', 'NodeMetrics', false),
      all: () => nodeMetrics(options()),
    },
    {
      ...common('pods', 'PodMetrics', true),
      all: (namespace) => podMetrics(options(), namespace),
    },
  ];
}

function nodeMetrics(options: MetricsApiOptions): readonly ApiObject[] {
  const { informers, clock, canReport } = options;
  const { nodes, pods } = informers;
  const usage = podUsage(informers, clock.now());
  return [...nodes.store.list()]
    .filter(({ metadata, status }) => {
      const ready = status?.conditions?.find(({ type }) => type === 'Ready');
      const hasRun = clock.now() - Date.parse(ready?.lastTransitionTime ?? '') >= RESOLUTION;
      return canReport(metadata.name) && ready?.status === 'True' && hasRun;
    })
    .map(({ metadata }) => {
      const used = pods.store.byIndex(BY_NODE, metadata.name).flatMap((pod) => [...usage(pod).values()]);
      return { ...head('NodeMetrics', metadata, clock), usage: quantities(used.reduce(addUsage, SYSTEM)) };
    })
    .toSorted(byName);
}

function podMetrics(options: MetricsApiOptions, namespace: string | undefined): readonly ApiObject[] {
  const { informers, clock, canReport } = options;
  const usage = podUsage(informers, clock.now());
  return [...informers.pods.store.list()]
    .filter(
      (pod) =>
        (namespace === undefined || pod.metadata.namespace === namespace) &&
        canReport(pod.spec?.nodeName ?? '') &&
        hasRun(pod, clock.now()),
    )
    .map((pod) => ({
      ...head('PodMetrics', pod.metadata, clock),
      containers: [...usage(pod)].map(([name, used]) => ({ name, usage: quantities(used) })),
    }))
    .toSorted(byName);
}

function hasRun({ status }: Pod, now: number): boolean {
  const starts = (status?.containerStatuses ?? []).map(({ state }) => Date.parse(state?.running?.startedAt ?? ''));
  return starts.some((start) => now - start >= RESOLUTION);
}

function head(
  kind: string,
  { name, namespace, labels }: Pod['metadata'],
  clock: Clock,
): ApiObject & { readonly timestamp: string } {
  const now = clock.now();
  return {
    kind,
    apiVersion: API_VERSION,
    metadata: {
      name,
      ...(namespace && { namespace }),
      creationTimestamp: timestamp(now),
      ...(labels && { labels: { ...labels } }),
    },
    timestamp: timestamp(now - (now % RESOLUTION)),
    window: `${RESOLUTION / 1000}s`,
  };
}

/** Returns quantities in the units of kubelets: nanocores and kibibytes. */
function quantities({ cpu, memory }: Usage): { readonly cpu: string; readonly memory: string } {
  return { cpu: `${Math.round(cpu * 1e6)}n`, memory: `${Math.round(memory / 1024)}Ki` };
}

const byName = (left: ApiObject, right: ApiObject): number => {
  const [one, other] = [left, right].map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}`);
  return (one ?? '') < (other ?? '') ? -1 : 1;
};

function common(plural: string, kind: string, namespaced: boolean): Omit<AggregatedResource, 'all'> {
  return {
    ...PLAIN,
    group: 'metrics.k8s.io',
    version: 'v1beta1',
    plural,
    kind,
    singular: '',
    listKind: `${kind}List`,
    namespaced,
    verbs: ['get', 'list'],
    columns: COLUMNS,
    notFoundPlural: kind.toLowerCase(),
    service: { namespace: 'kube-system', name: 'metrics-server', port: 443 },
  };
}

function column(name: string, format: string, description: string, cell: Column['cell']): Column {
  return { name, type: 'string', format, description, cell };
}

const COLUMNS: readonly Column[] = [
  column('Name', 'name', 'Name', ({ metadata }) => metadata.name),
  column('cpu', 'quantity', 'CPU', (object) => total(object, 'cpu')),
  column('memory', 'quantity', 'Memory', (object) => total(object, 'memory')),
  column('Window', 'duration', 'Window', (object) => textAt(object, 'window')),
];

function total(object: ApiObject, resource: 'cpu' | 'memory'): string {
  const own = textAt(object, 'usage', resource);
  if (own !== undefined) return own;
  const parts = listAt(object, 'containers').map((each) => Number.parseInt(textAt(each, 'usage', resource) ?? '0', 10));
  return `${parts.reduce((sum, each) => sum + each, 0)}${resource === 'cpu' ? 'n' : 'Ki'}`;
}
