/**
 * Runs work until SIGINT or SIGTERM asks it to stop; a second signal ends the process at once. The same signal within
 * half a second is not a second one: Ctrl-C under npm arrives from the terminal and again from npm.
 */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;
/** Milliseconds. */
const SAME_SIGNAL = 500;
type StopSignal = keyof typeof EXIT_CODES;

export interface StopOptions {
  /** Milliseconds after which the process exits even if work has not stopped; absent: no limit. */
  readonly stopWithin?: number;
}

/** Resolves when `work` has stopped after its signal, or rejects with its error. */
export async function runUntilStopped(
  work: (signal: AbortSignal) => Promise<void>,
  { stopWithin }: StopOptions = {},
): Promise<void> {
  const controller = new AbortController();
  let firstAt = 0;
  const stop = (name: StopSignal): void => {
    if (controller.signal.aborted) {
      if (performance.now() - firstAt > SAME_SIGNAL) process.exit(EXIT_CODES[name]);
      return;
    }
    firstAt = performance.now();
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
    // The handlers stay while the process shuts down, so that a late second signal still ends it.
    if (!controller.signal.aborted) for (const name of stopSignals()) process.off(name, stop);
  }
}

function stopSignals(): StopSignal[] {
  return Object.keys(EXIT_CODES) as StopSignal[];
}

/** An abort is not a failure; any other error while stopping is. */
function isAbort(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted && (error === signal.reason || (error instanceof Error && error.name === 'AbortError'));
}
