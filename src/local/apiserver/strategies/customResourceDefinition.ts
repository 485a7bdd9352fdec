/** Rules for CRDs: names filled in, the essentials checked, and established at once. */
import { ensureFields, fieldsAt, isFields, listAt, setDefaults, textAt } from '../fields.ts';
import type { Strategy } from '../resource.ts';
import { invalidValue, required, type FieldError } from '../status.ts';

/** Keeps a definition until its objects are gone. */
export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io';

export const customResourceDefinitionStrategy: Strategy = {
  tracksGeneration: true,
  applyDefaults(draft) {
    const spec = ensureFields(draft, 'spec');
    const names = ensureFields(spec, 'names');
    const kind = textAt(names, 'kind') ?? '';
    setDefaults(names, { singular: kind.toLowerCase(), listKind: `${kind}List` });
    setDefaults(spec, { conversion: { strategy: 'None' } });
    for (const version of listAt(spec, 'versions')) {
      for (const column of listAt(version, 'additionalPrinterColumns')) {
        if (isFields(column) && column['priority'] === 0) delete column['priority'];
      }
    }
  },
  prepareCreate(draft, context) {
    draft['status'] = establishedStatus(draft['spec'], context.now);
    draft.metadata.finalizers = [...new Set([...(draft.metadata.finalizers ?? []), CLEANUP_FINALIZER])];
  },
  prepareUpdate(draft, old, context) {
    // Names may be added on update; what is accepted follows the spec.
    const before = listAt(old, 'status', 'conditions');
    draft['status'] = { ...establishedStatus(draft['spec'], context.now), conditions: before };
  },
  validate(draft) {
    const errors: FieldError[] = [];
    const group = textAt(draft, 'spec', 'group') ?? '';
    const plural = textAt(draft, 'spec', 'names', 'plural') ?? '';
    if (group === '') errors.push(required('spec.group'));
    if (draft.metadata.name !== `${plural}.${group}`) {
      errors.push(invalidValue('metadata.name', draft.metadata.name, 'must be spec.names.plural+"."+spec.group'));
    }
    const versions = listAt(draft, 'spec', 'versions');
    const stored = versions.filter((version) => isFields(version) && version['storage'] === true);
    if (stored.length !== 1) {
      errors.push(invalidValue('spec.versions', versions, 'must have exactly one version marked as storage version'));
    }
    versions.forEach((version, index) => {
      if (fieldsAt(version, 'schema', 'openAPIV3Schema') === undefined) {
        errors.push(required(`spec.versions[${index}].schema.openAPIV3Schema`, 'schemas are required'));
      }
    });
    return errors;
  },
};

function establishedStatus(spec: unknown, now: string): Record<string, unknown> {
  const storage = listAt(spec, 'versions').find((version) => isFields(version) && version['storage'] === true);
  return {
    conditions: [
      {
        lastTransitionTime: now,
        message: 'no conflicts found',
        reason: 'NoConflicts',
        status: 'True',
        type: 'NamesAccepted',
      },
      {
        lastTransitionTime: now,
        message: 'the initial names have been accepted',
        reason: 'InitialNamesAccepted',
        status: 'True',
        type: 'Established',
      },
    ],
    acceptedNames: fieldsAt(spec, 'names') ?? {},
    storedVersions: [textAt(storage, 'name') ?? ''],
  };
}
