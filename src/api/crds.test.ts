import { describe, expect, it } from 'vitest';
import { renderCrds } from './crds.ts';
import { Kinds } from './kinds.ts';
import { CapacityTypes, isRestrictedLabel, KNOWN_LABEL_VALUES, Labels, nodeClassLabelKey } from './labels.ts';
import type { StructuralSchema } from './schema/structuralSchema.ts';
import { unsupportedRules } from './schema/rules.ts';

const crds = renderCrds();
const schemas = crds.flatMap((crd) =>
  crd.spec.versions.map((version) => [
    `${crd.metadata.name}/${version.name}`,
    version.schema?.openAPIV3Schema as StructuralSchema,
  ]),
) as [string, StructuralSchema][];

function withoutDescription(schema: StructuralSchema, path: string): string[] {
  const isPlain = path.endsWith('.metadata') || path.endsWith('[]') || path.endsWith('{}');
  const below: [string, StructuralSchema | undefined][] = [
    ...Object.entries(schema.properties ?? {}).map(([name, inner]): [string, StructuralSchema] => [
      `${path}.${name}`,
      inner,
    ]),
    [`${path}[]`, schema.items],
    [`${path}{}`, typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined],
  ];
  return [
    ...(schema.description === undefined && !isPlain ? [path] : []),
    ...below.flatMap(([name, inner]) => (inner === undefined ? [] : withoutDescription(inner, name))),
  ];
}

describe('CRDs', () => {
  it('are named as the kinds are', () => {
    const own = [
      Kinds.NodePool,
      Kinds.NodeClaim,
      Kinds.NodeOverlay,
      Kinds.AKSNodeClass,
      Kinds.CapacityBuffer,
      Kinds.KWOKNodeClass,
    ];
    for (const kind of own) {
      const crd = crds.find((each) => each.metadata.name === `${kind.plural}.${kind.group}`);
      expect(crd?.spec).toMatchObject({
        scope: kind.namespaced ? 'Namespaced' : 'Cluster',
        names: { kind: kind.kind, singular: kind.singular, categories: kind.categories },
      });
      expect(crd?.spec.names.shortNames).toEqual(kind.shortNames);
      expect(crd?.spec.versions.find((version) => version.storage)?.name).toBe(kind.version);
    }
    expect(crds).toHaveLength(own.length);
  });

  it.each(schemas)('%s explains every field', (_name, schema) => {
    expect(withoutDescription(schema, '')).toEqual([]);
  });

  it.each(schemas)('%s has only rules that can be evaluated in process', (_name, schema) => {
    expect(unsupportedRules(schema)).toEqual([]);
  });
});

describe('labels', () => {
  it.each([
    ['karpenter.sh/nodepool', false],
    ['karpenter.sh/other', true],
    ['sub.karpenter.sh/other', true],
    ['my-karpenter.sh/other', false],
    ['karpenter.azure.com/sku-cpu', false],
    ['karpenter.azure.com/sku-hyperv-generation', true],
    ['kubernetes.azure.com/anything', false],
    ['kubernetes.io/hostname', true],
    ['team', false],
  ])('%s restricted: %s', (key, expected) => {
    expect(isRestrictedLabel(key)).toBe(expected);
  });

  it('knows no reserved capacity on Azure', () => {
    const known = KNOWN_LABEL_VALUES.get(Labels.capacityType);
    expect(known).toEqual(new Set([CapacityTypes.onDemand, CapacityTypes.spot]));
    expect(known?.has(CapacityTypes.reserved)).toBe(false);
  });

  it('names the label of a node class', () => {
    expect(nodeClassLabelKey('karpenter.azure.com', 'AKSNodeClass')).toBe('karpenter.azure.com/aksnodeclass');
  });
});
