/** kube-scheduler's default spread for pods without constraints, with the selector that kube-scheduler would derive. */
import type { LabelSelector, LabelSelectorRequirement } from 'kubernetes-types/meta/v1.js';
import type { TopologySpreadConstraint } from 'kubernetes-types/core/v1.js';
import {
  Kinds,
  type Pod,
  type ReplicaSet,
  type ReplicationController,
  type Service,
  type StatefulSet,
} from '../../api/kinds.ts';
import type { Informer, Informers } from '../../kube/informer.ts';
import type { Problem } from '../../solver/problem.ts';

type Labels = Readonly<Record<string, string>>;
export type SpreadConstraint = Omit<TopologySpreadConstraint, 'labelSelector'>;

export class DefaultSpread {
  private readonly constraints: readonly SpreadConstraint[];
  private readonly services: Informer<Service>;
  private readonly replicationControllers: Informer<ReplicationController>;
  private readonly replicaSets: Informer<ReplicaSet>;
  private readonly statefulSets: Informer<StatefulSet>;

  constructor(constraints: readonly SpreadConstraint[], informers: Informers) {
    this.constraints = constraints;
    this.services = informers.of(Kinds.Service);
    this.replicationControllers = informers.of(Kinds.ReplicationController);
    this.replicaSets = informers.of(Kinds.ReplicaSet);
    this.statefulSets = informers.of(Kinds.StatefulSet);
  }

  /** Caches per pass: pods of one workload have the same answer. */
  forPass(): NonNullable<Problem['defaultSpread']> {
    let services: Map<string, Service[]> | undefined;
    const known = new Map<string, LabelSelector | undefined>();
    return {
      constraints: this.constraints as readonly TopologySpreadConstraint[],
      selectorOf: (pod) => {
        const { namespace = '', labels, ownerReferences } = pod.metadata;
        const owner = ownerReferences?.find(({ controller }) => controller)?.uid ?? '';
        const key = JSON.stringify([namespace, owner, labels]);
        if (!known.has(key)) {
          services ??= grouped(this.services.store.list());
          known.set(key, this.deduce(pod, services.get(namespace) ?? []));
        }
        return known.get(key);
      },
    };
  }

  private deduce({ metadata }: Pod, services: readonly Service[]): LabelSelector | undefined {
    const labels = metadata.labels ?? {};
    const equal: Record<string, string> = {};
    for (const { spec } of services) {
      if (spec?.selector && matches(spec.selector, labels)) Object.assign(equal, spec.selector);
    }
    const expressions: LabelSelectorRequirement[] = [];
    const owner = metadata.ownerReferences?.find(({ controller }) => controller);
    const ref = { name: owner?.name ?? '', namespace: metadata.namespace ?? '' };
    if (owner?.apiVersion === 'v1' && owner.kind === 'ReplicationController') {
      Object.assign(equal, this.replicationControllers.store.get(ref)?.spec?.selector);
    }
    if (owner?.apiVersion === 'apps/v1') {
      const stores = { ReplicaSet: this.replicaSets.store, StatefulSet: this.statefulSets.store };
      const selector = stores[owner.kind as keyof typeof stores]?.get(ref)?.spec?.selector;
      for (const [key, value] of Object.entries(selector?.matchLabels ?? {})) {
        expressions.push({ key, operator: 'In', values: [value] });
      }
      expressions.push(...(selector?.matchExpressions ?? []));
    }
    if (Object.keys(equal).length === 0 && expressions.length === 0) return undefined;
    return { matchLabels: equal, matchExpressions: expressions };
  }
}

const matches = (selector: Labels, labels: Labels): boolean =>
  Object.entries(selector).every(([key, value]) => labels[key] === value);

function grouped(services: Iterable<Service>): Map<string, Service[]> {
  const groups = new Map<string, Service[]>();
  for (const service of services) {
    const { namespace = '' } = service.metadata;
    const group = groups.get(namespace);
    if (group) group.push(service);
    else groups.set(namespace, [service]);
  }
  return groups;
}
