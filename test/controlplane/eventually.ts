/** Waits for a cluster: repeats a query until the result is not `undefined`. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Repeats until there is a result; with a long timeout, because a busy machine is slow. */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T | undefined> | T | undefined,
  timeoutMilliseconds = 60_000,
): Promise<T> {
  const deadline = performance.now() + timeoutMilliseconds;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() > deadline) throw new Error(`Not within ${timeoutMilliseconds} ms: ${what}`);
    await sleep(50);
  }
}
