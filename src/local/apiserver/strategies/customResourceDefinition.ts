/** Rules for CRDs: default names, validation of the essential fields, and status. */
import { always } from '../defaults.ts';
import { fieldsAt, isFields, listAt, textAt, type Fields } from '../fields.ts';
import type { Strategy } from '../resource.ts';
import { label1035Problems } from '../names.ts';
import { Check } from './check.ts';
import { goStruct } from './goNames.ts';
import { checkStructuralSchema } from './structuralSchemaValidation.ts';

/** Keeps a deleted CRD until its custom resources are gone. */
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
    const stored = storedVersions(listAt(draft['spec'], 'versions'));
    draft['status'] = {
      conditions: null,
      acceptedNames: { plural: '', kind: '' },
      storedVersions: stored.length === 0 ? null : stored,
    };
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
    // Names may be added on update; accepted names follow the spec.
    const before = listAt(old, 'status', 'conditions');
    draft['status'] = { ...establishedStatus(draft['spec'], context.now()), conditions: before };
  },
  validate(check, { metadata: { name } }) {
    const spec = check.at('spec');
    const names = spec.at('names');
    if (name !== `${names.text('plural')}.${spec.text('group')}`) {
      check.invalid('metadata.name', name, 'must be spec.names.plural+"."+spec.group');
    }
    spec.require('group');
    spec.oneOf('scope', SCOPES);
    const versions = spec.list('versions');
    const stored = storedVersions(versions);
    if (stored.length !== 1) {
      const shown = versions.map((version) => goStruct(version, VERSION_FIELDS));
      spec.invalid('versions', shown, 'must have exactly one version marked as storage version');
    }
    spec.each('versions', (version) => {
      version.each('additionalPrinterColumns', (column) => {
        const jsonPath = column.text('jsonPath');
        if (jsonPath === '') column.missing('JSONPath');
        else if (!jsonPath.startsWith('.')) {
          column.invalid('JSONPath', jsonPath, 'must be a simple json path starting with .');
        }
      });
      const schema = version.at('schema').inside('openAPIV3Schema');
      if (schema === undefined) version.missing('schema.openAPIV3Schema');
      else if (versions.length > 1) checkStructuralSchema(schema);
      else checkStructuralSchema(new Check(schema.value, 'spec.validation.openAPIV3Schema', check.errors));
    });
    const mixed = 'may have mixed case, but should otherwise match: ';
    for (const field of ['plural', 'singular']) checkName(names, field, '');
    for (const field of ['kind', 'listKind']) checkName(names, field, mixed);
    if (stored.length === 0) {
      check.invalid('status.storedVersions', null, 'must have at least one stored version');
    }
  },
};

function storedVersions(versions: readonly unknown[]): readonly string[] {
  return versions
    .filter((version) => isFields(version) && version['storage'] === true)
    .map((version) => textAt(version, 'name') ?? '');
}

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

function checkName(names: Check, field: string, prefix: string): void {
  const name = names.require(field);
  const text = prefix === '' ? name : name.toLowerCase();
  if (name !== '') for (const why of label1035Problems(text)) names.invalid(field, name, `${prefix}${why}`);
}

/** Returns the status that upstream's controllers write shortly after the creation of a CRD. */
export function establishedStatus(spec: unknown, lastTransitionTime: string): Record<string, unknown> {
  const holds = (type: string, reason: string, message: string): object => ({
    lastTransitionTime,
    message,
    reason,
    status: 'True',
    type,
  });
  return {
    conditions: [
      holds('NamesAccepted', 'NoConflicts', 'no conflicts found'),
      holds('Established', 'InitialNamesAccepted', 'the initial names have been accepted'),
    ],
    acceptedNames: fieldsAt(spec, 'names') ?? {},
    storedVersions: [storedVersions(listAt(spec, 'versions'))[0] ?? ''],
  };
}
