/**
 * Test support: one test in a shared cluster. Its nodes have their own taint and label, so that only its pods run
 * there, and tests can run in parallel.
 */
import type { PodSpec } from 'kubernetes-types/core/v1.js';
import { Kinds, type Event, type Node, type Pod } from '../../../src/api/kinds.ts';
import type { NodeClaim } from '../../../src/api/kinds/nodeClaim.ts';
import type { NodePool } from '../../../src/api/kinds/nodePool.ts';
import type { Condition } from '../../../src/api/object.ts';
import { Labels } from '../../../src/api/labels.ts';
import { isRunning, type KwokCluster } from './kwokCluster.ts';

const KEY = 'example.com/scenario';

interface DeploymentMetadata {
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
}

export class Scenario {
  readonly name: string;
  readonly cluster: KwokCluster;

  constructor(cluster: KwokCluster, name: string) {
    this.cluster = cluster;
    this.name = name;
  }

  get kube(): KwokCluster['kube'] {
    return this.cluster.kube;
  }

  get labels(): Record<string, string> {
    return { [KEY]: this.name };
  }

  pool(
    spec: Partial<NodePool['spec']> = {},
    template: Partial<NodePool['spec']['template']['spec']> = {},
    name = this.name,
  ): Promise<NodePool> {
    const taints = [{ key: KEY, value: this.name, effect: 'NoSchedule' as const }, ...(template.taints ?? [])];
    return this.cluster.pool(name, spec, { ...template, taints }, this.labels);
  }

  /** The pool can be bought from. */
  async ready(name = this.name): Promise<void> {
    await this.eventually('the pool is ready', async () => {
      const { status } = await this.kube.get(Kinds.NodePool, { name });
      return statusOf(status?.conditions, 'Ready') === 'True Ready' ? true : undefined;
    });
  }

  /** Makes a pod run only on the nodes of this test. */
  placed(spec: Partial<PodSpec> = {}): Partial<PodSpec> {
    return {
      ...spec,
      nodeSelector: { ...this.labels, ...spec.nodeSelector },
      tolerations: [{ key: KEY, value: this.name, operator: 'Equal' }, ...(spec.tolerations ?? [])],
    };
  }

  /** A Deployment whose pods can only go to the nodes of this story. */
  deployment(replicas: number, spec: Partial<PodSpec> = {}, metadata: DeploymentMetadata = {}, name = this.name) {
    return this.cluster.deployment(name, replicas, this.placed(spec), {
      ...metadata,
      labels: { ...this.labels, ...metadata.labels },
    });
  }

  scale(replicas: number, name = this.name): Promise<unknown> {
    const ref = { name, namespace: 'default' };
    return this.kube.patch(Kinds.Deployment, ref, { type: 'merge', body: { spec: { replicas } } });
  }

  pods(): Promise<readonly Pod[]> {
    return this.cluster.pods(this.labels);
  }

  nodes(): Promise<readonly Node[]> {
    return this.cluster.nodes(this.labels);
  }

  claims(): Promise<readonly NodeClaim[]> {
    return this.cluster.claims(this.labels);
  }

  eventually<T>(what: string, ask: () => Promise<T | undefined> | T | undefined): Promise<T> {
    return this.cluster.eventually(`${this.name}: ${what}`, ask);
  }

  /** Waits until this many pods are unschedulable: they will be planned together. */
  async waiting(count: number): Promise<void> {
    await this.eventually(`${count} pods wait`, async () => {
      const pods = (await this.pods()).filter(({ status }) =>
        status?.conditions?.some(({ reason }) => reason === 'Unschedulable'),
      );
      return pods.length === count ? true : undefined;
    });
  }

  /** Waits until exactly this many pods run; returns them. */
  running(count: number): Promise<readonly Pod[]> {
    return this.eventually(`${count} pods run`, async () => {
      const running = (await this.pods()).filter(isRunning);
      return running.length === count ? running : undefined;
    });
  }

  /** The Nodes that the pods of this story are on, one per Node. */
  async nodesOf(pods: readonly Pod[]): Promise<readonly Node[]> {
    const names = new Set(pods.map(({ spec }) => spec?.nodeName));
    return (await this.nodes()).filter(({ metadata }) => names.has(metadata.name));
  }

  /** How many of the pods are in each zone. */
  async zones(pods: readonly Pod[]): Promise<Readonly<Record<string, number>>> {
    const zoneOf = new Map((await this.nodes()).map(({ metadata }) => [metadata.name, metadata.labels?.[Labels.zone]]));
    const counts: Record<string, number> = {};
    for (const { spec } of pods) {
      const zone = zoneOf.get(spec?.nodeName ?? '') ?? '';
      counts[zone] = (counts[zone] ?? 0) + 1;
    }
    return counts;
  }

  /** An event of ours about an object, once there is one. */
  event(reason: string, name: string): Promise<Event> {
    return this.eventually(`event ${reason} on ${name}`, async () => {
      const { items } = await this.kube.list(Kinds.Event, {
        fieldSelector: `reason=${reason},involvedObject.name=${name}`,
      });
      return items.find(({ source }) => source?.component === 'karpenter');
    });
  }

  /** Waits until only pending pods of this test are left. */
  async gone(): Promise<void> {
    await this.eventually('nodes are gone', async () =>
      (await this.nodes()).length + (await this.claims()).length === 0 ? true : undefined,
    );
  }

  async end(...deployments: readonly string[]): Promise<void> {
    for (const name of deployments.length > 0 ? deployments : [this.name]) {
      await this.kube.delete(Kinds.Deployment, { name, namespace: 'default' });
    }
    await this.kube.delete(Kinds.NodePool, { name: this.name });
    await this.gone();
  }
}

export function statusOf(conditions: readonly Condition[] | undefined, type: string): string | undefined {
  const found = conditions?.find((condition) => condition.type === type);
  return found && `${found.status} ${found.reason ?? ''}`.trim();
}
