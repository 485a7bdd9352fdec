/** Fields with Go's names, for error messages that show an internal struct. */
import { isFields, type Fields } from '../fields.ts';

/** Returns a struct. `fields`: all its fields in Go's order, with the values of absent ones. */
export function goStruct(value: unknown, fields: Readonly<Record<string, unknown>>): Fields {
  const source = isFields(value) ? value : {};
  return Object.fromEntries(
    Object.entries(fields).map(([name, absent]) => {
      const json = name === 'APIGroup' ? 'apiGroup' : name.charAt(0).toLowerCase() + name.slice(1);
      return [name, source[json] ?? absent];
    }),
  );
}
