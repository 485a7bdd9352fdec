/** Waits for a cluster: asks until the answer is not `undefined`. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Asks until there is an answer; generous, because a busy machine is slow but not wrong. */
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
