/** Scheduled events: what Azure announces to a VM, and what happens when an event is due or approved. */
import type { Clock } from '../../../clock/clock.ts';
import type { Random } from '../../../clock/random.ts';

export type ScheduledEventType = 'Freeze' | 'Reboot' | 'Redeploy' | 'Preempt' | 'Terminate';

interface ScheduledEvent {
  readonly id: string;
  readonly type: ScheduledEventType;
  readonly machine: string;
  readonly notBefore: number;
  readonly source: 'Platform' | 'User';
  status: 'Scheduled' | 'Started';
  readonly cancel: () => void;
  readonly act: () => void;
}

const DESCRIPTIONS: Readonly<Record<ScheduledEventType, string>> = {
  Freeze: 'Virtual machine is being paused because of a memory-preserving Live Migration operation.',
  Reboot: 'Virtual machine is being restarted.',
  Redeploy: 'Virtual machine is going to be moved to another node.',
  Preempt: 'Azure Spot virtual machine is being deleted.',
  Terminate: 'Virtual machine is being deleted.',
};
/** Expected downtime of the VM in seconds; -1 means unknown. */
const FREEZE_SECONDS = 5;
const UNKNOWN_SECONDS = -1;

export class ScheduledEvents {
  private readonly clock: Clock;
  private readonly random: Random;
  private readonly events = new Map<string, ScheduledEvent>();
  private readonly incarnations = new Map<string, number>();

  constructor(clock: Clock, random: Random) {
    this.clock = clock;
    this.random = random;
  }

  /** Schedules an event that starts after `notice` milliseconds, or earlier when the VM approves it. */
  schedule(machine: string, type: ScheduledEventType, notice: number, act: () => void): void {
    const id = this.random.uuid().toUpperCase();
    const event: ScheduledEvent = {
      id,
      type,
      machine,
      notBefore: this.clock.now() + notice,
      source: type === 'Terminate' ? 'User' : 'Platform',
      status: 'Scheduled',
      cancel: this.clock.after(notice, () => this.start(id)),
      act,
    };
    this.events.set(id, event);
    this.touch(machine);
  }

  /** Returns the document that the metadata service shows to the VM. */
  document(machine: string): object {
    const events = [...this.events.values()].filter((event) => event.machine === machine);
    return {
      DocumentIncarnation: this.incarnations.get(machine) ?? 1,
      Events: events.map(({ id, type, status, notBefore, source }) => ({
        EventId: id,
        EventStatus: status,
        EventType: type,
        ResourceType: 'VirtualMachine',
        Resources: [machine],
        NotBefore: status === 'Started' ? '' : new Date(notBefore).toUTCString(),
        Description: DESCRIPTIONS[type],
        EventSource: source,
        DurationInSeconds: type === 'Freeze' ? FREEZE_SECONDS : UNKNOWN_SECONDS,
      })),
    };
  }

  /** Starts an event that the VM approves. Returns false when the VM has no such event. */
  approve(machine: string, id: string): boolean {
    const event = this.events.get(id);
    if (event?.machine !== machine) return false;
    event.cancel();
    this.start(id);
    return true;
  }

  /** Cancels all events of a VM that was deleted. */
  forget(machine: string): void {
    for (const [id, event] of this.events) {
      if (event.machine !== machine) continue;
      event.cancel();
      this.events.delete(id);
    }
    this.incarnations.delete(machine);
  }

  close(): void {
    for (const { cancel } of this.events.values()) cancel();
    this.events.clear();
  }

  private start(id: string): void {
    const event = this.events.get(id);
    if (event === undefined || event.status === 'Started') return;
    event.status = 'Started';
    this.touch(event.machine);
    this.events.delete(id);
    event.act();
  }

  private touch(machine: string): void {
    this.incarnations.set(machine, (this.incarnations.get(machine) ?? 1) + 1);
  }
}
