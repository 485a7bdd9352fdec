/**
 * Label and field selectors. In: the text of a request (`a=b,c in (d,e),!f`, `spec.nodeName=x`) or a LabelSelector
 * object. Out: a predicate, or a BadRequest error that says what cannot be parsed.
 */
import { fieldsAt, isFields, listAt, textAt, type ApiObject } from './fields.ts';
import { QUALIFIED_NAME_MESSAGE } from './names.ts';
import { badRequest } from './status.ts';

type Labels = Readonly<Record<string, string>>;
export type LabelPredicate = (labels: Labels) => boolean;
export type ObjectPredicate = (object: ApiObject) => boolean;

const KEY = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/;
const MAX_LENGTH = 63;

/** Commas inside parentheses belong to a value set, not between requirements. */
function splitRequirements(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (character === '(') depth++;
    else if (character === ')') depth--;
    else if (character === ',' && depth === 0) {
      parts.push(text.slice(start, index));
      start = index + 1;
    }
  }
  parts.push(text.slice(start));
  return parts.map((part) => part.trim());
}

function parseRequirement(text: string): LabelPredicate {
  const set = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/.exec(text);
  if (set) {
    const [, key = '', operator, list = ''] = set;
    checkKey(key);
    const values = new Set(list.split(',').map((value) => checkValue(value.trim(), text)));
    return operator === 'in'
      ? (labels) => labels[key] !== undefined && values.has(labels[key])
      : (labels) => labels[key] === undefined || !values.has(labels[key]);
  }
  const equality = /^([^=!<>\s]+)\s*(==|!=|=)\s*(\S*)$/.exec(text);
  if (equality) {
    const [, key = '', operator, value = ''] = equality;
    checkKey(key);
    if (/^[()]/.test(value)) {
      throw badRequest(`unable to parse requirement: found '${value.slice(0, 1)}', expected: identifier`);
    }
    checkValue(value, text);
    return operator === '!=' ? (labels) => labels[key] !== value : (labels) => labels[key] === value;
  }
  const order = /^([^=!<>\s]+)\s*(<|>)\s*(-?\d+)$/.exec(text);
  if (order) {
    const [, key = '', operator, bound = ''] = order;
    checkKey(key);
    return (labels) => {
      const value = labels[key];
      if (value === undefined || !/^-?\d+$/.test(value)) return false;
      return operator === '>' ? BigInt(value) > BigInt(bound) : BigInt(value) < BigInt(bound);
    };
  }
  const existence = /^(!?)\s*(\S+)$/.exec(text);
  if (existence) {
    const [, not, key = ''] = existence;
    checkKey(key);
    return not === '!' ? (labels) => labels[key] === undefined : (labels) => labels[key] !== undefined;
  }
  const extra = /^([^=!<>\s]+)\s*(==|!=|=)\s*\S+\s+(\S+)/.exec(text)?.[3];
  throw badRequest(
    extra === undefined
      ? `unable to parse requirement: ${JSON.stringify(text)} is not a label selector`
      : `found '${extra}', expected: ',' or 'end of string'`,
  );
}

function checkKey(key: string): void {
  const name = key.includes('/') ? key.slice(key.indexOf('/') + 1) : key;
  if (!KEY.test(key) || name.length > MAX_LENGTH) {
    const why =
      name.length > MAX_LENGTH ? `name part must be no more than ${MAX_LENGTH} bytes` : QUALIFIED_NAME_MESSAGE;
    throw badRequest(`unable to parse requirement: <nil>: Invalid value: ${JSON.stringify(key)}: ${why}`);
  }
}

function checkValue(value: string, text: string): string {
  if (!VALUE.test(value) || value.length > MAX_LENGTH) {
    throw badRequest(
      `unable to parse requirement: values: Invalid value: ${JSON.stringify(value)} in ${JSON.stringify(text)}`,
    );
  }
  return value;
}

export function parseLabelSelector(text: string | undefined): LabelPredicate | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const requirements = splitRequirements(text).map(parseRequirement);
  return (labels) => requirements.every((matches) => matches(labels));
}

/** A `metav1.LabelSelector`: nothing selects nothing, `{}` selects everything. */
export function labelSelectorPredicate(selector: unknown): LabelPredicate {
  if (!isFields(selector)) return () => false;
  const equal = Object.entries(fieldsAt(selector, 'matchLabels') ?? {});
  const expressions = listAt(selector, 'matchExpressions').map(expressionPredicate);
  return (labels) =>
    equal.every(([key, value]) => labels[key] === value) && expressions.every((matches) => matches(labels));
}

function expressionPredicate(expression: unknown): LabelPredicate {
  const key = textAt(expression, 'key') ?? '';
  const values = new Set(listAt(expression, 'values').map(String));
  switch (textAt(expression, 'operator') ?? '') {
    case 'In':
      return (labels) => labels[key] !== undefined && values.has(labels[key]);
    case 'NotIn':
      return (labels) => labels[key] === undefined || !values.has(labels[key]);
    case 'Exists':
      return (labels) => labels[key] !== undefined;
    case 'DoesNotExist':
      return (labels) => labels[key] === undefined;
    default:
      return () => false;
  }
}

export type SelectableFields = Readonly<Record<string, (object: ApiObject) => string>>;

export function parseFieldSelector(
  text: string | undefined,
  selectable: SelectableFields,
  namesSelectable: boolean,
): ObjectPredicate | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const terms = text.split(',').map((term) => {
    const parsed = /^\s*([^=!\s]+)\s*(==|!=|=)\s*(.*?)\s*$/.exec(term);
    if (!parsed) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
    const [, field = '', operator, value = ''] = parsed;
    const read = Object.hasOwn(selectable, field) ? selectable[field] : undefined;
    if (read === undefined) {
      const known = ['metadata.name', 'metadata.namespace'].map((one) => JSON.stringify(one)).join(', ');
      throw badRequest(
        namesSelectable
          ? `${JSON.stringify(field)} is not a known field selector: only ${known}`
          : `field label not supported: ${field}`,
      );
    }
    return (object: ApiObject) => (read(object) === value) !== (operator === '!=');
  });
  return (object) => terms.every((matches) => matches(object));
}

const NO_LABELS: Labels = {};

/** Both selectors as one predicate; `undefined` when everything matches. */
export function objectPredicate(
  labels: LabelPredicate | undefined,
  fields: ObjectPredicate | undefined,
): ObjectPredicate | undefined {
  if (labels === undefined) return fields;
  const byLabels: ObjectPredicate = (object) => labels(object.metadata.labels ?? NO_LABELS);
  return fields === undefined ? byLabels : (object) => byLabels(object) && fields(object);
}
