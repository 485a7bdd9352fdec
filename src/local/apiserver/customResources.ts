/**
 * Makes resources of a CustomResourceDefinition, one per served version, with defaults and validation by its structural
 * schema and with its printer columns.
 */
import { applyDefaults } from '../../api/schema/defaulting.ts';
import { fieldErrorBody } from '../../api/schema/fieldError.ts';
import type { StructuralSchema } from '../../api/schema/structuralSchema.ts';
import { validate } from '../../api/schema/validate.ts';
import { selectableFields } from './builtinResources.ts';
import { apiVersionOf } from '../../api/object.ts';
import { byPreference } from './apiVersion.ts';
import { AGE, NAME } from './columns/column.ts';
import { at, fieldsAt, isFields, listAt, numberAt, textAt, withoutAbsent, type ApiObject } from './fields.ts';
import { age } from './humanTime.ts';
import { compileJsonPath } from './jsonPath.ts';
import { OBJECT_META, schemaNamed } from './kubernetesTypes.ts';
import { pathNames, type Column, type Resource, type ScalePaths, type StorageView, type Strategy } from './resource.ts';
import type { Check } from './strategies/check.ts';
import { Shape, type OpenApiSchema } from './shape.ts';

/** All verbs, in upstream's order for custom resources. */
const CUSTOM_VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
const COLUMN_TYPES = new Set(['string', 'integer', 'boolean', 'number', 'date']);

const customAgeColumn: Column = { ...AGE, type: 'date' };

function printerColumn(definition: unknown, read: (object: unknown) => unknown): Column {
  const type = textAt(definition, 'type') ?? 'string';
  const optional = {
    description: textAt(definition, 'description'),
    format: textAt(definition, 'format'),
    priority: numberAt(definition, 'priority'),
  };
  return {
    name: textAt(definition, 'name') ?? '',
    type: COLUMN_TYPES.has(type) ? (type as Column['type']) : 'string',
    ...withoutAbsent(optional),
    cell(object, now) {
      const value = read(object);
      if (value === undefined) return null;
      if (type === 'date') return age(value, now);
      if (type === 'string') return typeof value === 'string' ? value : JSON.stringify(value);
      return typeof value === 'object' ? JSON.stringify(value) : value;
    },
  };
}

/** Returns the declared columns; none if a JSON path is invalid. */
function printerColumns(version: unknown): Column[] {
  const columns = listAt(version, 'additionalPrinterColumns').map((definition) => {
    const read = compileJsonPath(textAt(definition, 'jsonPath') ?? '.');
    return read && printerColumn(definition, read);
  });
  return columns.some((column) => column === undefined) ? [] : columns.filter((column) => column !== undefined);
}

/** Returns the schema for OpenAPI, in which every object has a type and metadata, whatever the CRD declares. */
function wholeSchema(
  declared: OpenApiSchema,
  resource: { group: string; version: string; kind: string },
): OpenApiSchema {
  return {
    ...declared,
    properties: {
      ...declared.properties,
      apiVersion: { type: 'string', ...declared.properties?.['apiVersion'] },
      kind: { type: 'string', ...declared.properties?.['kind'] },
      metadata: { $ref: `#/components/schemas/${OBJECT_META}` },
    },
    ...({ 'x-kubernetes-group-version-kind': [resource] } as object),
  };
}

function strategyFor(schema: StructuralSchema, scale: ScalePaths | undefined): Strategy {
  return {
    tracksGeneration: true,
    applyDefaults(draft) {
      const defaulted = applyDefaults(schema, draft) as ApiObject;
      // The schema does not apply to metadata. The draft is changed in place, because the caller holds it.
      const { metadata } = draft;
      Object.assign(draft, defaulted, { metadata });
    },
    validate(check, draft, old) {
      for (const error of validate(schema, draft, old)) {
        check.errors.push({ field: error.field, message: fieldErrorBody(error), reason: error.type });
      }
      if (scale !== undefined) checkScale(check, scale);
    },
  };
}

/** Checks that the fields behind the scale subresource are counts, which the schema need not require. */
function checkScale(check: Check, scale: ScalePaths): void {
  for (const path of [scale.specReplicas, scale.statusReplicas]) {
    const value = at(check.value, ...pathNames(path));
    if (value === undefined) continue;
    if (typeof value !== 'number' || !Number.isInteger(value)) {
      const kind = typeof value === 'number' ? 'float64' : typeof value;
      const shown = typeof value === 'string' ? value : JSON.stringify(value);
      check.invalid(path, 0, `${path} accessor error: ${shown} is of the type ${kind}, expected int64`);
    } else if (value < 0) check.invalid(path, value, 'should be a non-negative integer');
  }
}

function scalePaths(version: unknown): ScalePaths | undefined {
  const scale = fieldsAt(version, 'subresources', 'scale');
  if (scale === undefined) return undefined;
  return {
    specReplicas: textAt(scale, 'specReplicasPath') ?? '.spec.replicas',
    statusReplicas: textAt(scale, 'statusReplicasPath') ?? '.status.replicas',
    selector: textAt(scale, 'labelSelectorPath'),
  };
}

/** Returns the name in OpenAPI: `sh.karpenter.v1.NodePool` for `karpenter.sh/v1 NodePool`. */
function openApiName(group: string, version: string, kind: string): string {
  return `${group.split('.').toReversed().join('.')}.${version}.${kind}`;
}

/** Returns the warning of responses in a deprecated version: the CRD's own, or one that names the newer version. */
function deprecationOf(version: unknown, definition: ApiObject): string | undefined {
  if (at(version, 'deprecated') !== true) return undefined;
  const given = textAt(version, 'deprecationWarning');
  if (given !== undefined) return given;
  const name = textAt(version, 'name') ?? '';
  const kindIn = (one: string): string =>
    `${textAt(definition, 'spec', 'group') ?? ''}/${one} ${textAt(definition, 'spec', 'names', 'kind') ?? ''}`;
  const [newest] = listAt(definition, 'spec', 'versions')
    .filter((one) => at(one, 'served') === true && at(one, 'deprecated') !== true)
    .map((one) => textAt(one, 'name') ?? '')
    .filter((one) => byPreference(one, name) < 0)
    .sort(byPreference);
  return `${kindIn(name)} is deprecated${newest === undefined ? '' : `; use ${kindIn(newest)}`}`;
}

/** Converts by changing `apiVersion` only: versions of a custom resource have no other difference. */
const renamed = (served: string, stored: string): Pick<StorageView, 'decode' | 'encode'> => ({
  decode: (object) => ({ ...object, apiVersion: served }),
  encode: (object) => ({ ...object, apiVersion: stored }),
});

export function customResources(definition: ApiObject): Resource[] {
  const group = textAt(definition, 'spec', 'group') ?? '';
  const names = fieldsAt(definition, 'spec', 'names') ?? {};
  const kind = textAt(names, 'kind') ?? '';
  const plural = textAt(names, 'plural') ?? '';
  const namespaced = textAt(definition, 'spec', 'scope') === 'Namespaced';
  const versions = listAt(definition, 'spec', 'versions');
  const stored = versions.find((version) => isFields(version) && version['storage'] === true);
  const storedVersion = apiVersionOf({ group, version: textAt(stored, 'name') ?? '' });
  return versions.flatMap((version): Resource[] => {
    if (at(version, 'served') !== true) return [];
    const name = textAt(version, 'name') ?? '';
    const declared = fieldsAt(version, 'schema', 'openAPIV3Schema') ?? {};
    const schema = wholeSchema(declared, { group, version: name, kind });
    const served = apiVersionOf({ group, version: name });
    const columns = printerColumns(version);
    const paths = listAt(version, 'selectableFields').map((field) => (textAt(field, 'jsonPath') ?? '').slice(1));
    return [
      {
        group,
        version: name,
        kind,
        plural,
        singular: textAt(names, 'singular') ?? kind.toLowerCase(),
        listKind: textAt(names, 'listKind') ?? `${kind}List`,
        namespaced,
        shortNames: listAt(names, 'shortNames').map(String),
        categories: listAt(names, 'categories').map(String),
        custom: true,
        hasStatus: fieldsAt(version, 'subresources', 'status') !== undefined,
        scale: scalePaths(version),
        actions: [],
        verbs: CUSTOM_VERBS,
        deprecation: deprecationOf(version, definition),
        typeName: openApiName(group, name, kind),
        schema,
        shape: new Shape(schema, schemaNamed, false),
        strategy: strategyFor(declared as StructuralSchema, scalePaths(version)),
        columns: columns.length === 0 ? [NAME, customAgeColumn] : [NAME, ...columns],
        selectable: selectableFields(paths, namespaced),
        namesSelectable: false,
        unconditionalUpdate: false,
        storage: { group, plural, ...(served !== storedVersion && renamed(served, storedVersion)) },
      },
    ];
  });
}
