/** Fields under Go's names, for refusals that show a whole internal struct. */
import { isFields, type Fields } from '../fields.ts';

/** `names`: every field of the struct in Go's order, absent ones as given. */
export function goStruct(value: unknown, fields: Readonly<Record<string, unknown>>): Fields {
  const source = isFields(value) ? value : {};
  return Object.fromEntries(
    Object.entries(fields).map(([name, absent]) => {
      const json = name === 'APIGroup' ? 'apiGroup' : name.charAt(0).toLowerCase() + name.slice(1);
      return [name, source[json] ?? absent];
    }),
  );
}
