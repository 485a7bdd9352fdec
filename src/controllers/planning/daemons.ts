import type { DaemonSet, Pod } from '../../api/kinds.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { hostPortsOf } from '../../pods/hostPorts.ts';
import { podRequests } from '../../pods/podRequests.ts';
import { formatResources } from '../../units/resources.ts';
import { withRequests, type DefaultRequests } from './limitRanges.ts';

interface Known {
  readonly daemonSet: DaemonSet;
  readonly newest: Pod | undefined;
  readonly defaults: Readonly<Record<string, string>> | undefined;
  /** Key of everything in the pod that affects a plan. */
  readonly text: string;
  readonly pod: Pod;
}

/**
 * One pod per DaemonSet: its newest one, otherwise one from its template, without its binding to a node. If a new
 * daemon pod has the same requests as before, the list and its pods stay the same objects.
 */
export class Daemons {
  private known = new Map<string, Known>();
  private list: readonly Pod[] = [];

  of(cluster: Cluster, defaults: DefaultRequests = new Map()): readonly Pod[] {
    const next = new Map<string, Known>();
    for (const daemonSet of cluster.snapshot().daemonSets) {
      const key = `${daemonSet.metadata.namespace ?? ''}/${daemonSet.metadata.name}`;
      next.set(key, this.read(key, daemonSet, cluster, defaults.get(daemonSet.metadata.namespace ?? '')));
    }
    this.known = next;
    const pods = [...next.values()].map(({ pod }) => pod);
    if (pods.length !== this.list.length || pods.some((pod, at) => pod !== this.list[at])) this.list = pods;
    return this.list;
  }

  private read(key: string, daemonSet: DaemonSet, cluster: Cluster, defaults: Known['defaults']): Known {
    const before = this.known.get(key);
    const newest = cluster.newestDaemonPod(daemonSet);
    const hasSameDefaults = newest !== undefined || before?.defaults === defaults;
    if (before?.daemonSet === daemonSet && before.newest === newest && hasSameDefaults) return before;
    const pod = daemonPod(daemonSet, newest, defaults);
    const text = demandText(pod);
    return { daemonSet, newest, defaults, text, pod: before?.text === text ? before.pod : pod };
  }
}

/** The namespaces of DaemonSets without a known pod. */
export function unseenDaemonNamespaces(cluster: Cluster): ReadonlySet<string> {
  const unseen = cluster.snapshot().daemonSets.filter((daemonSet) => !cluster.newestDaemonPod(daemonSet));
  return new Set(unseen.map(({ metadata }) => metadata.namespace ?? ''));
}

/** Name of the DaemonSet of a pod made here, or of a real daemon pod. */
export function daemonSetName({ metadata }: Pod): string {
  const owner = metadata.ownerReferences?.find(({ kind }) => kind === 'DaemonSet');
  return `${metadata.namespace ?? ''}/${owner?.name ?? metadata.name}`;
}

function demandText(pod: Pod): string {
  const { nodeSelector, tolerations, affinity } = pod.spec ?? {};
  return JSON.stringify([formatResources(podRequests(pod)), hostPortsOf(pod), nodeSelector, tolerations, affinity]);
}

function daemonPod(daemonSet: DaemonSet, newest: Pod | undefined, defaults: Known['defaults']): Pod {
  const template = templatePod(daemonSet, defaults);
  if (newest === undefined) return template;
  // A real daemon pod is bound to its node by an added affinity; remove it.
  const { affinity: _pinned, nodeName: _bound, ...spec } = newest.spec ?? { containers: [] };
  return { ...newest, spec: { ...spec, ...(template.spec?.affinity && { affinity: template.spec.affinity }) } };
}

function templatePod({ metadata, spec }: DaemonSet, defaults: Known['defaults']): Pod {
  const template = spec?.template;
  const { containers = [], initContainers = [] } = template?.spec ?? {};
  return {
    metadata: {
      name: metadata.name,
      ...(metadata.namespace && { namespace: metadata.namespace }),
      labels: template?.metadata?.labels ?? {},
    },
    spec: {
      ...template?.spec,
      containers: containers.map((container) => withRequests(container, defaults)),
      ...(initContainers.length > 0 && {
        initContainers: initContainers.map((container) => withRequests(container, defaults)),
      }),
    },
  };
}
