/** The clusters that clients create besides the first: each has its own Kubernetes API and control plane. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '../kube/log.ts';
import type { Endpoint } from './apiserver/localApiServer.ts';
import type { LocalArm } from './arm/localArm.ts';
import type { ClusterName, ManagedCluster } from './arm/containerservice/managedCluster.ts';
import type { LocalCluster } from './localCluster.ts';

export interface LocalFleetOptions {
  readonly arm: LocalArm;
  readonly log: Log;
  /** Folder of the clusters' state files; without it, clusters are not kept between processes. */
  readonly folder?: string;
  readonly create: (cluster: ManagedCluster, stateFile: string | undefined) => LocalCluster;
}

interface RunningCluster {
  readonly managed: ManagedCluster;
  readonly cluster: LocalCluster;
  readonly endpoint: Endpoint;
}

/** Work to do beside a running cluster; ends when `stop` aborts. */
export type Attend = (running: RunningCluster, stop: AbortSignal) => Promise<void>;

interface Member {
  readonly cluster: LocalCluster;
  readonly end: AbortController;
  readonly done: Promise<void>;
}

export class LocalFleet {
  private readonly options: LocalFleetOptions;
  private readonly members = new Map<string, Member>();

  constructor(options: LocalFleetOptions) {
    this.options = options;
  }

  find(name: ClusterName): LocalCluster | undefined {
    return this.members.get(keyOf(name))?.cluster;
  }

  /** Runs a cluster for each managed cluster except the first, from its creation to its deletion, until `signal` aborts. */
  async run(signal: AbortSignal, attend: Attend): Promise<void> {
    const { arm } = this.options;
    const stop = arm.onManagedCluster((cluster, isGone) => {
      if (isGone) this.members.get(keyOf(cluster))?.end.abort('deleted');
      else this.join(cluster, signal, attend);
    });
    try {
      for (const cluster of arm.managedClusters()) this.join(cluster, signal, attend);
      if (!signal.aborted) await new Promise((done) => signal.addEventListener('abort', done, { once: true }));
    } finally {
      stop();
      await Promise.all([...this.members.values()].map(({ done }) => done));
    }
  }

  async close(): Promise<void> {
    for (const { end } of this.members.values()) end.abort();
    await Promise.all([...this.members.values()].map(({ done }) => done));
  }

  private join(managed: ManagedCluster, signal: AbortSignal, attend: Attend): void {
    const key = keyOf(managed);
    if (signal.aborted || this.members.has(key) || key === keyOf(this.options.arm.cluster)) return;
    const { folder, create, log } = this.options;
    const file = folder === undefined ? undefined : join(folder, `${key.replace('/', '_')}.jsonl`);
    if (folder !== undefined) mkdirSync(folder, { recursive: true });
    const end = new AbortController();
    const cluster = create(managed, file);
    const stop = AbortSignal.any([signal, end.signal]);
    const done = cluster
      .listen(0)
      .then((endpoint) => Promise.all([cluster.run(stop), attend({ managed, cluster, endpoint }, stop)]))
      .catch((error: unknown) => log.error('a cluster ended', { cluster: key, error }))
      .then(async () => {
        this.members.delete(key);
        await cluster.close();
        // The state of a deleted cluster is removed; that of a stopped one is for the next process.
        if (end.signal.reason === 'deleted' && file !== undefined) rmSync(file, { force: true });
      });
    this.members.set(key, { cluster, end, done });
  }
}

/** Azure does not distinguish upper and lower case in names. */
export function keyOf({ resourceGroup, name }: ClusterName): string {
  return `${resourceGroup}/${name}`.toLowerCase();
}
