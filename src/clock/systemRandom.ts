import { randomUUID, webcrypto } from 'node:crypto';
import type { Random } from './random.ts';

/** The operating system's randomness. */
export const systemRandom: Random = {
  next() {
    const [high = 0, low = 0] = webcrypto.getRandomValues(new Uint32Array(2));
    // 53 bits: every value a double can hold in [0, 1) at equal spacing.
    return ((high >>> 5) * 2 ** 26 + (low >>> 6)) / 2 ** 53;
  },
  uuid: () => randomUUID(),
};
