import { randomUUID, webcrypto } from 'node:crypto';
import type { Random } from './random.ts';

/** A call to the operating system is expensive: fetch many numbers at a time. */
const pool = new Uint32Array(512);
let used = pool.length;

/** The operating system's randomness. */
export const systemRandom: Random = {
  next() {
    if (used >= pool.length) {
      webcrypto.getRandomValues(pool);
      used = 0;
    }
    const [high = 0, low = 0] = [pool[used], pool[used + 1]];
    used += 2;
    // 53 bits: every value a double can hold in [0, 1) at equal spacing.
    return ((high >>> 5) * 2 ** 26 + (low >>> 6)) / 2 ** 53;
  },
  uuid: () => randomUUID(),
};
