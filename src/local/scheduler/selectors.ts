import type { Node, Pod } from '../../api/kinds.ts';

type Labels = Readonly<Record<string, string>>;
type Affinity = NonNullable<NonNullable<Pod['spec']>['affinity']>;
type NodeSelectorTerm = NonNullable<
  NonNullable<Affinity['nodeAffinity']>['requiredDuringSchedulingIgnoredDuringExecution']
>['nodeSelectorTerms'][number];
type NodeSelectorExpression = NonNullable<NodeSelectorTerm['matchExpressions']>[number];
export type LabelSelector = NonNullable<
  NonNullable<
    NonNullable<Affinity['podAffinity']>['requiredDuringSchedulingIgnoredDuringExecution']
  >[number]['labelSelector']
>;

const integer = (text: string | undefined): number | undefined =>
  text !== undefined && /^[+-]?\d+$/.test(text) ? Number(text) : undefined;

function matchesExpression({ key, operator, values = [] }: NodeSelectorExpression, labels: Labels): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
    case 'Lt': {
      const [left, right] = [integer(value), integer(values[0])];
      if (left === undefined || right === undefined) return false;
      return operator === 'Gt' ? left > right : left < right;
    }
    default:
      return false;
  }
}

/** A term with neither expressions nor fields matches nothing. */
export function matchesNodeTerm(term: NodeSelectorTerm, node: Node): boolean {
  const { matchExpressions = [], matchFields = [] } = term;
  if (matchExpressions.length + matchFields.length === 0) return false;
  const labels = node.metadata.labels ?? {};
  const fields = { 'metadata.name': node.metadata.name };
  return (
    matchExpressions.every((expression) => matchesExpression(expression, labels)) &&
    matchFields.every((expression) => matchesExpression(expression, fields))
  );
}

/** A missing selector matches nothing, an empty one everything. */
export function matchesLabelSelector(selector: LabelSelector | undefined, labels: Labels): boolean {
  if (selector === undefined) return false;
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every((expression) => matchesExpression(expression as NodeSelectorExpression, labels))
  );
}
