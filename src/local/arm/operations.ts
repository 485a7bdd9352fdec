/** Long-running operations, which clients poll and which end by the clock. */
import type { Clock } from '../../clock/clock.ts';
import type { Random } from '../../clock/random.ts';
import { ArmError } from './armError.ts';
import { refusal } from './refusal.ts';
import type { ArmRequest } from './server/router.ts';

export interface Operation {
  readonly id: string;
  readonly startedAt: number;
  /** When the operation is expected to end. */
  readonly endsAt: number;
  endedAt: number | undefined;
  status: 'InProgress' | 'Succeeded' | 'Failed';
  error: ArmError | undefined;
  /** The body for a client that polls `Location`; `'empty'` for 200 without a body; undefined for 204. */
  result: (() => unknown) | undefined;
}

export interface Change {
  /** Time until the change is applied. */
  readonly milliseconds: number;
  /** Time from then until clients that poll see the end. */
  readonly reportDelay?: number | undefined;
  /** Applies the change. An ArmError that it throws becomes the operation's failure. */
  readonly finish: () => void;
  /** When given, the operation fails at its end, and `apply` undoes the change or marks the resource as failed. */
  readonly failure?: { readonly error: ArmError; readonly apply: () => void } | undefined;
  readonly result?: () => unknown;
}

/** Older operations are dropped, as in Azure; clients that still poll them get a 404. */
const MAX_REMEMBERED = 20_000;

export class Operations {
  private readonly clock: Clock;
  private readonly random: Random;
  private readonly operations = new Map<string, Operation>();
  /** Functions that cancel the changes under way, by the id of their operation. */
  private readonly pending = new Map<string, () => void>();

  constructor(clock: Clock, random: Random) {
    this.clock = clock;
    this.random = random;
  }

  begin(change: Change): Operation {
    const reportDelay = change.reportDelay ?? 0;
    const operation = this.newOperation(change.milliseconds + reportDelay, change.result);
    this.after(operation, change.milliseconds, () => {
      const error = applied(change);
      if (reportDelay > 0) this.after(operation, reportDelay, () => this.end(operation, error));
      else this.end(operation, error);
    });
    return operation;
  }

  /** Begins the operation of a request. An injected fault prolongs it, or makes it end with `failed`. */
  beginFor(
    { lateFault, extraTime = 0 }: Pick<ArmRequest, 'lateFault' | 'extraTime'>,
    { milliseconds, failed, ...change }: Omit<Change, 'failure'> & { readonly failed: () => void },
  ): Operation {
    const failure = lateFault && { error: lateFault.error, apply: failed };
    return this.begin({ ...change, milliseconds: milliseconds + extraTime, failure });
  }

  private after(operation: Operation, milliseconds: number, action: () => void): void {
    const cancel = this.clock.after(milliseconds, () => {
      this.pending.delete(operation.id);
      action();
    });
    this.pending.set(operation.id, cancel);
  }

  /** Fails an operation that a newer one replaces: its change is not applied, and clients that poll it are told. */
  preempt(operation: Operation): void {
    if (operation.status !== 'InProgress') return;
    this.pending.get(operation.id)?.();
    this.pending.delete(operation.id);
    this.end(operation, refusal('OperationPreempted'));
  }

  /** Returns an operation that the caller ends; it is expected to take `milliseconds`. */
  open(milliseconds: number): { readonly operation: Operation; readonly end: (failure: ArmError | undefined) => void } {
    const operation = this.newOperation(milliseconds, undefined);
    return { operation, end: (failure) => this.end(operation, failure) };
  }

  find(id: string): Operation {
    const operation = this.operations.get(id);
    if (operation === undefined) throw refusal('OperationNotFound', { id });
    return operation;
  }

  /** Cancels all changes under way. */
  close(): void {
    for (const cancel of this.pending.values()) cancel();
    this.pending.clear();
  }

  private end(operation: Operation, error: ArmError | undefined): void {
    operation.endedAt = this.clock.now();
    operation.status = error === undefined ? 'Succeeded' : 'Failed';
    operation.error = error;
  }

  private newOperation(milliseconds: number, result: Operation['result']): Operation {
    const operation: Operation = {
      id: this.random.uuid(),
      startedAt: this.clock.now(),
      endsAt: this.clock.now() + milliseconds,
      endedAt: undefined,
      status: 'InProgress',
      error: undefined,
      result,
    };
    this.remember(operation);
    return operation;
  }

  private remember(operation: Operation): void {
    this.operations.set(operation.id, operation);
    if (this.operations.size <= MAX_REMEMBERED) return;
    for (const [id, old] of this.operations) {
      if (old.status === 'InProgress') continue;
      this.operations.delete(id);
      return;
    }
  }
}

/** Applies the change or its failure; returns the error of the operation. */
function applied({ finish, failure }: Change): ArmError | undefined {
  try {
    if (failure === undefined) finish();
    else failure.apply();
    return failure?.error;
  } catch (error) {
    return error instanceof ArmError ? error : refusal('InternalServerError', { problem: String(error) });
  }
}
