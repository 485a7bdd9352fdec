/** Faults of instances: spot evictions after a notice, silent kubelets, instances that never join. */
import { Kinds } from '../../api/kinds.ts';
import { ignoreNotFound } from '../../kube/errors.ts';
import type { Kube } from '../../kube/kube.ts';
import type { Log } from '../../kube/log.ts';
import { timestamp } from '../../units/timestamp.ts';
import type { LocalArm } from '../arm/localArm.ts';
import type { LocalVirtualMachine } from '../arm/virtualMachines.ts';
import { readyConditions } from '../kubelet/nodeObject.ts';
import { matchesTexts, type ActiveFault, type Faults } from './faults.ts';

export interface InstanceFaultsOptions {
  readonly faults: Faults;
  readonly arm: LocalArm;
  readonly kube: Kube;
  readonly log: Log;
  /** Names of the instances that are on. */
  readonly instances: () => Iterable<string>;
}

const NOTICE = 30_000;

export class InstanceFaults {
  private readonly options: InstanceFaultsOptions;
  /** Nodes with a silent kubelet, by the id of the fault. */
  private readonly silent = new Map<number, ReadonlySet<string>>();

  constructor(options: InstanceFaultsOptions) {
    this.options = options;
  }

  /** Acts on faults that begin and end; returns a function that stops this. */
  follow(): () => void {
    const { faults } = this.options;
    return faults.subscribe(({ type, fault }) => {
      if (fault.order.kind === 'silent-kubelet') {
        if (type === 'began') this.silence(fault);
        if (type === 'ended') this.unsilence(fault);
      }
      if (fault.order.kind === 'spot-eviction' && type === 'began') this.evict(fault);
    });
  }

  isSilent(node: string): boolean {
    for (const nodes of this.silent.values()) if (nodes.has(node)) return true;
    return false;
  }

  /** Whether an instance that has booted will join. */
  joins(vm: LocalVirtualMachine): boolean {
    const facts = { size: vm.size, zone: vm.zone };
    return !this.options.faults.strikes('never-join', vm.name, (order) => matchesTexts(order, facts));
  }

  /** Returns the item that the fault names, else a random share of all items, else one random item. */
  private choose<T>(
    fault: ActiveFault,
    all: readonly T[],
    nameOf: (each: T) => string,
    wanted: string | undefined,
  ): T[] {
    const { random } = this.options.faults;
    const { share } = fault.order.numbers;
    if (wanted !== undefined) return all.filter((each) => nameOf(each) === wanted);
    if (share !== undefined) return all.filter(() => random.next() < share);
    const one = all[Math.floor(random.next() * all.length)];
    return one === undefined ? [] : [one];
  }

  private silence(fault: ActiveFault): void {
    const all = [...this.options.instances()].sort();
    const chosen = this.choose(fault, all, (name) => name, fault.order.texts['node']);
    this.silent.set(fault.id, new Set(chosen));
    for (const name of chosen) this.options.faults.hit(fault, name);
  }

  /** Ends the silence of kubelets, which report their nodes as ready at once. */
  private unsilence(fault: ActiveFault): void {
    const nodes = this.silent.get(fault.id) ?? new Set();
    this.silent.delete(fault.id);
    const { kube, faults } = this.options;
    const on = new Set(this.options.instances());
    for (const name of nodes) {
      if (!on.has(name) || this.isSilent(name)) continue;
      const status = { conditions: readyConditions(faults.clock.now()) };
      this.inBackground(
        kube.patch(Kinds.Node, { name }, { type: 'strategic', body: { status } }, { subresource: 'status' }),
      );
    }
  }

  private evict(fault: ActiveFault): void {
    const { faults, arm } = this.options;
    const spot = arm.virtualMachines().filter(({ priority }) => priority === 'Spot');
    const notice = fault.order.numbers['notice'] ?? NOTICE;
    for (const vm of this.choose(fault, spot, ({ name }) => name, fault.order.texts['name'])) {
      faults.hit(fault, vm.name);
      this.announce(vm, notice);
      arm.preempt(vm.name, notice);
    }
    faults.remove(fault.id);
  }

  /** Sets a node's conditions for a spot notice: that of AKS's problem detector, and the one that repair acts on. */
  private announce(vm: LocalVirtualMachine, notice: number): void {
    const { kube, faults } = this.options;
    const now = faults.clock.now();
    const conditions = ['VMEventScheduled', 'PreemptionScheduled'].map((type) => ({
      type,
      status: 'True',
      reason: 'PreemptScheduled',
      message: `Preempt Scheduled: ${timestamp(now + notice)}`,
      lastHeartbeatTime: timestamp(now),
      lastTransitionTime: timestamp(now),
    }));
    const ref = { name: vm.computerName.toLowerCase() };
    const body = { status: { conditions } };
    this.inBackground(kube.patch(Kinds.Node, ref, { type: 'strategic', body }, { subresource: 'status' }));
  }

  private inBackground(work: Promise<unknown>): void {
    ignoreNotFound(work).catch((error: unknown) =>
      this.options.log.error('could not write a fault to its node', { error }),
    );
  }
}
