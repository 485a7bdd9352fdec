/**
 * What pods use, as a model: nothing runs inside them. In: pods, their workloads and the load that
 * `local.nodewright.dev/load` describes. Out: CPU and memory of each container. A load is shared by the ready pods of
 * its workload, a GiB of memory with each core, as autoscalers see it; without one a service idles at a share of what it
 * asked for, and a pod that runs to an end works.
 */
import type { Deployment, HorizontalPodAutoscaler, Pod, ReplicaSet, StatefulSet } from '../../api/kinds.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Informer } from '../../kube/informer.ts';
import { parseResources, quantityOf } from '../../units/resources.ts';
import { LOAD, loadAt } from '../workloads/loadModel.ts';
import { BY_CONTROLLER, controllerOf } from '../workloads/ownedObjects.ts';
import { isActive, isReady } from '../workloads/podState.ts';

/** Millicores and bytes. */
export interface Usage {
  readonly cpu: number;
  readonly memory: number;
}

export interface PodUsageOptions {
  readonly pods: Informer<Pod>;
  readonly replicaSets: Informer<ReplicaSet>;
  readonly deployments: Informer<Deployment>;
  readonly statefulSets: Informer<StatefulSet>;
  readonly autoscalers: Informer<HorizontalPodAutoscaler>;
}

interface Workload {
  readonly kind: string;
  readonly object: KubeObject;
}

const GIBIBYTE = 2 ** 30;
/** Shares of what was asked for. */
const IDLE = { cpu: 0.05, memory: 0.5 };
const AT_WORK = { cpu: 0.9, memory: 0.8 };
/** What a container takes that asked for nothing, or next to nothing. */
const LEAST = { cpu: 1, memory: 8 * 2 ** 20 };

export class PodUsage {
  private readonly options: PodUsageOptions;
  private readonly shares = new Map<string, Usage | undefined>();
  private readonly now: number;

  /** For one moment: shares are kept, so that asking for every pod costs each workload once. */
  constructor(options: PodUsageOptions, now: number) {
    this.options = options;
    this.now = now;
  }

  /** By container name; only containers that run. */
  of(pod: Pod): ReadonlyMap<string, Usage> {
    const containers = pod.spec?.containers ?? [];
    const running = new Set(
      (pod.status?.containerStatuses ?? []).filter(({ state }) => state?.running).map(({ name }) => name),
    );
    const asked = new Map(containers.map(({ name, resources }) => [name, asUsage(resources?.requests)]));
    const share = isReady(pod) ? this.share(pod) : undefined;
    const found = new Map<string, Usage>();
    for (const name of running) {
      const own = asked.get(name);
      if (own) found.set(name, share ? partOf(share, own, [...asked.values()]) : unloaded(own, pod));
    }
    return found;
  }

  /** One ready pod's part of the load of its workload; undefined when nobody says what load there is. */
  private share(pod: Pod): Usage | undefined {
    const workload = this.workloadOf(pod);
    if (!workload) return undefined;
    const uid = workload.object.metadata.uid ?? '';
    if (!this.shares.has(uid)) this.shares.set(uid, this.shareOf(workload));
    return this.shares.get(uid);
  }

  private shareOf(workload: Workload): Usage | undefined {
    const { metadata } = workload.object;
    const text = metadata.annotations?.[LOAD] ?? this.loadOfAutoscaler(workload);
    const load = text && loadAt(text, Date.parse(metadata.creationTimestamp ?? ''), this.now);
    const { pods, replicaSets } = this.options;
    const uid = metadata.uid ?? '';
    const owners = [uid, ...replicaSets.store.byIndex(BY_CONTROLLER, uid).map(({ metadata }) => metadata.uid ?? '')];
    const ready = owners
      .flatMap((owner) => pods.store.byIndex(BY_CONTROLLER, owner))
      .filter((each) => isActive(each) && isReady(each)).length;
    if (load === undefined || load === '' || ready === 0) return undefined;
    return { cpu: (load * 1000) / ready, memory: (load * GIBIBYTE) / ready };
  }

  private workloadOf(pod: Pod): Workload | undefined {
    const { namespace } = pod.metadata;
    const { replicaSets, deployments, statefulSets } = this.options;
    const named = (kind: string, object: KubeObject | undefined): Workload | undefined => object && { kind, object };
    const owner = controllerOf(pod);
    if (owner?.kind === 'StatefulSet')
      return named(owner.kind, statefulSets.store.get({ name: owner.name, namespace }));
    if (owner?.kind !== 'ReplicaSet') return undefined;
    const set = replicaSets.store.get({ name: owner.name, namespace });
    const above = set && controllerOf(set);
    if (above?.kind !== 'Deployment') return named(owner.kind, set);
    return named(above.kind, deployments.store.get({ name: above.name, namespace }));
  }

  private loadOfAutoscaler({ kind, object }: Workload): string | undefined {
    const { name, namespace } = object.metadata;
    for (const { metadata, spec } of this.options.autoscalers.store.list()) {
      const target = spec?.scaleTargetRef;
      if (metadata.namespace === namespace && target?.kind === kind && target.name === name) {
        return metadata.annotations?.[LOAD];
      }
    }
    return undefined;
  }
}

function asUsage(requests: Readonly<Record<string, string>> | undefined): Usage {
  const parsed = parseResources(requests);
  return {
    cpu: quantityOf(parsed, 'cpu').milliValue(),
    memory: quantityOf(parsed, 'memory').milliValue() / 1000,
  };
}

/** Containers of a pod share its load as they share what it asked for. */
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
