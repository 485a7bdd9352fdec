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

/** Informers keep a template that does not change as one object. */
const known = new WeakMap<object, string>();

export function templateHash(value: object | string | undefined): string {
  const hash = typeof value === 'object' ? known.get(value) : undefined;
  if (hash !== undefined) return hash;
  const digest = createHash('sha256').update(canonical(value)).digest();
  const letters = [...digest.subarray(0, 10)].map((byte) => SAFE_LETTERS[byte % SAFE_LETTERS.length]).join('');
  if (typeof value === 'object') known.set(value, letters);
  return letters;
}
