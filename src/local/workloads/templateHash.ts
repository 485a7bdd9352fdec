/** Names for versions of a template. In: any JSON value. Out: a short word that is the same for the same value. */
import { createHash } from 'node:crypto';

/** The letters that Kubernetes uses in generated names: no vowels, nothing that reads alike. */
const SAFE_LETTERS = 'bcdfghjklmnpqrstvwxz2456789';

/** The value as text, the same whatever order its keys came in. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    part && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([left], [right]) => (left < right ? -1 : 1)))
      : part,
  );
}

export function templateHash(value: unknown): string {
  const digest = createHash('sha256').update(canonical(value)).digest();
  return [...digest.subarray(0, 10)].map((byte) => SAFE_LETTERS[byte % SAFE_LETTERS.length]).join('');
}
