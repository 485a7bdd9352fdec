/** Computes short names for versions of a template. */
import { createHash } from 'node:crypto';
import { sortedJson } from '../apiserver/fields.ts';

/** The characters of generated names in Kubernetes. */
const SAFE_LETTERS = 'bcdfghjklmnpqrstvwxz2456789';

/** Cache by object, because informers keep an unchanged template as the same object. */
const known = new WeakMap<object, string>();

export function templateHash(value: object | string | undefined): string {
  const hash = typeof value === 'object' ? known.get(value) : undefined;
  if (hash !== undefined) return hash;
  const digest = createHash('sha256')
    .update(JSON.stringify(sortedJson(value)))
    .digest();
  const letters = [...digest.subarray(0, 10)].map((byte) => SAFE_LETTERS[byte % SAFE_LETTERS.length]).join('');
  if (typeof value === 'object') known.set(value, letters);
  return letters;
}
