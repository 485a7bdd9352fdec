import type { Pod } from '../../api/kinds.ts';
import { Labels } from '../../api/labels.ts';
import { refuseMatchFields, validateRequirement } from '../../api/requirementValidation.ts';
import type { FieldError } from '../../api/schema/fieldError.ts';
import type { PodObjection } from '../../ledger/objection.ts';

/** Why no node is planned for a pod, before any node is considered; undefined when nothing is wrong. */
export function podObjection(pod: Pod): PodObjection | undefined {
  if (refusesOurNodes(pod)) return { kind: 'opted-out', label: Labels.nodePool };
  const { nodeSelector, affinity } = pod.spec ?? {};
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const errors = Object.entries(nodeSelector ?? {}).flatMap(([key, value]) =>
    validateRequirement({ key, operator: 'In', values: [value] }, 'spec.nodeSelector'),
  );
  const unsupported: FieldError[] = [];
  terms.forEach(({ matchExpressions = [], matchFields = [] }, at) => {
    const path = `spec.affinity.nodeAffinity.nodeSelectorTerms[${at}]`;
    matchExpressions.forEach((expression, index) =>
      errors.push(...validateRequirement(expression, `${path}.matchExpressions[${index}]`)),
    );
    if (matchFields.length > 0) unsupported.push(refuseMatchFields(path));
  });
  errors.push(...unsupported);
  return errors.length === 0 ? undefined : { kind: 'invalid', errors };
}

/** The documented way to keep a pod off nodes of NodePools; a preference counts as well. */
function refusesOurNodes(pod: Pod): boolean {
  const affinity = pod.spec?.affinity?.nodeAffinity;
  const required = affinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const preferred = (affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(
    ({ preference }) => preference,
  );
  return [...required, ...preferred].some(({ matchExpressions = [] }) =>
    matchExpressions.some(({ key, operator }) => key === Labels.nodePool && operator === 'DoesNotExist'),
  );
}
