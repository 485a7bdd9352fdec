/**
 * A pod's requirements on node labels, with or without its heaviest preference. Only the first required term is used:
 * the others are alternatives that relaxation tries one by one.
 */
import type {
  NodeSelectorRequirement,
  NodeSelectorTerm,
  Pod,
  PreferredSchedulingTerm,
} from 'kubernetes-types/core/v1.js';
import { Requirement, type RequirementOperator } from './requirement.ts';
import { Requirements } from './requirements.ts';

/** Node selector and first required node-affinity term. */
export function strictPodRequirements(pod: Pod): Requirements {
  const affinity = pod.spec?.affinity?.nodeAffinity;
  const term = affinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms[0];
  return Requirements.fromLabels(pod.spec?.nodeSelector).add(...(term?.matchExpressions ?? []).map(fromExpression));
}

/** The strict ones plus the heaviest preferred node-affinity term, treated as required. */
export function podRequirements(pod: Pod): Requirements {
  const preferred = heaviest(pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []);
  return strictPodRequirements(pod).add(...(preferred?.preference.matchExpressions ?? []).map(fromExpression));
}

/** Represents the node's own name, which terms may match as a field. No planned node has it. */
export const NODE_NAME_FIELD = 'metadata.name';

/** One term of node affinity, including fields. An empty term matches no node. */
export function requirementsOfTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm): Requirements {
  if (matchExpressions.length === 0 && matchFields.length === 0)
    return Requirements.of(Requirement.none(NODE_NAME_FIELD));
  return Requirements.of(...matchExpressions.map(fromExpression), ...matchFields.map(fromExpression));
}

/** Each required node-affinity term combined with the node selector; only the selector if there is none. */
export function requirementTerms(pod: Pod): Requirements[] {
  const selector = Requirements.fromLabels(pod.spec?.nodeSelector);
  const required = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const terms: readonly NodeSelectorTerm[] | undefined = required?.nodeSelectorTerms;
  if (terms === undefined) return [selector];
  if (terms.length === 0) return [requirementsOfTerm({})];
  return terms.map((term) => selector.merge(requirementsOfTerm(term)));
}

/** Ties: the first. */
function heaviest(terms: readonly PreferredSchedulingTerm[]): PreferredSchedulingTerm | undefined {
  return terms.reduce<PreferredSchedulingTerm | undefined>(
    (best, term) => (best === undefined || term.weight > best.weight ? term : best),
    undefined,
  );
}

/** An unknown operator counts as unsatisfiable: better no node than a wrong one. */
function fromExpression({ key, operator, values }: NodeSelectorRequirement): Requirement {
  return isOperator(operator) ? Requirement.of(key, operator, values) : Requirement.none(key);
}

const OPERATORS: ReadonlySet<string> = new Set<RequirementOperator>([
  'In',
  'NotIn',
  'Exists',
  'DoesNotExist',
  'Gt',
  'Lt',
  'Gte',
  'Lte',
]);

function isOperator(operator: string): operator is RequirementOperator {
  return OPERATORS.has(operator);
}
