/** Validation of a requirement beyond the schema. Shared by pools, claims, overlays and pod selectors. */
import { isRestrictedLabel, KNOWN_LABEL_VALUES, normalizeLabelKey } from './labels.ts';
import { REQUIREMENT_OPERATORS } from './kinds/requirement.ts';
import { labelValueErrors, qualifiedNameErrors } from './names.ts';
import type { FieldError } from './schema/fieldError.ts';

export interface RequirementLike {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
  readonly minValues?: number;
}

const NUMERIC: ReadonlySet<string> = new Set(['Gt', 'Lt', 'Gte', 'Lte']);

/** A term with matchFields names one node, so no new node can be planned for it. */
export function refuseMatchFields(path: string): FieldError {
  const detail = 'matching by fields is not supported';
  return { type: 'FieldValueForbidden', field: `${path}.matchFields`, detail };
}

export function validateRequirement(requirement: RequirementLike, path: string): FieldError[] {
  const { operator, minValues } = requirement;
  const values = requirement.values ?? [];
  const key = normalizeLabelKey(requirement.key);
  const errors: FieldError[] = [];
  const report = (field: string, value: unknown, detail: string) =>
    errors.push({ type: 'FieldValueInvalid', field: `${path}.${field}`, value, detail });

  if (!(REQUIREMENT_OPERATORS as readonly string[]).includes(operator)) {
    errors.push({
      type: 'FieldValueNotSupported',
      field: `${path}.operator`,
      value: operator,
      detail: `supported values: ${REQUIREMENT_OPERATORS.map((each) => JSON.stringify(each)).join(', ')}`,
    });
  }
  if (isRestrictedLabel(key)) report('key', requirement.key, 'the label is restricted: nodewright itself sets it');
  for (const detail of qualifiedNameErrors(key)) report('key', requirement.key, detail);
  values.forEach((value, at) => {
    for (const detail of labelValueErrors(value)) report(`values[${at}]`, value, detail);
  });
  if (operator === 'In') {
    const problem = problemOfIn(key, values, minValues);
    if (problem !== undefined) report('values', values, problem);
  }
  if (NUMERIC.has(operator) && !(values.length === 1 && isWholeNumber(values[0] ?? ''))) {
    report('values', values, `operator ${operator} needs exactly one value, a whole number of 0 or more`);
  }
  return errors;
}

/** With a closed set of values, at least one of them must be requested; additional values do no harm. */
function problemOfIn(key: string, values: readonly string[], minValues: number | undefined): string | undefined {
  if (values.length === 0) return 'operator In needs at least one value';
  if (minValues !== undefined && values.length < minValues) return `minValues asks for at least ${minValues} values`;
  const known = KNOWN_LABEL_VALUES.get(key);
  if (known === undefined) return undefined;
  const valid = values.filter((value) => known.has(value)).length;
  const choices = [...known].join(', ');
  if (valid === 0) return `none of the values exists; ${key} can be ${choices}`;
  if (minValues === undefined || valid >= minValues) return undefined;
  return `minValues asks for at least ${minValues} values that exist; ${key} can be ${choices}`;
}

const MAX_INT64 = 9_223_372_036_854_775_807n;

function isWholeNumber(text: string): boolean {
  return /^(\+?[0-9]+|-0+)$/.test(text) && BigInt(text.replace(/^[+-]/, '')) <= MAX_INT64;
}
