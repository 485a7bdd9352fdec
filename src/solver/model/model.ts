/**
 * The world compiled: pools, types and nodes as numbers, with everything remembered that was once worked out. In: a
 * snapshot; out: what every question to it shares. Questions add pods and take nodes away; they never change it.
 */
import type { Pod } from '../../api/kinds.ts';
import { podRequests } from '../../constraints/podRequests.ts';
import { isSelected, topologyTerms, type AffinityTerm } from '../../constraints/topology.ts';
import type { Snapshot } from '../problem.ts';
import { compilePool, type CompiledPool } from './compiledPool.ts';
import { ExistingNodes, isPreferred } from './existingNodes.ts';
import { ResourceTable } from './resourceTable.ts';
import { StateTable } from './stateTable.ts';
import { keepAwaySpec, type CounterSpec } from './topologyCounter.ts';

export class Model {
  readonly snapshot: Snapshot;
  readonly table: ResourceTable;
  readonly pools: readonly CompiledPool[];
  readonly states: StateTable;
  readonly existing: ExistingNodes;
  readonly hasPreferTaints: boolean;
  /** Required anti-affinity of pods that run: whom they keep away, and from which nodes. */
  readonly keepAway: readonly KeepAway[];
  private readonly counts = new Map<string, Int32Array>();

  constructor(snapshot: Snapshot) {
    this.snapshot = snapshot;
    const offered = [
      ...snapshot.pools.flatMap(({ instanceTypes }) => instanceTypes.map(({ allocatable }) => allocatable)),
      ...snapshot.nodes.map(({ free }) => free),
      ...snapshot.daemons.map(podRequests),
    ];
    this.table = new ResourceTable(offered);
    this.pools = snapshot.pools.map((offer, index) => compilePool(offer, index, snapshot.daemons, this.table));
    this.states = new StateTable(this.pools);
    this.existing = new ExistingNodes(snapshot.nodes, this.table);
    this.hasPreferTaints = this.existing.hasPreferTaints || this.pools.some(({ taints }) => taints.some(isPreferred));
    this.keepAway = this.findKeepAway();
  }

  private findKeepAway(): KeepAway[] {
    const found = new Map<string, KeepAway>();
    this.existing.nodes.forEach(({ pods }, node) => {
      for (const pod of pods) {
        for (const term of antiAffinityTerms(pod, this.snapshot)) {
          const spec = keepAwaySpec(term);
          const known = found.get(spec.key) ?? { spec, nodes: new Set<number>() };
          found.set(spec.key, known);
          known.nodes.add(node);
        }
      }
    });
    return [...found.values()];
  }

  /** How many pods of each node the counter counts. Worked out once per counter, whatever the question. */
  countsByNode(spec: CounterSpec): Int32Array {
    const known = this.counts.get(spec.key);
    if (known !== undefined) return known;
    const counts = Int32Array.from(this.existing.nodes, ({ pods }) =>
      spec.kind === 'owners'
        ? pods.filter((pod) => antiAffinityTerms(pod, this.snapshot).some((term) => spec.owns(term))).length
        : pods.filter((pod) => isCounted(pod, spec)).length,
    );
    this.counts.set(spec.key, counts);
    return counts;
  }
}

export interface KeepAway {
  readonly spec: CounterSpec;
  readonly nodes: Set<number>;
}

function isCounted({ metadata }: Pod, spec: CounterSpec): boolean {
  // The scheduler's spread does not look at pods that are on their way out; its affinity does.
  if (spec.kind === 'spread' && metadata.deletionTimestamp !== undefined) return false;
  return spec.selections.every((selection) => isSelected(selection, metadata.namespace ?? 'default', metadata.labels));
}

function antiAffinityTerms(pod: Pod, { namespaces }: Snapshot): readonly AffinityTerm[] {
  const required = pod.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  return required.length === 0 ? [] : topologyTerms(pod, namespaces ?? new Map()).antiAffinity;
}
