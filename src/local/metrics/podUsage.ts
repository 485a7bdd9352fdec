/**
 * A model of what pods use, since nothing runs inside them. The load in `local.nodewright.dev/load` is divided among
 * the ready pods of its workload. Without a load, pods that always restart idle at a small share of their requests,
 * and pods that run to completion use most of theirs.
 */
import type { Pod } from '../../api/kinds.ts';
import { isActive } from '../../pods/podPredicates.ts';
import { parseResources, quantityOf } from '../../units/resources.ts';
import { podsByOwner, workloadOf, type ClusterInformers } from '../clusterInformers.ts';
import { addUsage, LOAD, loadAt, loadUsage, NO_USAGE, type Usage } from '../workloads/loadModel.ts';
import { isReady } from '../workloads/podState.ts';

type Workload = NonNullable<ReturnType<typeof workloadOf>>;

/** Shares of the requests. */
const IDLE = { cpu: 0.05, memory: 0.5 };
const AT_WORK = { cpu: 0.9, memory: 0.8 };
/** Minimum usage of a container. */
const LEAST = { cpu: 1, memory: 8 * 2 ** 20 };

/** Returns the usage of a pod's running containers by their name. */
type UsageOf = (pod: Pod) => ReadonlyMap<string, Usage>;

/** Returns the usage at one moment. Shares are kept, so that each workload is computed once for all its pods. */
export function podUsage(informers: ClusterInformers, now: number): UsageOf {
  const shares = new Map<string, Usage | undefined>();

  function usageOf(pod: Pod): ReadonlyMap<string, Usage> {
    const containers = pod.spec?.containers ?? [];
    const running = new Set(
      (pod.status?.containerStatuses ?? []).filter(({ state }) => state?.running).map(({ name }) => name),
    );
    const asked = new Map(containers.map((container) => [container.name, asUsage(container)]));
    const share = isReady(pod) ? sharedBy(pod) : undefined;
    const found = new Map<string, Usage>();
    for (const name of running) {
      const own = asked.get(name);
      if (own) found.set(name, share ? partOf(share, own, [...asked.values()]) : unloaded(own, pod));
    }
    return found;
  }

  /** Returns one ready pod's part of the load of its workload; undefined without a load. */
  function sharedBy(pod: Pod): Usage | undefined {
    const workload = workloadOf(pod, informers);
    if (!workload) return undefined;
    const uid = workload.object.metadata.uid ?? '';
    if (!shares.has(uid)) shares.set(uid, shareOf(workload));
    return shares.get(uid);
  }

  function shareOf(workload: Workload): Usage | undefined {
    const { metadata } = workload.object;
    const text = metadata.annotations?.[LOAD] ?? loadOfAutoscaler(workload);
    const load = text && loadAt(text, Date.parse(metadata.creationTimestamp ?? ''), now);
    const ready = podsByOwner(metadata.uid ?? '', informers)
      .flatMap(([, pods]) => pods)
      .filter((each) => isActive(each) && isReady(each)).length;
    if (load === undefined || load === '' || ready === 0) return undefined;
    return loadUsage(load / ready);
  }

  function loadOfAutoscaler({ kind, object }: Workload): string | undefined {
    const { name, namespace } = object.metadata;
    for (const { metadata, spec } of informers.autoscalers.store.list()) {
      const target = spec?.scaleTargetRef;
      if (metadata.namespace === namespace && target?.kind === kind && target.name === name) {
        return metadata.annotations?.[LOAD];
      }
    }
    return undefined;
  }

  return usageOf;
}

/** Returns the sum of the requests of a pod's containers. */
export const requestedUsage = ({ spec }: Pod): Usage =>
  (spec?.containers ?? []).map(asUsage).reduce(addUsage, NO_USAGE);

/** Returns what the containers of a pod use without a load. */
export const unloadedUsage = (pod: Pod): Usage =>
  (pod.spec?.containers ?? []).map((container) => unloaded(asUsage(container), pod)).reduce(addUsage, NO_USAGE);

function asUsage({ resources }: NonNullable<Pod['spec']>['containers'][number]): Usage {
  const parsed = parseResources(resources?.requests);
  return {
    cpu: quantityOf(parsed, 'cpu').milliValue(),
    memory: quantityOf(parsed, 'memory').milliValue() / 1000,
  };
}

/** Returns a container's part of its pod's load, in proportion to its requests. */
function partOf(whole: Usage, own: Usage, all: readonly Usage[]): Usage {
  const part = (field: 'cpu' | 'memory'): number => {
    const sum = all.reduce((total, each) => total + each[field], 0);
    return Math.max(LEAST[field], whole[field] * (sum === 0 ? 1 / all.length : own[field] / sum));
  };
  return { cpu: part('cpu'), memory: part('memory') };
}

function unloaded(own: Usage, pod: Pod): Usage {
  const share = (pod.spec?.restartPolicy ?? 'Always') === 'Always' ? IDLE : AT_WORK;
  return {
    cpu: Math.max(LEAST.cpu, own.cpu * share.cpu),
    memory: Math.max(LEAST.memory, own.memory * share.memory),
  };
}
