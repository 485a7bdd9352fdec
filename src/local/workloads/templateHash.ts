/** Short names for versions of a template: the same value, the same name. */
import { createHash } from 'node:crypto';

/** The letters that Kubernetes uses in generated names: no vowels, nothing that reads alike. */
const SAFE_LETTERS = 'bcdfghjklmnpqrstvwxz2456789';

/** JSON with sorted keys. */
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
