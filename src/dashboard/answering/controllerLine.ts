/** The thread's access to the controller: its cloud, as far as a rehearsal needs it, and its API server. */
import { receiveMessageOnPort } from 'node:worker_threads';
import type { KubeObject } from '../../api/object.ts';
import type { CloudProvider } from '../../cloud/cloudProvider.ts';
import type { InstanceType } from '../../cloud/instanceType.ts';
import { instanceTypesFrom } from '../../cloud/instanceTypeData.ts';
import { InvariantError } from '../../errors/invariantError.ts';
import { KubeError } from '../../kube/errors.ts';
import type { Kube } from '../../kube/kube.ts';
import { objectsKube } from '../../rehearsal/objectsKube.ts';
import type { Ask, FromThread, QuotaAnswer, QuotaAsk, QuotaLine, SentCluster, ToThread } from './protocol.ts';

/** Milliseconds for which the thread blocks to get quotas; without an answer they are unknown. */
const QUOTA_PATIENCE = 5_000;

export class ControllerLine {
  private readonly post: (message: FromThread) => void;
  private readonly quotas: QuotaLine;
  private readonly waiting = new Map<number, (told: Extract<ToThread, { type: 'told' }>) => void>();
  /** By number. */
  private readonly lists = new Map<number, InstanceType[]>();
  private next = 0;

  constructor(post: (message: FromThread) => void, quotas: QuotaLine) {
    this.post = post;
    this.quotas = quotas;
  }

  settle(told: Extract<ToThread, { type: 'told' }>): void {
    this.waiting.get(told.number)?.(told);
    this.waiting.delete(told.number);
  }

  takeTypes({ list, types }: Extract<ToThread, { type: 'types' }>): void {
    const known = this.lists.get(list) ?? [];
    known.push(...instanceTypesFrom(types));
    this.lists.set(list, known);
  }

  forgetTypesBut(lists: readonly number[]): void {
    for (const list of this.lists.keys()) if (!lists.includes(list)) this.lists.delete(list);
  }

  /** The controller's API server, for reading objects that loops do not watch. */
  kube(time: number): Kube {
    const get = <T extends KubeObject>(...[resource, ref]: Parameters<Kube['get']>): Promise<T> => {
      const { group, version, kind, plural, singular, namespaced } = resource;
      const { name, namespace } = ref;
      const plain = { group, version, kind, plural, singular, namespaced };
      return this.ask<T>({ kind: 'get', resource: plain, ref: { name, namespace } });
    };
    const list = async (): Promise<never> => {
      throw new InvariantError('a thread lists nothing');
    };
    return objectsKube({ time, kinds: new Map() }, { get, list });
  }

  /** The controller's cloud at one moment. Drift that it found is already on the claims, as for `nodewright plan`. */
  cloud({ name, nodeClasses, hasQuotas }: SentCluster['cloud']): CloudProvider {
    const known = new Map<string, Promise<readonly InstanceType[]>>();
    const refuse = async (): Promise<never> => {
      throw new InvariantError('a rehearsal launches nothing');
    };
    return {
      name,
      nodeClasses,
      create: refuse,
      delete: refuse,
      get: refuse,
      list: async () => [],
      instanceTypes: (pool, nodeClass) => {
        const key = JSON.stringify([pool.metadata.name, nodeClass]);
        const found = known.get(key) ?? this.types({ kind: 'types', pool, nodeClass });
        known.set(key, found);
        return found;
      },
      ...(hasQuotas && { quotas: (unlaunched: QuotaAsk) => this.askQuotas(unlaunched) }),
      driftReason: async () => undefined,
      repairPolicies: [],
    };
  }

  private async types(ask: Ask): Promise<readonly InstanceType[]> {
    return this.lists.get(await this.ask<number>(ask)) ?? [];
  }

  private ask<Told>(ask: Ask): Promise<Told> {
    const number = this.next++;
    return new Promise((resolve, reject) => {
      this.waiting.set(number, ({ value, failure }) => {
        if (failure === undefined) resolve(value as Told);
        else reject(failure.status ? new KubeError(failure.status) : new Error(failure.message));
      });
      this.post({ type: 'ask', number, ask });
    });
  }

  private askQuotas(unlaunched: QuotaAsk): QuotaAnswer {
    const { port, told } = this.quotas;
    // Discard late answers to earlier questions.
    while (receiveMessageOnPort(port) !== undefined);
    Atomics.store(told, 0, 0);
    port.postMessage(unlaunched);
    Atomics.wait(told, 0, 0, QUOTA_PATIENCE);
    const received = receiveMessageOnPort(port) as { readonly message: QuotaAnswer } | undefined;
    return received?.message ?? new Map();
  }
}
