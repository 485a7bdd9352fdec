import type { NodeSelectorRequirement, NodeSelectorTerm } from 'kubernetes-types/core/v1.js';
import type { Node, Pod } from '../api/kinds.ts';
import { labelOf, matchesValue, type Labels } from './labelSelector.ts';

/** The node selector and the required node affinity; terms are alternatives. */
export function matchesNodeAffinity({ spec }: Pod, node: Node): boolean {
  const { labels } = node.metadata;
  for (const [key, value] of Object.entries(spec?.nodeSelector ?? {})) if (labelOf(labels, key) !== value) return false;
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required === undefined || required.nodeSelectorTerms.some((term) => matchesNodeTerm(term, node));
}

/** A term with neither expressions nor fields matches nothing. */
export function matchesNodeTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, node: Node): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  const fields = { 'metadata.name': node.metadata.name };
  return (
    matchExpressions.every((expression) => matchesExpression(expression, node.metadata.labels)) &&
    matchFields.every((expression) => matchesExpression(expression, fields))
  );
}

function matchesExpression({ key, operator, values }: NodeSelectorRequirement, labels: Labels | undefined): boolean {
  const value = labelOf(labels, key);
  if (operator !== 'Gt' && operator !== 'Lt') return matchesValue(operator, values, value);
  const [left, right] = [integer(value), integer(values?.[0])];
  if (left === undefined || right === undefined) return false;
  return operator === 'Gt' ? left > right : left < right;
}

const integer = (text: string | undefined): number | undefined =>
  text !== undefined && /^[+-]?\d+$/.test(text) ? Number(text) : undefined;
