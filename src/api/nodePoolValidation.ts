/** Validation of a NodePool beyond its schema. Each error has the path of its field. */
import { Schedule } from '../units/schedule.ts';
import { UnitError } from '../units/unitError.ts';
import { isRestrictedLabel, Labels } from './labels.ts';
import type { NodePool } from './kinds/nodePool.ts';
import type { Taint } from './kinds/nodeTemplate.ts';
import { labelValueErrors, qualifiedNameErrors } from './names.ts';
import { validateRequirement } from './requirementValidation.ts';
import type { FieldError } from './schema/fieldError.ts';
import { keyPath } from './schema/fieldError.ts';

const TEMPLATE = 'spec.template';

export function validateNodePool(nodePool: Pick<NodePool, 'spec'>): FieldError[] {
  const { template } = nodePool.spec;
  const { requirements } = template.spec;
  return [
    ...labelErrors(template.metadata?.labels ?? {}),
    ...taintErrors(template.spec.taints ?? [], template.spec.startupTaints ?? []),
    ...requirements.flatMap((requirement, at) =>
      validateRequirement(requirement, `${TEMPLATE}.spec.requirements[${at}]`),
    ),
    ...requirements.flatMap((requirement, at) => {
      const path = `${TEMPLATE}.spec.requirements[${at}].key`;
      return requirement.key === Labels.nodePool ? [invalid(path, requirement.key, OWN_NAME)] : [];
    }),
    ...scheduleErrors(nodePool),
  ];
}

const OWN_NAME = 'the label is restricted: the nodes of a pool always carry the name of the pool';

function invalid(field: string, value: unknown, detail: string): FieldError {
  return { type: 'FieldValueInvalid', field, value, detail };
}

function labelErrors(labels: Readonly<Record<string, string>>): FieldError[] {
  return Object.entries(labels).flatMap(([key, value]) => {
    const path = keyPath(`${TEMPLATE}.metadata.labels`, key);
    return [
      ...(key === Labels.nodePool ? [invalid(path, key, OWN_NAME)] : []),
      ...qualifiedNameErrors(key).map((detail) => invalid(path, key, detail)),
      ...labelValueErrors(value).map((detail) => invalid(path, value, detail)),
      ...(isRestrictedLabel(key) ? [invalid(path, key, 'the label is restricted: nodewright itself sets it')] : []),
    ];
  });
}

const EFFECTS: ReadonlySet<string> = new Set(['NoSchedule', 'PreferNoSchedule', 'NoExecute', '']);

/** A node can have a key and effect only once, whichever list it comes from. */
function taintErrors(taints: readonly Taint[], startupTaints: readonly Taint[]): FieldError[] {
  const seen = new Set<string>();
  const check = (list: readonly Taint[], name: string): FieldError[] =>
    list.flatMap((taint, at) => {
      const path = `${TEMPLATE}.spec.${name}[${at}]`;
      const identity = `${taint.key}:${taint.effect}`;
      const isRepeated = seen.has(identity);
      seen.add(identity);
      return [
        ...qualifiedNameErrors(taint.key).map((detail) => invalid(`${path}.key`, taint.key, detail)),
        ...(taint.value === undefined || taint.value === '' ? [] : qualifiedNameErrors(taint.value)).map((detail) =>
          invalid(`${path}.value`, taint.value, detail),
        ),
        ...(EFFECTS.has(taint.effect) ? [] : [invalid(`${path}.effect`, taint.effect, 'there is no such effect')]),
        ...(isRepeated ? [{ type: 'FieldValueDuplicate' as const, field: path, value: identity, detail: '' }] : []),
      ];
    });
  return [...check(taints, 'taints'), ...check(startupTaints, 'startupTaints')];
}

/** The schema's pattern accepts `@dailyfoo` and `99 * * * *`. */
function scheduleErrors(nodePool: Pick<NodePool, 'spec'>): FieldError[] {
  return nodePool.spec.disruption.budgets.flatMap((budget, at) => {
    const { schedule } = budget;
    if (schedule === undefined || isSchedule(schedule)) return [];
    const detail = 'not a cron expression of five fields (minute, hour, day of month, month, day of week) or a macro';
    return [invalid(`spec.disruption.budgets[${at}].schedule`, schedule, detail)];
  });
}

function isSchedule(text: string): boolean {
  try {
    Schedule.parse(text);
    return true;
  } catch (error) {
    if (error instanceof UnitError) return false;
    throw error;
  }
}
