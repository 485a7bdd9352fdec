/**
 * Tells in plain lines what happens in the local world. In: the world's API and the prices of its cloud. Out: one line
 * on the terminal for each machine that comes or goes and whenever the pods that wait change in number.
 */
import { Kinds, type Node } from '../../api/kinds.ts';
import { Labels } from '../../api/labels.ts';
import type { Clock } from '../../clock/clock.ts';
import { systemRandom } from '../../clock/systemRandom.ts';
import type { InstanceType } from '../../cloud/instanceType.ts';
import type { CloudProvider } from '../../cloud/cloudProvider.ts';
import { Informers, type Informer } from '../../kube/informer.ts';
import type { Kube } from '../../kube/kube.ts';
import { isProvisionable } from '../../cluster/podPredicates.ts';

const INTERVAL = 1_000;

export class WorldNarrator {
  readonly #informers: Informers;
  readonly #cloud: CloudProvider;
  readonly #clock: Clock;
  readonly #nodes: Informer<Node>;
  #last = '';

  constructor(kube: Kube, cloud: CloudProvider, clock: Clock) {
    this.#informers = new Informers({ kube, clock, random: systemRandom });
    this.#cloud = cloud;
    this.#clock = clock;
    this.#nodes = this.#informers.of(Kinds.Node);
  }

  async run(signal: AbortSignal): Promise<void> {
    const pods = this.#informers.of(Kinds.Pod);
    const pools = this.#informers.of(Kinds.NodePool);
    const claims = this.#informers.of(Kinds.NodeClaim);
    const informing = this.#informers.run(signal);
    await this.#informers.synced(signal);
    while (!signal.aborted) {
      const [pool] = [...pools.store.list()];
      const types = pool ? await this.#cloud.instanceTypes(pool, signal) : [];
      const waiting = [...pods.store.list()].filter(isProvisionable).length;
      const running = [...pods.store.list()].filter(({ status }) => status?.phase === 'Running').length;
      this.#say(
        [
          `${this.#nodes.store.size} nodes`,
          `${claims.store.size} nodeclaims`,
          `${running} pods running`,
          `${waiting} waiting for a machine`,
          `$${this.#pricePerHour(types).toFixed(3)}/h`,
        ].join(', '),
      );
      await this.#clock.sleep(INTERVAL, signal).catch(() => undefined);
    }
    await informing;
  }

  #say(line: string): void {
    if (line === this.#last) return;
    this.#last = line;
    console.log(`${new Date(this.#clock.now()).toISOString().slice(11, 19)}  ${line}`);
  }

  #pricePerHour(types: readonly InstanceType[]): number {
    let sum = 0;
    for (const { metadata } of this.#nodes.store.list()) {
      const {
        [Labels.instanceType]: name,
        [Labels.zone]: zone,
        [Labels.capacityType]: capacityType,
      } = metadata.labels ?? {};
      const offerings = types.find((type) => type.name === name)?.offerings ?? [];
      sum += offerings.find((offering) => offering.zone === zone && offering.capacityType === capacityType)?.price ?? 0;
    }
    return sum;
  }
}
