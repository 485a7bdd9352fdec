/**
 * The world compiled: pools, types and nodes as numbers, with everything remembered that was once worked out. In: a
 * snapshot; out: what every question to it shares. Questions add pods and take nodes away; they never change it.
 */
import { podRequests } from '../../pods/podRequests.ts';
import type { Snapshot } from '../problem.ts';
import { compilePool, type CompiledPool } from './compiledPool.ts';
import { ExistingNodes, isPreferred } from './existingNodes.ts';
import { ResourceTable } from './resourceTable.ts';
import { RunningPods } from './runningPods.ts';
import { StateTable } from './stateTable.ts';

export class Model {
  readonly snapshot: Snapshot;
  readonly table: ResourceTable;
  readonly pools: readonly CompiledPool[];
  readonly states: StateTable;
  readonly existing: ExistingNodes;
  readonly hasPreferTaints: boolean;
  readonly running: RunningPods;

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
    this.running = new RunningPods(this.existing, this.states, this.pools.length, snapshot.namespaces ?? new Map());
  }
}
