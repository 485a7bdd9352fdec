/** Formats JSON values like Go's `%v`, for error messages about patches. */
import { isFields } from '../fields.ts';

export function goText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`;
  if (!isFields(value)) {
    return value === null || value === undefined ? '<nil>' : String(value as string | number | boolean);
  }
  const members = Object.keys(value).sort();
  return `map[${members.map((name) => `${name}:${goText(value[name])}`).join(' ')}]`;
}
