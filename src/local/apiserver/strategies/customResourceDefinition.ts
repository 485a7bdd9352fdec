/** Rules for CRDs: names filled in, the essentials checked, and established at once. */
import { always } from '../defaults.ts';
import { fieldsAt, isFields, listAt, textAt, type Fields } from '../fields.ts';
import type { Strategy } from '../resource.ts';
import { label1035Problems } from '../names.ts';
import { invalidValue, required, unsupportedValue, type FieldError } from '../status.ts';
import { goStruct } from './goNames.ts';
import { checkStructuralSchema } from './structuralSchemaValidation.ts';

/** Keeps a definition until its objects are gone. */
export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io';

export const customResourceDefinitionStrategy: Strategy = {
  tracksGeneration: true,
  ownsDeletion: true,
  defaults: {
    spec: always({
      names: always({
        singular: (names: Fields) => (textAt(names, 'kind') ?? '').toLowerCase(),
        listKind: (names: Fields) => `${textAt(names, 'kind') ?? ''}List`,
      }),
      conversion: { strategy: 'None' },
    }),
  },
  applyDefaults(draft) {
    for (const column of listAt(draft, 'spec', 'versions').flatMap((one) => listAt(one, 'additionalPrinterColumns'))) {
      if (isFields(column) && column['priority'] === 0) delete column['priority'];
    }
  },
  prepareCreate(draft) {
    const storedVersions = listAt(draft['spec'], 'versions')
      .filter((version) => isFields(version) && version['storage'] === true)
      .map((version) => textAt(version, 'name') ?? '');
    const stored = storedVersions.length === 0 ? null : storedVersions;
    draft['status'] = { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: stored };
  },
  prepareDelete(draft, context) {
    draft.metadata.finalizers = [...new Set([...(draft.metadata.finalizers ?? []), CLEANUP_FINALIZER])];
    const conditions = listAt(draft, 'status', 'conditions');
    const terminating = {
      lastTransitionTime: context.now(),
      message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
      reason: 'InstanceDeletionPending',
      status: 'True',
      type: 'Terminating',
    };
    draft['status'] = { ...fieldsAt(draft, 'status'), conditions: [...conditions, terminating] };
  },
  prepareUpdate(draft, old, context) {
    // Names may be added on update; what is accepted follows the spec.
    const before = listAt(old, 'status', 'conditions');
    draft['status'] = { ...establishedStatus(draft['spec'], context.now()), conditions: before };
  },
  validate(draft) {
    const errors: FieldError[] = [];
    const group = textAt(draft, 'spec', 'group') ?? '';
    const plural = textAt(draft, 'spec', 'names', 'plural') ?? '';
    if (draft.metadata.name !== `${plural}.${group}`) {
      errors.push(invalidValue('metadata.name', draft.metadata.name, 'must be spec.names.plural+"."+spec.group'));
    }
    if (group === '') errors.push(required('spec.group'));
    const scope = textAt(draft, 'spec', 'scope') ?? '';
    if (!SCOPES.includes(scope)) errors.push(unsupportedValue('spec.scope', scope, SCOPES));
    const versions = listAt(draft, 'spec', 'versions');
    const stored = versions.filter((version) => isFields(version) && version['storage'] === true);
    if (stored.length !== 1) {
      const shown = versions.map((version) => goStruct(version, VERSION_FIELDS));
      errors.push(invalidValue('spec.versions', shown, 'must have exactly one version marked as storage version'));
    }
    versions.forEach((version, index) => {
      listAt(version, 'additionalPrinterColumns').forEach((column, at) => {
        const jsonPath = textAt(column, 'jsonPath') ?? '';
        const place = `spec.versions[${index}].additionalPrinterColumns[${at}].JSONPath`;
        if (jsonPath === '') errors.push(required(place));
        else if (!jsonPath.startsWith('.')) {
          errors.push(invalidValue(place, jsonPath, 'must be a simple json path starting with .'));
        }
      });
      const schema = fieldsAt(version, 'schema', 'openAPIV3Schema');
      if (schema === undefined) errors.push(required(`spec.versions[${index}].schema.openAPIV3Schema`));
      else {
        const place = versions.length === 1 ? 'spec.validation' : `spec.versions[${index}].schema`;
        errors.push(...checkStructuralSchema(schema, `${place}.openAPIV3Schema`));
      }
    });
    errors.push(...checkNames(fieldsAt(draft, 'spec', 'names') ?? {}));
    if (stored.length === 0) {
      errors.push(invalidValue('status.storedVersions', null, 'must have at least one stored version'));
    }
    return errors;
  },
};

const SCOPES = ['Cluster', 'Namespaced'];
const VERSION_FIELDS = {
  Name: '',
  Served: false,
  Storage: false,
  Deprecated: false,
  DeprecationWarning: null,
  Schema: null,
  Subresources: null,
  AdditionalPrinterColumns: null,
  SelectableFields: null,
};

function checkNames(names: Fields): FieldError[] {
  const check = (field: string, prefix: string): FieldError[] => {
    const name = textAt(names, field) ?? '';
    if (name === '') return [required(`spec.names.${field}`)];
    const text = prefix === '' ? name : name.toLowerCase();
    return label1035Problems(text).map((why) => invalidValue(`spec.names.${field}`, name, `${prefix}${why}`));
  };
  const mixed = 'may have mixed case, but should otherwise match: ';
  return [...check('plural', ''), ...check('singular', ''), ...check('kind', mixed), ...check('listKind', mixed)];
}

/** What upstream's controllers write a moment after a definition has been created. */
export function establishedStatus(spec: unknown, now: string): Record<string, unknown> {
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
