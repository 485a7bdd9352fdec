/** ARM's long-running operations: started, then polled with our clock at Azure's requested pace. */
import { NodewrightError } from '../errors/nodewrightError.ts';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../clock/clock.ts';

/** The common interface of the SDKs' two generations of pollers. */
interface Poller {
  poll(options?: { abortSignal?: AbortSignal }): Promise<unknown>;
  readonly isDone: boolean | (() => boolean);
}

type PollerOf<T> = Poller & ({ readonly result: T | undefined } | { getResult(): T | undefined });

/** An operation accepted by ARM. The poller is wrapped in an object, because awaiting it would poll in real time. */
export interface Operation<T> {
  readonly poller: PollerOf<T>;
  readonly pace: Pace;
}

/** The wait requested in Azure's last answer. */
interface Pace {
  retryAfter?: number | undefined;
}

const POLL_INTERVAL = 3_000;
const MIN_POLL_INTERVAL = 1_000;
/** Timeout of an operation; the next reconcile handles what it left. */
const OPERATION_TIMEOUT = 30 * 60 * 1000;

/** Pollers do not expose Retry-After; the pipeline, which sees every answer, records it for the current operation. */
const paces = new AsyncLocalStorage<Pace>();

/** For the pipeline: `milliseconds` is undefined when the answer has no header. */
export function notePace(milliseconds: number | undefined): void {
  const pace = paces.getStore();
  if (pace !== undefined) pace.retryAfter = milliseconds;
}

/** Resolves when ARM has accepted the operation. `submit` must not return the poller itself, which is a thenable. */
export async function beginOperation<T>(
  submit: () => Promise<{ readonly poller: PollerOf<T> }>,
): Promise<Operation<T>> {
  const pace: Pace = {};
  const { poller } = await paces.run(pace, submit);
  return { poller, pace };
}

/**
 * Polls until the operation on `resource` is complete and returns its result; throws if it failed. With `made`, also
 * ends as soon as that finds the resource ready: some operations are reported complete long after.
 */
export async function finishOperation<T>(
  clock: Clock,
  { poller, pace }: Operation<T>,
  resource: string,
  signal?: AbortSignal,
  made?: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const deadline = clock.now() + OPERATION_TIMEOUT;
  while (!isDone(poller)) {
    if (clock.now() >= deadline)
      throw new NodewrightError('AzureOperationTimeout', { resource, minutes: OPERATION_TIMEOUT / 60_000 });
    await clock.sleep(Math.max(MIN_POLL_INTERVAL, pace.retryAfter ?? POLL_INTERVAL), signal);
    pace.retryAfter = undefined;
    await paces.run(pace, () => poller.poll(signal === undefined ? {} : { abortSignal: signal }));
    const early = isDone(poller) ? undefined : await made?.();
    if (early !== undefined) return early;
  }
  return 'getResult' in poller ? poller.getResult() : poller.result;
}

function isDone({ isDone: done }: Poller): boolean {
  return typeof done === 'function' ? done() : done;
}
