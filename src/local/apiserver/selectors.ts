/**
 * Compiles label and field selectors to predicates, from the text of a request (`a=b,c in (d,e),!f`, `spec.nodeName=x`)
 * or from a LabelSelector. Throws BadRequest on invalid text.
 */
import { matchesLabelSelector } from '../../pods/labelSelector.ts';
import { isFields, type ApiObject } from './fields.ts';
import { parseRequirements, type Requirement } from './labelSelectorParser.ts';
import { badRequest } from './status.ts';

type Labels = Readonly<Record<string, string>>;
export type LabelPredicate = (labels: Labels) => boolean;
export type ObjectPredicate = (object: ApiObject) => boolean;

function predicate({ key, operator, values }: Requirement): LabelPredicate {
  const [first = ''] = values;
  // Only own keys, because a label may be named "constructor".
  const has = (labels: Labels): boolean => Object.hasOwn(labels, key);
  switch (operator) {
    case '=':
    case 'in':
      return (labels) => has(labels) && values.includes(labels[key] ?? '');
    case '!=':
    case 'notin':
      return (labels) => !has(labels) || !values.includes(labels[key] ?? '');
    case 'exists':
      return has;
    case '!':
      return (labels) => !has(labels);
    case '>':
    case '<':
      return (labels) => {
        const value = has(labels) ? labels[key] : undefined;
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

/** Returns the predicate of a LabelSelector: undefined matches nothing, `{}` everything. */
export function labelSelectorPredicate(selector: unknown): LabelPredicate {
  if (!isFields(selector)) return () => false;
  return (labels) => matchesLabelSelector(selector, labels);
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

/** Returns both selectors as one predicate; undefined if everything matches. */
export function objectPredicate(
  labels: LabelPredicate | undefined,
  fields: ObjectPredicate | undefined,
): ObjectPredicate | undefined {
  if (labels === undefined) return fields;
  const byLabels: ObjectPredicate = (object) => labels(object.metadata.labels ?? NO_LABELS);
  return fields === undefined ? byLabels : (object) => byLabels(object) && fields(object);
}
