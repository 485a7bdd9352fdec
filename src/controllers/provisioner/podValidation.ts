import type { Pod } from '../../api/kinds.ts';
import { Labels } from '../../api/labels.ts';
import { validateRequirement } from '../../api/requirementValidation.ts';
import { fieldErrorText } from '../../api/schema/fieldError.ts';

/** Why a pod is left out of provisioning. `silent`: it is meant that way, nobody needs to be told. */
export interface PodObjection {
  readonly message: string;
  readonly silent: boolean;
}

/** What speaks against providing for a pod, before any machine is looked at; undefined when nothing does. */
export function podObjection(pod: Pod): PodObjection | undefined {
  if (refusesOurNodes(pod)) {
    return { message: `it insists on nodes without the label ${Labels.nodePool}`, silent: true };
  }
  const { nodeSelector, affinity } = pod.spec ?? {};
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const errors = Object.entries(nodeSelector ?? {}).flatMap(([key, value]) =>
    validateRequirement({ key, operator: 'In', values: [value] }, 'spec.nodeSelector'),
  );
  const messages: string[] = [];
  terms.forEach(({ matchExpressions = [], matchFields = [] }, at) => {
    const path = `spec.affinity.nodeAffinity.nodeSelectorTerms[${at}]`;
    matchExpressions.forEach((expression, index) =>
      errors.push(...validateRequirement(expression, `${path}.matchExpressions[${index}]`)),
    );
    if (matchFields.length > 0) messages.push(`${path}.matchFields: matching by fields is not supported`);
  });
  messages.unshift(...errors.map(fieldErrorText));
  return messages.length === 0 ? undefined : { message: messages.join('; '), silent: false };
}

/** The way for a pod to stay off nodes of ours; a preference for it counts as well. */
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
