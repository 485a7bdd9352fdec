/**
 * The active faults. At every occasion (an Azure request, a request of nodewright, an instance that boots) they say
 * whether one strikes.
 */
import { NodewrightError } from '../../errors/nodewrightError.ts';
import type { Clock } from '../../clock/clock.ts';
import type { Random } from '../../clock/random.ts';
import { formatFault, type FaultKind, type FaultOrder } from './faultKinds.ts';

export interface ActiveFault {
  readonly id: number;
  readonly order: FaultOrder;
  readonly since: number;
  /** Milliseconds since the epoch; absent for a fault that stays until it is cleared. */
  readonly until?: number;
  /** How often the fault struck. */
  struck: number;
}

export interface FaultEvent {
  readonly type: 'began' | 'ended' | 'struck';
  readonly fault: ActiveFault;
  /** What the fault hit, for `struck`. */
  readonly target?: string;
}

/** Bounds memory when a schedule keeps adding faults. */
const MOST_FAULTS = 1_000;

export class Faults {
  readonly clock: Clock;
  readonly random: Random;
  private readonly active = new Map<number, ActiveFault>();
  private readonly cancels = new Map<number, () => void>();
  private readonly listeners = new Set<(event: FaultEvent) => void>();
  private next = 1;

  constructor({ clock, random }: { readonly clock: Clock; readonly random: Random }) {
    this.clock = clock;
    this.random = random;
  }

  add(order: FaultOrder): ActiveFault {
    if (this.active.size >= MOST_FAULTS) throw new NodewrightError('TooManyFaults', { limit: MOST_FAULTS });
    const { for: duration } = order.numbers;
    const since = this.clock.now();
    const fault: ActiveFault = {
      id: this.next++,
      order,
      since,
      ...(duration !== undefined && { until: since + duration }),
      struck: 0,
    };
    this.active.set(fault.id, fault);
    const end = (): unknown => this.remove(fault.id);
    if (duration !== undefined) this.cancels.set(fault.id, this.clock.after(duration, end));
    this.tell({ type: 'began', fault });
    return fault;
  }

  /** Ends a fault. Returns false when there is no such fault. */
  remove(id: number): boolean {
    const fault = this.active.get(id);
    if (fault === undefined) return false;
    this.active.delete(id);
    this.cancels.get(id)?.();
    this.cancels.delete(id);
    this.tell({ type: 'ended', fault });
    return true;
  }

  clear(): void {
    for (const id of this.active.keys()) this.remove(id);
  }

  list(): readonly ActiveFault[] {
    return [...this.active.values()];
  }

  /** Calls the listener when a fault begins, ends or strikes; returns a function that ends the subscription. */
  subscribe(listener: (event: FaultEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Returns the fault of this kind that strikes now, if any. Draws random numbers only for faults that match. */
  strikes(
    kind: FaultKind,
    target: string,
    matches: (order: FaultOrder) => boolean = () => true,
  ): ActiveFault | undefined {
    for (const fault of this.active.values()) {
      const { share = 1, count = Number.POSITIVE_INFINITY } = fault.order.numbers;
      if (fault.order.kind !== kind || fault.struck >= count || !matches(fault.order)) continue;
      if (share < 1 && this.random.next() >= share) continue;
      this.hit(fault, target);
      return fault;
    }
    return undefined;
  }

  /** Counts that a fault struck; it ends when its `count` is reached. */
  hit(fault: ActiveFault, target: string): void {
    fault.struck++;
    this.tell({ type: 'struck', fault, target });
    if (fault.struck >= (fault.order.numbers['count'] ?? Number.POSITIVE_INFINITY)) this.remove(fault.id);
  }

  private tell(event: FaultEvent): void {
    for (const listener of this.listeners) listener(event);
  }
}

/** Whether the text parameters of an order match; absent ones match everything. */
export function matchesTexts(order: FaultOrder, facts: Readonly<Record<string, string | undefined>>): boolean {
  return Object.entries(order.texts).every(
    ([name, wanted]) => !(name in facts) || facts[name]?.toLowerCase() === wanted.toLowerCase(),
  );
}

export const describeFault = ({ id, order, struck }: ActiveFault): string =>
  `#${id} ${formatFault(order)} (struck ${struck}×)`;
