/** Runs nodewright in the local world like a Deployment: restarts it when it ends by a fault or a failure. */
import type { Clock } from '../../clock/clock.ts';
import type { Log } from '../../kube/log.ts';
import type { Manager } from '../../kube/runtime/manager.ts';
import type { Faults } from '../../local/faults/faults.ts';

export interface KeepAliveOptions {
  readonly faults: Faults;
  readonly log: Log;
  /** Real time, used for restarts. */
  readonly clock: Clock;
  /** Starts nodewright with empty caches. `isDead` is true once this run was killed. */
  readonly start: (isDead: () => boolean) => Promise<Pick<Manager, 'run'>>;
}

/** Milliseconds before a restart after a failure; doubled each time, as in the kubelet. */
const FIRST_WAIT = 1_000;
const LONGEST_WAIT = 30_000;
/** After running this long, a failure resets the wait. */
const LONG_RUN = 60_000;

export async function keepAlive({ faults, log, clock, start }: KeepAliveOptions, stop: AbortSignal): Promise<void> {
  let wait = FIRST_WAIT;
  while (!stop.aborted) {
    const startedAt = clock.now();
    const death = new AbortController();
    const unsubscribe = faults.subscribe(({ type, fault }) => {
      if (type !== 'began' || fault.order.kind !== 'process-death') return;
      log.info('a fault ends nodewright', { fault: fault.id });
      death.abort(new Error('killed by a fault'));
      faults.hit(fault, 'nodewright');
      faults.remove(fault.id);
    });
    try {
      const engine = await start(() => death.signal.aborted);
      await engine.run(AbortSignal.any([stop, death.signal]));
    } catch (error) {
      // Ignore errors of a killed run: its calls were cut off.
      if (death.signal.aborted) continue;
      if (stop.aborted) throw error;
      if (clock.now() - startedAt > LONG_RUN) wait = FIRST_WAIT;
      log.error('nodewright failed; starting it again', { error, afterMilliseconds: wait });
      await clock.sleep(wait, stop).catch(() => undefined);
      wait = Math.min(2 * wait, LONGEST_WAIT);
    } finally {
      unsubscribe();
    }
  }
}
