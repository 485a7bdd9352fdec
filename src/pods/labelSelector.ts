/** Matches label selectors against an object's labels. */
import type { LabelSelector } from 'kubernetes-types/meta/v1.js';

export type Labels = Readonly<Record<string, string>>;

/** No selector matches nothing, an empty one everything; an unknown operator matches nothing. */
export function matchesLabelSelector(selector: LabelSelector | undefined, labels: Labels | undefined): boolean {
  if (selector === undefined) return false;
  const { matchLabels, matchExpressions } = selector;
  // Without a list of the entries: the solver matches each running pod with the selectors that count it.
  for (const key in matchLabels) if (labelOf(labels, key) !== matchLabels[key]) return false;
  if (matchExpressions === undefined) return true;
  return matchExpressions.every(({ key, operator, values }) => matchesValue(operator, values, labelOf(labels, key)));
}

/** Own keys only: a label may be called "constructor". */
export function labelOf(labels: Labels | undefined, key: string): string | undefined {
  return labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
}

/** Operators shared by label and node selectors; `value` is undefined when the label is missing. */
export function matchesValue(operator: string, values: readonly string[] = [], value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return false;
  }
}
