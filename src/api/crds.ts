/** The CRDs of all our kinds, as objects for an API server or for YAML output. */
import type { Schema } from './schema/builder.ts';
import type { KindDefinition, KindVersion } from './schema/kindDefinition.ts';
import type { StructuralSchema } from './schema/structuralSchema.ts';
import type { CustomResourceDefinition } from './kinds.ts';
import { aksNodeClassDefinition } from './kinds/aksNodeClass.ts';
import { capacityBufferDefinition } from './kinds/capacityBuffer.ts';
import { kwokNodeClassDefinition } from './kinds/kwokNodeClass.ts';
import { nodeClaimDefinition } from './kinds/nodeClaim.ts';
import { nodeOverlayDefinition } from './kinds/nodeOverlay.ts';
import { nodePoolDefinition } from './kinds/nodePool.ts';

type AnyKindDefinition = KindDefinition<unknown, unknown>;

const DEFINITIONS: readonly AnyKindDefinition[] = [
  aksNodeClassDefinition,
  capacityBufferDefinition,
  kwokNodeClassDefinition,
  nodeClaimDefinition,
  nodeOverlayDefinition,
  nodePoolDefinition,
];

/** One CRD per kind, in a fixed order. */
export function renderCrds(): CustomResourceDefinition[] {
  return DEFINITIONS.map(renderCrd);
}

function renderCrd(definition: AnyKindDefinition): CustomResourceDefinition {
  const { group, kind, plural, scope, shortNames, categories } = definition;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        ...(shortNames.length === 0 ? {} : { shortNames: [...shortNames] }),
        categories: [...categories],
      },
      scope,
      versions: definition.versions.map((version) => renderVersion(definition, version)),
    },
  };
}

type CrdVersion = CustomResourceDefinition['spec']['versions'][number];

function renderVersion(definition: AnyKindDefinition, version: KindVersion): CrdVersion {
  const { columns, scale } = definition;
  const warning = version.deprecationWarning;
  return {
    name: version.name,
    served: true,
    storage: version.storage,
    ...(warning === undefined ? {} : { deprecated: true, deprecationWarning: warning }),
    ...(columns.length === 0 ? {} : { additionalPrinterColumns: columns.map((column) => ({ ...column })) }),
    schema: { openAPIV3Schema: asCrdSchema(objectSchema(definition)) },
    subresources: { status: {}, ...(scale === undefined ? {} : { scale: { ...scale } }) },
  };
}

/** The schema of a whole object of the kind. */
function objectSchema(definition: AnyKindDefinition): StructuralSchema {
  const required = requiredFields({ spec: definition.spec, status: definition.status });
  return {
    description: definition.description,
    type: 'object',
    properties: {
      apiVersion: { description: `The version of the API that this object is written in.`, type: 'string' },
      kind: { description: `Always ${definition.kind}.`, type: 'string' },
      metadata: { type: 'object' },
      spec: definition.spec.json,
      status: definition.status.json,
    },
    ...(required.length === 0 ? {} : { required }),
  };
}

function requiredFields(fields: Readonly<Record<string, Schema<unknown, 'optional' | 'present'>>>): string[] {
  return Object.keys(fields).filter((name) => fields[name]?.isRequired === true);
}

/** Our schema type is read-only and closed, the published one is not; a deep copy converts it. */
function asCrdSchema(schema: StructuralSchema): NonNullable<NonNullable<CrdVersion['schema']>['openAPIV3Schema']> {
  return structuredClone(schema) as NonNullable<NonNullable<CrdVersion['schema']>['openAPIV3Schema']>;
}
