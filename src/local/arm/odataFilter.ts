import { ArmError } from './armError.ts';

/** The OData filters that Azure clients send here: `a eq 'x' and b eq 'y'`. Out: the pairs, in order. */
export function parseEqualities(filter: string): readonly (readonly [string, string])[] {
  if (filter.trim() === '') return [];
  return filter
    .trim()
    .split(/\s+and\s+/i)
    .map((clause) => {
      const match = /^(\w+)\s+eq\s+'((?:[^']|'')*)'$/i.exec(clause.trim());
      if (match === null) {
        throw new ArmError(400, 'InvalidFilter', `The filter clause '${clause}' is not of the form: field eq 'value'.`);
      }
      return [match[1] ?? '', (match[2] ?? '').replaceAll("''", "'")] as const;
    });
}
