/** Validation of a NodeOverlay beyond its schema. Each error has the path of its field. */
import { WELL_KNOWN_RESOURCES } from './labels.ts';
import type { NodeOverlay } from './kinds/nodeOverlay.ts';
import { validateRequirement } from './requirementValidation.ts';
import { keyPath } from './schema/fieldError.ts';
import type { FieldError } from './schema/fieldError.ts';

export function validateNodeOverlay(overlay: Pick<NodeOverlay, 'spec'>): FieldError[] {
  const { requirements, capacity } = overlay.spec;
  return [
    ...requirements.flatMap((requirement, at) => {
      const path = `spec.requirements[${at}]`;
      const empty = requirement.operator === 'NotIn' && (requirement.values ?? []).length === 0;
      const detail = 'operator NotIn needs at least one value';
      return [
        ...validateRequirement(requirement, path),
        ...(empty
          ? [{ type: 'FieldValueInvalid' as const, field: `${path}.values`, value: requirement.values ?? [], detail }]
          : []),
      ];
    }),
    ...Object.keys(capacity ?? {})
      .filter((name) => WELL_KNOWN_RESOURCES.has(name))
      .map((name) => ({
        type: 'FieldValueInvalid' as const,
        field: keyPath('spec.capacity', name),
        value: name,
        detail: 'an overlay can only add resources that the instance type does not have by itself',
      })),
  ];
}
