/** Virtual machines: creation, updates, power and deletion as operations over time, with interfaces and disks. */
import { accepted, changed, type ArmContext } from './armContext.ts';
import type { ArmError } from './armError.ts';
import { attachDisks, detachMissing, releaseDisks } from './compute/virtualMachineDisks.ts';
import { newVirtualMachine, sizeOf, updatedVirtualMachine } from './compute/virtualMachineBody.ts';
import { powerStateOf, type PowerState } from './compute/instanceView.ts';
import type { ScheduledEvents } from './compute/scheduledEvents.ts';
import type { Usages } from './compute/usages.ts';
import { describeVirtualMachine, interfaceIds, type LocalVirtualMachine } from './compute/localVirtualMachine.ts';
import {
  checkAvailable,
  checkUnchanged,
  checkVirtualMachine,
  markedForDeletion,
  type VirtualMachineRules,
} from './compute/virtualMachineRules.ts';
import { listAt, textAt, type JsonObject } from './jsonPath.ts';
import type { Operation } from './operations.ts';
import { checkGroup, checkLocation, checkPreconditions, checkTags } from './resources/requestRules.ts';
import type { ArmResource } from './resourceStore.ts';
import type { ArmRequest, ArmResponse } from './server/router.ts';

export const VIRTUAL_MACHINES = 'Microsoft.Compute/virtualMachines';

export type { LocalVirtualMachine } from './compute/localVirtualMachine.ts';

export interface VirtualMachineEvent {
  /** After `created` and `started` the VM runs; after `stopped` it is off and can be started again. */
  readonly type: 'created' | 'started' | 'stopped' | 'deleted';
  readonly vm: LocalVirtualMachine;
}

export interface VirtualMachinesOptions extends VirtualMachineRules {
  readonly usages: Usages;
  readonly events: ScheduledEvents;
}

/** Called when a creation has ended, with its failure if there is one. */
type Finished = (failure: ArmError | undefined) => void;

export class VirtualMachines {
  private readonly options: VirtualMachinesOptions;
  private readonly context: ArmContext;
  private readonly listeners = new Set<(event: VirtualMachineEvent) => void>();
  /** Operations under way, by the id of the VM in lower case. */
  private readonly creations = new Map<string, { readonly operation: Operation; readonly finished: Finished }>();
  private readonly deletions = new Map<string, Operation>();

  constructor(options: VirtualMachinesOptions) {
    this.options = options;
    this.context = options.context;
  }

  /** Calls the listener with every event from now on. Returns a function that ends the subscription. */
  onEvent(listener: (event: VirtualMachineEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  all(): readonly LocalVirtualMachine[] {
    return this.context.store.list(VIRTUAL_MACHINES).map((machine) => this.describe(machine));
  }

  byName(name: string): ArmResource | undefined {
    const wanted = name.toLowerCase();
    return this.context.store.list(VIRTUAL_MACHINES).find((each) => each.name.toLowerCase() === wanted);
  }

  describe(machine: ArmResource): LocalVirtualMachine {
    return describeVirtualMachine(this.context, this.options.interfaces, machine);
  }

  /** Evicts a spot VM: deletes or deallocates it by its eviction policy. */
  evict(machine: ArmResource): void {
    const current = this.context.store.find(machine.id);
    if (current?.properties['vmId'] !== machine.properties['vmId']) return;
    if (current?.properties['evictionPolicy'] === 'Deallocate') this.setPower(machine.id, 'deallocated');
    else this.destroy(machine.id);
  }

  /** Creates a VM that no client asked for: a node of an agent pool. Throws like a request. */
  createFor(request: ArmRequest, finished: Finished): ArmResource {
    const { group = '', name = '' } = request.parameters;
    const id = this.context.store.idOf(group, VIRTUAL_MACHINES, name);
    this.checkNew(id, request);
    this.create(id, name, request, finished);
    return this.context.store.get(group, VIRTUAL_MACHINES, name);
  }

  createOrUpdate(request: ArmRequest): ArmResponse {
    const { group = '', name = '' } = request.parameters;
    const { store } = this.context;
    checkGroup(this.context, group);
    const id = store.idOf(group, VIRTUAL_MACHINES, name);
    const existing = store.find(id);
    checkPreconditions(request, existing);
    checkLocation(VIRTUAL_MACHINES, name, request.body, existing);
    checkTags(request.body);
    if (existing !== undefined) {
      checkVirtualMachine(this.options, id, request);
      checkUnchanged(existing, request.body, false);
      return this.update(existing, request);
    }
    this.checkNew(id, request);
    const operation = this.create(id, name, request);
    return changed(this.context, request, 201, store.get(group, VIRTUAL_MACHINES, name), operation);
  }

  /** Updates a VM; throws when the body would change an immutable property. */
  patch(existing: ArmResource, request: ArmRequest): ArmResponse {
    checkPreconditions(request, existing);
    checkUnchanged(existing, request.body, true);
    return this.update(existing, request);
  }

  delete(request: ArmRequest): ArmResponse {
    const { group = '', name = '' } = request.parameters;
    const { store } = this.context;
    const id = store.idOf(group, VIRTUAL_MACHINES, name);
    const machine = store.find(id);
    if (machine === undefined) return { status: 204 };
    checkPreconditions(request, machine);
    return accepted(this.context, request, this.beginDelete(machine, request));
  }

  /** Returns the deletion that is under way, or begins one. */
  beginDelete(machine: ArmResource, request: Pick<ArmRequest, 'lateFault' | 'extraTime'>): Operation {
    const key = machine.id.toLowerCase();
    const running = this.deletions.get(key);
    if (running !== undefined) return running;
    const { operations, durations } = this.context;
    const hidden = this.preemptCreation(machine.id) ? { ...machine.hidden, preempted: true } : machine.hidden;
    this.write({ ...machine, ...(hidden && { hidden }) }, { ...machine.properties, provisioningState: 'Deleting' });
    const operation = operations.beginFor(request, {
      milliseconds: durations.virtualMachineDelete,
      finish: () => this.destroy(machine.id),
      failed: () => {
        this.deletions.delete(key);
        this.write(machine, { ...machine.properties, provisioningState: 'Failed' });
      },
    });
    this.deletions.set(key, operation);
    return operation;
  }

  /** Turns a VM on or off; until the operation ends, its state is `through`. */
  power(request: ArmRequest, machine: ArmResource, through: PowerState, to: PowerState): ArmResponse {
    if (machine.properties['provisioningState'] === 'Deleting') throw markedForDeletion(machine, through);
    this.writeHidden(machine.id, { powerState: through });
    const operation = this.context.operations.beginFor(request, {
      milliseconds: this.context.durations.virtualMachinePower,
      finish: () => this.setPower(machine.id, to),
      failed: () => this.writeHidden(machine.id, { powerState: powerStateOf(machine) ?? 'stopped' }),
      result: () => 'empty',
    });
    return accepted(this.context, request, operation);
  }

  /** Turns the VM of a node off or on. AKS deallocates it, so that it costs nothing while off. */
  turn(id: string, state: 'off' | 'on'): void {
    this.setPower(id, state === 'on' ? 'running' : 'deallocated');
  }

  /** Sets the power state at once and emits an event when the VM goes on or off. */
  setPower(id: string, to: PowerState): void {
    const machine = this.context.store.find(id);
    if (machine === undefined) return;
    const wasOn = textAt(machine.hidden, 'told') === 'on';
    this.writeHidden(id, { powerState: to, told: to === 'running' ? 'on' : 'off' });
    if (wasOn && to !== 'running') this.tell('stopped', id);
    if (!wasOn && to === 'running') this.tell('started', id);
  }

  /** Resumes changes that an earlier process had begun. */
  resume(): void {
    const request = { lateFault: undefined };
    for (const machine of this.context.store.list(VIRTUAL_MACHINES)) {
      const state = machine.properties['provisioningState'];
      if (state === 'Deleting') this.beginDelete(machine, request);
      if (state === 'Creating') {
        // Its kubelet ended with the earlier process.
        this.writeHidden(machine.id, { told: 'off' });
        this.beginCreate(machine, request);
      }
      if (state === 'Updating') this.write(machine, { ...machine.properties, provisioningState: 'Succeeded' });
    }
  }

  private checkNew(id: string, request: ArmRequest): void {
    checkVirtualMachine(this.options, id, request);
    try {
      checkAvailable(this.options, request.body);
      this.options.usages.check(request.body);
    } catch (error) {
      // Azure has reserved the interface for this VM by then and releases it only after a while.
      for (const reference of listAt(request.body, 'properties', 'networkProfile', 'networkInterfaces')) {
        this.options.interfaces.reserve(textAt(reference, 'id') ?? '', id);
      }
      throw error;
    }
  }

  private create(id: string, name: string, request: ArmRequest, finished?: Finished): Operation {
    const machine = attachDisks(this.context, newVirtualMachine(this.context, id, name, request.body));
    this.context.store.put(machine);
    for (const nic of interfaceIds(machine)) this.options.interfaces.attach(nic, id);
    return this.beginCreate(machine, request, finished);
  }

  private beginCreate(
    machine: ArmResource,
    request: Pick<ArmRequest, 'lateFault' | 'extraTime'>,
    finished: Finished = () => undefined,
  ): Operation {
    const key = machine.id.toLowerCase();
    const error = request.lateFault?.error;
    const over = (act: () => void, failure: ArmError | undefined) => (): void => {
      this.creations.delete(key);
      act();
      finished(failure);
    };
    const operation = this.context.operations.begin({
      milliseconds: this.context.durations.virtualMachineCreate + (request.extraTime ?? 0),
      finish: over(() => this.started(machine), undefined),
      failure: error && { error, apply: over(() => this.failed(machine, error), error) },
    });
    this.creations.set(key, { operation, finished });
    // The VM boots on time even when its operation ends late.
    if (error === undefined && (request.extraTime ?? 0) > 0) {
      const milliseconds = this.context.durations.virtualMachineCreate;
      this.context.operations.begin({ milliseconds, finish: () => this.boot(machine) });
    }
    return operation;
  }

  private boot(begun: ArmResource): void {
    const current = this.inCreation(begun);
    if (current === undefined || textAt(current.hidden, 'told') === 'on') return;
    this.writeHidden(begun.id, { powerState: 'running', told: 'on' });
    this.tell('created', begun.id);
  }

  private started(begun: ArmResource): void {
    const current = this.inCreation(begun);
    if (current === undefined) return;
    const isOn = textAt(current.hidden, 'told') === 'on';
    const hidden = { ...current.hidden, powerState: 'running', told: 'on' };
    this.write({ ...current, hidden }, { ...current.properties, provisioningState: 'Succeeded' });
    if (!isOn) this.tell('created', begun.id);
  }

  private failed(begun: ArmResource, error: ArmError): void {
    const current = this.inCreation(begun);
    if (current === undefined) return;
    const { powerState: _powerState, ...hidden } = current.hidden ?? {};
    const failure = { code: error.code, message: error.message };
    this.write({ ...current, hidden: { ...hidden, failure } }, { ...current.properties, provisioningState: 'Failed' });
  }

  /** Returns the present state of a VM in creation; undefined once it is created, deleted or replaced. */
  private inCreation(begun: ArmResource): ArmResource | undefined {
    const current = this.context.store.find(begun.id);
    const same = current?.properties['vmId'] === begun.properties['vmId'];
    return same && current?.properties['provisioningState'] === 'Creating' ? current : undefined;
  }

  private update(machine: ArmResource, request: ArmRequest): ArmResponse {
    const next = updatedVirtualMachine(this.context, machine, request.body);
    const resized = sizeOf(next) !== sizeOf(machine);
    if (resized) {
      checkAvailable(this.options, next);
      this.options.usages.check(next, machine);
    }
    const withDisks = attachDisks(this.context, next);
    detachMissing(this.context, machine, withDisks);
    return this.applyUpdate(withDisks, request, resized);
  }

  private applyUpdate(machine: ArmResource, request: ArmRequest, resized: boolean): ArmResponse {
    const state = machine.properties['provisioningState'];
    const creation = this.creations.get(machine.id.toLowerCase());
    if (state === 'Creating' && creation !== undefined) {
      return changed(this.context, request, 200, this.write(machine, machine.properties), creation.operation);
    }
    if (state === 'Failed') {
      // A VM whose creation failed is created again.
      const { failure: _failure, ...hidden } = machine.hidden ?? {};
      const again = this.write(
        { ...machine, hidden: { ...hidden, powerState: 'starting' } },
        { ...machine.properties, provisioningState: 'Creating' },
      );
      return changed(this.context, request, 200, again, this.beginCreate(again, request));
    }
    const written = this.write(machine, { ...machine.properties, provisioningState: 'Updating' });
    const settle = (provisioningState: string): void => {
      const current = this.context.store.find(machine.id);
      if (current?.properties['provisioningState'] !== 'Updating') return;
      this.write(current, { ...current.properties, provisioningState });
      if (!resized || textAt(current.hidden, 'told') !== 'on') return;
      this.tell('stopped', machine.id);
      this.tell('started', machine.id);
    };
    const operation = this.context.operations.beginFor(request, {
      milliseconds: this.context.durations.virtualMachineUpdate,
      finish: () => settle('Succeeded'),
      failed: () => settle('Failed'),
    });
    return changed(this.context, request, 200, written, operation);
  }

  /** Removes a VM at once, then its interfaces and disks as their delete options say. */
  destroy(id: string): void {
    const { store } = this.context;
    const machine = store.find(id);
    this.deletions.delete(id.toLowerCase());
    if (machine === undefined) return;
    const vm = this.describe(machine);
    const preempted = this.preemptCreation(id) || machine.hidden?.['preempted'] === true;
    store.deleteTree(id);
    for (const reference of listAt(machine.properties, 'networkProfile', 'networkInterfaces')) {
      const nic = textAt(reference, 'id') ?? '';
      this.options.interfaces.attach(nic, undefined);
      if (textAt(reference, 'properties', 'deleteOption') === 'Delete') this.options.interfaces.remove(nic);
      else if (preempted) this.options.interfaces.reserve(nic, id);
    }
    releaseDisks(this.context, machine);
    this.options.events.forget(machine.name);
    this.emit({ type: 'deleted', vm });
  }

  /** Cancels the creation of a VM that is deleted. Returns false when it was not in creation. */
  private preemptCreation(id: string): boolean {
    const creation = this.creations.get(id.toLowerCase());
    if (creation === undefined) return false;
    this.creations.delete(id.toLowerCase());
    this.context.operations.preempt(creation.operation);
    creation.finished(creation.operation.error);
    return true;
  }

  private tell(type: VirtualMachineEvent['type'], id: string): void {
    const machine = this.context.store.find(id);
    if (machine !== undefined) this.emit({ type, vm: this.describe(machine) });
  }

  private writeHidden(id: string, changes: JsonObject): void {
    const machine = this.context.store.find(id);
    if (machine === undefined) return;
    this.write({ ...machine, hidden: { ...machine.hidden, ...changes } }, machine.properties);
  }

  private write(machine: ArmResource, properties: JsonObject): ArmResource {
    const written = { ...machine, properties, etag: `"${this.context.random.uuid()}"` };
    this.context.store.put(written);
    return written;
  }

  private emit(event: VirtualMachineEvent): void {
    for (const listener of this.listeners) listener(event);
  }
}
