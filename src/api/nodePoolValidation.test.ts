import { describe, expect, it } from 'vitest';
import type { NodePool, NodePoolSpec } from './kinds/nodePool.ts';
import type { Requirement } from './kinds/requirement.ts';
import { validateNodeOverlay } from './nodeOverlayValidation.ts';
import { validateNodePool } from './nodePoolValidation.ts';
import { fieldErrorText } from './schema/fieldError.ts';

type Template = NodePoolSpec['template'];

function pool(template: Partial<Template['spec']> & { labels?: Record<string, string> }, schedule?: string): NodePool {
  const { labels, ...spec } = template;
  return {
    metadata: { name: 'default' },
    spec: {
      template: {
        metadata: { labels: labels ?? {} },
        spec: {
          expireAfter: '720h',
          nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' },
          requirements: [],
          ...spec,
        },
      },
      disruption: {
        consolidateAfter: '0s',
        consolidationPolicy: 'WhenEmpty',
        budgets: [{ nodes: '10%', ...(schedule === undefined ? {} : { schedule, duration: '1h' }) }],
      },
    },
  };
}

const texts = (given: NodePool) => validateNodePool(given).map(fieldErrorText);
const requirement = (given: Requirement) => texts(pool({ requirements: [given] }));

describe('validateNodePool', () => {
  it('accepts what is in order', () => {
    const requirements: Requirement[] = [
      { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot', 'reserved'] },
      { key: 'karpenter.azure.com/sku-cpu', operator: 'Gt', values: ['3'] },
      { key: 'beta.kubernetes.io/arch', operator: 'In', values: ['amd64'] },
    ];
    expect(texts(pool({ labels: { 'example.com/team': 'a' }, requirements }, '@daily'))).toEqual([]);
  });

  it('reports everything at once, with paths', () => {
    const given = pool(
      {
        labels: { 'not a key!': 'ok', 'karpenter.sh/nodepool': 'x', 'karpenter.azure.com/sku-hyperv-generation': '2' },
        taints: [
          { key: 'a', effect: 'NoSchedule' },
          { key: 'b/c/d', effect: 'NoSchedule', value: '-' },
        ],
        startupTaints: [{ key: 'a', effect: 'NoSchedule' }],
        requirements: [{ key: 'karpenter.sh/nodepool', operator: 'Exists' }],
      },
      '99 * * * *',
    );
    expect(validateNodePool(given).map((error) => `${error.field} ${error.type}`)).toEqual([
      'spec.template.metadata.labels[not a key!] FieldValueInvalid',
      'spec.template.metadata.labels[karpenter.sh/nodepool] FieldValueInvalid',
      'spec.template.metadata.labels[karpenter.azure.com/sku-hyperv-generation] FieldValueInvalid',
      'spec.template.spec.taints[1].key FieldValueInvalid',
      'spec.template.spec.taints[1].value FieldValueInvalid',
      'spec.template.spec.startupTaints[0] FieldValueDuplicate',
      'spec.template.spec.requirements[0].key FieldValueInvalid',
      'spec.disruption.budgets[0].schedule FieldValueInvalid',
    ]);
  });

  it.each<[Requirement, string]>([
    [{ key: 'kubernetes.io/hostname', operator: 'Exists' }, 'requirements[0].key: Invalid value'],
    [{ key: 'a', operator: 'In' }, 'requirements[0].values: Invalid value: []: operator In needs'],
    [{ key: 'a', operator: 'In', values: ['x'], minValues: 2 }, 'minValues asks for at least 2'],
    [{ key: 'a', operator: 'In', values: ['x y'] }, 'requirements[0].values[0]: Invalid value: "x y"'],
    [{ key: 'a', operator: 'Lte', values: ['-1'] }, 'operator Lte needs exactly one value'],
    [{ key: 'a', operator: 'Gt', values: ['1', '2'] }, 'operator Gt needs exactly one value'],
    [{ key: 'karpenter.sh/capacity-type', operator: 'In', values: ['reserved'] }, 'can be on-demand, spot'],
    [
      { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot', 'x'], minValues: 2 },
      'at least 2 values that exist',
    ],
  ])('refuses %j', (given, expected) => {
    expect(requirement(given).join('\n')).toContain(expected);
  });
});

describe('validateNodeOverlay', () => {
  it('needs values for NotIn and refuses resources that every instance has', () => {
    const overlay = {
      spec: { requirements: [{ key: 'a', operator: 'NotIn' as const }], capacity: { cpu: '1', 'x/y': 1 } },
    };
    expect(validateNodeOverlay(overlay).map((error) => error.field)).toEqual([
      'spec.requirements[0].values',
      'spec.capacity[cpu]',
    ]);
  });
});
