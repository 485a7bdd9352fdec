/** RFC 7386: null removes. The new document shares what is the same. */
import { isFields, type Fields } from '../fields.ts';

export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isFields(patch)) return patch;
  const result: Fields = isFields(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else if (value !== undefined) result[name] = applyMergePatch(result[name], value);
  }
  return result;
}
