/**
 * Work that lasts until somebody stops it. In: work that heeds an abort signal. Out: a promise that ends with the work.
 * The first SIGINT or SIGTERM asks the work to stop; the second ends the process at once.
 */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;
type StopSignal = keyof typeof EXIT_CODES;

export interface StopOptions {
  /** Milliseconds after which work that does not stop is given up; absent: it has all the time that its caller gives. */
  readonly stopWithin?: number;
}

export async function runUntilStopped(
  work: (signal: AbortSignal) => Promise<void>,
  { stopWithin }: StopOptions = {},
): Promise<void> {
  const controller = new AbortController();
  const stop = (name: StopSignal): void => {
    if (controller.signal.aborted) process.exit(EXIT_CODES[name]);
    console.error(`nodewright: ${name} received, stopping; once more ends at once`);
    controller.abort(new Error(`stopped by ${name}`));
    if (stopWithin !== undefined) {
      setTimeout(() => {
        console.error(`nodewright: not everything has stopped within ${stopWithin / 1000} s; ending without it`);
        process.exit(EXIT_CODES[name]);
      }, stopWithin).unref();
    }
  };
  for (const name of stopSignals()) process.on(name, stop);
  try {
    await work(controller.signal);
  } catch (error) {
    if (!isAbort(error, controller.signal)) throw error;
  } finally {
    // The handlers stay while the process winds down, so that a late second signal still ends it.
    if (!controller.signal.aborted) for (const name of stopSignals()) process.off(name, stop);
  }
}

function stopSignals(): StopSignal[] {
  return Object.keys(EXIT_CODES) as StopSignal[];
}

/** Being stopped is not a failure; anything else that goes wrong while stopping is. */
function isAbort(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted && (error === signal.reason || (error instanceof Error && error.name === 'AbortError'));
}
