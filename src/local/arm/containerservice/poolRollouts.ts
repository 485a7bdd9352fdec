/**
 * Rollouts of agent pools that have a count: nodes are added, or drained and deleted, to match the count, and replaced
 * one by one when the pool's Kubernetes version or image changes. The new node joins before the old one is drained.
 */
import { messageOf } from '../../../errors/thrown.ts';
import type { ArmContext } from '../armContext.ts';
import type { ArmError } from '../armError.ts';
import { listAt, textAt, textsAt } from '../jsonPath.ts';
import type { ArmResource } from '../resourceStore.ts';
import { aksRefusal } from './aksRefusal.ts';
import { clusterNameOf, type ClusterName } from './managedCluster.ts';
import { AGENT_POOLS, MANAGED_CLUSTERS } from './managedClusters.ts';

export const MACHINES = 'Microsoft.ContainerService/managedClusters/agentPools/machines';
/** Milliseconds from a running VM to a ready node. */
const TIME_TO_JOIN = 15_000;

/** Adds and removes single nodes of a pool; `MachinesApi` implements it. */
export interface PoolNodes {
  add(cluster: ArmResource, pool: ArmResource, name: string): void;
  remove(cluster: ArmResource, pool: ArmResource, machine: ArmResource): void;
}

/** Drains a node of a cluster; returns an error message when a pod keeps it. */
export type DrainNode = (cluster: ClusterName, node: string) => Promise<string | undefined>;

/** Labels and taints (`key=value:Effect`) that a pool gives its nodes. */
export interface PoolMarks {
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly string[];
}

/** Applies changed labels and taints of a pool to its nodes. */
export type MarkNodes = (
  cluster: ClusterName,
  pool: string,
  change: { readonly before: PoolMarks; readonly after: PoolMarks },
) => Promise<void>;

export interface PoolRolloutsOptions {
  readonly context: ArmContext;
  readonly nodes: PoolNodes;
  readonly drain: DrainNode;
  readonly mark: MarkNodes;
}

type Ended = (failure: ArmError | undefined) => void;

export class PoolRollouts {
  private readonly options: PoolRolloutsOptions;
  /** Callbacks at the end of a rollout, by the id of its pool. */
  private readonly underWay = new Map<string, Ended[]>();
  private readonly end = new AbortController();

  constructor(options: PoolRolloutsOptions) {
    this.options = options;
  }

  isUnderWay(poolId: string): boolean {
    return this.underWay.has(poolId);
  }

  /** Calls `ended` when the rollout under way has ended. */
  follow(poolId: string, ended: Ended): void {
    this.underWay.get(poolId)?.push(ended);
  }

  /** Begins to bring the nodes of a pool to its count, version and image. */
  bring(cluster: ArmResource, pool: ArmResource): void {
    const { count, mode } = pool.properties;
    if (mode === 'Machines' || typeof count !== 'number') return;
    const present = this.present(pool);
    for (let made = present.length; made < count; made += 1) this.add(cluster, pool);
    if (present.length <= count && outdated(pool, present).length === 0) return;
    if (this.underWay.has(pool.id)) return;
    this.underWay.set(pool.id, []);
    void this.work(cluster, pool.id).then((failure) => {
      const waiting = this.underWay.get(pool.id) ?? [];
      this.underWay.delete(pool.id);
      for (const ended of waiting) ended(failure);
    });
  }

  /** Applies changed labels and taints to existing nodes, which are not replaced. */
  mark(cluster: ArmResource, existing: ArmResource, pool: ArmResource): void {
    const [before, after] = [marksOf(existing), marksOf(pool)];
    if (JSON.stringify(before) === JSON.stringify(after)) return;
    const marked = this.options.mark(clusterNameOf(cluster), pool.name, { before, after });
    void marked.catch((error: unknown) => process.emitWarning(`nodes of ${pool.name}: ${messageOf(error)}`));
  }

  /** Resumes rollouts that an earlier process had begun. */
  resume(): void {
    const { store } = this.options.context;
    for (const cluster of store.list(MANAGED_CLUSTERS)) {
      for (const pool of store.children(cluster.id, AGENT_POOLS)) this.bring(cluster, pool);
    }
  }

  /** Drains all nodes of a pool at the same time and deletes them. */
  async empty(cluster: ArmResource, pool: ArmResource): Promise<ArmError | undefined> {
    const failures = await Promise.all(this.present(pool).map((machine) => this.retire(cluster, pool, machine)));
    return failures.find((failure) => failure !== undefined);
  }

  close(): void {
    this.end.abort();
  }

  private async work(cluster: ArmResource, poolId: string): Promise<ArmError | undefined> {
    const { context } = this.options;
    for (;;) {
      if (this.end.signal.aborted) return undefined;
      const pool = context.store.find(poolId);
      if (pool === undefined) return undefined;
      const present = this.present(pool);
      const excess = present.slice(Number(pool.properties['count']));
      const [old] = outdated(pool, present);
      const leaving = excess.at(-1) ?? old;
      if (leaving === undefined) return undefined;
      const failure =
        excess.length > 0
          ? await this.retire(cluster, pool, leaving)
          : await this.replace(cluster, pool, leaving).catch((error: unknown) => internal(error));
      if (failure !== undefined) return failure;
    }
  }

  private async replace(cluster: ArmResource, pool: ArmResource, old: ArmResource): Promise<ArmError | undefined> {
    const { store, durations } = this.options.context;
    const name = this.add(cluster, pool);
    await this.sleep(durations.virtualMachineCreate + TIME_TO_JOIN);
    const surge = store.find(`${pool.id}/machines/${name}`);
    if (textAt(surge?.properties, 'provisioningState') === 'Failed') {
      const problem = textAt(surge?.properties, 'status', 'provisioningError', 'message');
      return aksRefusal('UpgradeFailed', { problem: problem ?? 'A surge node could not be made.' });
    }
    return this.retire(cluster, pool, old);
  }

  private async retire(cluster: ArmResource, pool: ArmResource, machine: ArmResource): Promise<ArmError | undefined> {
    const { context, nodes, drain } = this.options;
    try {
      const problem = await drain(clusterNameOf(cluster), textAt(machine.hidden, 'vmName') ?? '');
      if (problem !== undefined) return aksRefusal('UpgradeFailed', { problem });
      const current = context.store.find(machine.id);
      if (current === undefined) return undefined;
      nodes.remove(cluster, pool, current);
      await this.sleep(context.durations.virtualMachineDelete);
      context.store.delete(machine.id);
      return undefined;
    } catch (error) {
      return internal(error);
    }
  }

  /** Adds a node and returns its name. */
  private add(cluster: ArmResource, pool: ArmResource): string {
    const taken = new Set(this.options.context.store.children(pool.id, MACHINES).map(({ name }) => name));
    let number = 0;
    while (taken.has(`${pool.name}-vms${number}`)) number += 1;
    this.options.nodes.add(cluster, pool, `${pool.name}-vms${number}`);
    return `${pool.name}-vms${number}`;
  }

  private present({ id }: ArmResource): readonly ArmResource[] {
    const machines = this.options.context.store.children(id, MACHINES);
    return machines.filter(({ properties }) => properties['provisioningState'] !== 'Deleting');
  }

  private async sleep(milliseconds: number): Promise<void> {
    await this.options.context.clock.sleep(milliseconds, this.end.signal).catch(() => undefined);
  }
}

function marksOf({ properties }: ArmResource): PoolMarks {
  return { labels: textsAt(properties, 'nodeLabels'), taints: listAt(properties, 'nodeTaints').map(String) };
}

function outdated(pool: ArmResource, machines: readonly ArmResource[]): readonly ArmResource[] {
  const { orchestratorVersion, nodeImageVersion } = pool.properties;
  return machines.filter(
    ({ properties }) =>
      textAt(properties, 'kubernetes', 'currentOrchestratorVersion') !== orchestratorVersion ||
      properties['nodeImageVersion'] !== nodeImageVersion,
  );
}

const internal = (error: unknown): ArmError => aksRefusal('InternalServerError', { problem: messageOf(error) });
