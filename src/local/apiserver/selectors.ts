/**
 * Label and field selectors. In: the text of a request (`a=b,c in (d,e),!f`, `spec.nodeName=x`) or a LabelSelector
 * object. Out: a predicate, or a BadRequest error that says what cannot be parsed.
 */
import { fieldsAt, isFields, listAt, textAt, type ApiObject } from './fields.ts';
import { parseRequirements, type Requirement } from './labelSelectorParser.ts';
import { badRequest } from './status.ts';

type Labels = Readonly<Record<string, string>>;
export type LabelPredicate = (labels: Labels) => boolean;
export type ObjectPredicate = (object: ApiObject) => boolean;

function predicate({ key, operator, values }: Requirement): LabelPredicate {
  const [first = ''] = values;
  switch (operator) {
    case '=':
      return (labels) => labels[key] === first;
    case '!=':
      return (labels) => labels[key] !== first;
    case 'in':
      return (labels) => labels[key] !== undefined && values.includes(labels[key]);
    case 'notin':
      return (labels) => labels[key] === undefined || !values.includes(labels[key]);
    case 'exists':
      return (labels) => labels[key] !== undefined;
    case '!':
      return (labels) => labels[key] === undefined;
    case '>':
    case '<':
      return (labels) => {
        const value = labels[key];
        if (value === undefined || !/^-?\d+$/.test(value)) return false;
        return operator === '>' ? BigInt(value) > BigInt(first) : BigInt(value) < BigInt(first);
      };
  }
}

export function parseLabelSelector(text: string | undefined): LabelPredicate | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const requirements = parseRequirements(text).map(predicate);
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
