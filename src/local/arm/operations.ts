/** Long-running operations that clients poll and that end when the clock says so. */
import type { Clock } from '../../clock/clock.ts';
import type { Random } from '../../clock/random.ts';
import { ArmError } from './armError.ts';
import { refusal } from './refusal.ts';
import type { ArmRequest } from './server/router.ts';

export interface Operation {
  readonly id: string;
  readonly startedAt: number;
  /** When it is due to end. */
  readonly endsAt: number;
  endedAt: number | undefined;
  status: 'InProgress' | 'Succeeded' | 'Failed';
  error: ArmError | undefined;
  /** The body for a client that polls `Location`; `'empty'` for 200 without a body; undefined for 204. */
  result: (() => unknown) | undefined;
}

export interface Change {
  /** Until it is applied. */
  readonly milliseconds: number;
  /** From then until clients that poll see the end. */
  readonly untold?: number | undefined;
  /** Applies the change. An ArmError that it throws becomes the operation's failure. */
  readonly finish: () => void;
  /** When given, the change fails at its end, and this undoes or marks what was begun. */
  readonly failure?: { readonly error: ArmError; readonly apply: () => void } | undefined;
  readonly result?: () => unknown;
}

/** Azure forgets operations, too; clients that poll this late get a 404. */
const MAX_REMEMBERED = 20_000;

export class Operations {
  private readonly clock: Clock;
  private readonly random: Random;
  private readonly operations = new Map<string, Operation>();
  /** Cancels of the changes under way, by the id of their operation. */
  private readonly pending = new Map<string, () => void>();

  constructor(clock: Clock, random: Random) {
    this.clock = clock;
    this.random = random;
  }

  begin(change: Change): Operation {
    const untold = change.untold ?? 0;
    const operation = this.newOperation(change.milliseconds + untold, change.result);
    this.after(operation, change.milliseconds, () => {
      const error = applied(change);
      if (untold > 0) this.after(operation, untold, () => this.end(operation, error));
      else this.end(operation, error);
    });
    return operation;
  }

  /** What a request begins: with an injected fault it lasts longer, or fails at its end, when `failed` marks that. */
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

  /** A newer operation takes over: the change does not happen, and clients that poll it get the reason. */
  preempt(operation: Operation): void {
    if (operation.status !== 'InProgress') return;
    this.pending.get(operation.id)?.();
    this.pending.delete(operation.id);
    this.end(operation, refusal('OperationPreempted'));
  }

  /** An operation that the caller ends; it is expected to take `milliseconds`. */
  open(milliseconds: number): { readonly operation: Operation; readonly end: (failure: ArmError | undefined) => void } {
    const operation = this.newOperation(milliseconds, undefined);
    return { operation, end: (failure) => this.end(operation, failure) };
  }

  find(id: string): Operation {
    const operation = this.operations.get(id);
    if (operation === undefined) throw refusal('OperationNotFound', { id });
    return operation;
  }

  /** Cancels everything under way. */
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

/** Makes the change, or marks its failure; what went wrong. */
function applied({ finish, failure }: Change): ArmError | undefined {
  try {
    if (failure === undefined) finish();
    else failure.apply();
    return failure?.error;
  } catch (error) {
    return error instanceof ArmError ? error : refusal('InternalServerError', { problem: String(error) });
  }
}
