import { describe, expect, it } from 'vitest';
import { memoryInstanceType } from '../../../test/fixtures/engine/memoryCloud.ts';
import { CLASS_REF, poolSpec } from '../../../test/fixtures/engine/workbench.ts';
import type { NodePool } from '../../api/kinds/nodePool.ts';
import { Annotations, Labels } from '../../api/labels.ts';
import { Requirement } from '../../constraints/requirement.ts';
import { Requirements } from '../../constraints/requirements.ts';
import type { PlannedNode } from '../../solver/problem.ts';
import { nodeClaimDraft, staticClaimDraft } from './nodeClaimDraft.ts';

const pool: NodePool = { metadata: { name: 'default', uid: 'pool-uid' }, spec: poolSpec() };

const typesOf = (count: number) =>
  Array.from({ length: count }, (_, at) => memoryInstanceType(`type-${at}`, 4, 1 + at));

function planned(types: number, requirements = Requirements.empty): PlannedNode {
  return {
    pool: 'default',
    requirements: requirements.toItems(),
    pods: [],
    requests: { cpu: '1500m', pods: '2' },
    alternatives: typesOf(types).flatMap(({ name }) =>
      ['zone-1', 'zone-2'].map((zone) => ({
        instanceType: name,
        zone,
        capacityType: zone === 'zone-1' ? 'on-demand' : 'spot',
        pricePerHour: 1,
      })),
    ),
    minValuesRelaxed: false,
    choice: { others: [] },
  };
}

const draftOf = (types: number, requirements?: Requirements) =>
  nodeClaimDraft(planned(types, requirements), { pool, instanceTypes: typesOf(types) }, random);
const random = (): number => 0.5;
const requirement = (draft: ReturnType<typeof nodeClaimDraft>, key: string) =>
  draft.spec.requirements.find((item) => item.key === key);

describe('the claim for a planned node', () => {
  it('names at most six hundred instance types, the cheapest', () => {
    const values = requirement(draftOf(700), Labels.instanceType)?.values;
    expect(values).toHaveLength(600);
    expect(values).toContain('type-599');
    expect(values).not.toContain('type-600');
  });

  it('requires pool, class, capacity types and what pods need, but nothing that only simulations use', () => {
    const wanted = Requirements.of(
      Requirement.of(Labels.hostname, 'In', ['made-up']),
      Requirement.of(Labels.registered, 'In', ['true']),
      Requirement.of(Labels.zone, 'In', ['zone-1']),
      Requirement.of('example.com/absent', 'DoesNotExist', []),
    );
    const draft = draftOf(1, wanted);
    expect(draft.spec.requirements).toEqual([
      { key: 'example.com/absent', operator: 'DoesNotExist' },
      { key: 'karpenter.kwok.sh/kwoknodeclass', operator: 'In', values: ['default'] },
      { key: Labels.capacityType, operator: 'In', values: ['on-demand', 'spot'] },
      { key: Labels.nodePool, operator: 'In', values: ['default'] },
      { key: Labels.instanceType, operator: 'In', values: ['type-0'] },
      { key: Labels.zone, operator: 'In', values: ['zone-1'] },
    ]);
    expect(draft.metadata.labels).toEqual({
      'karpenter.kwok.sh/kwoknodeclass': 'default',
      [Labels.nodePool]: 'default',
    });
    expect(draft.spec.resources).toEqual({ requests: { cpu: '1500m', pods: '2' } });
  });

  it('gives a value to labels that requirements leave open', () => {
    const wanted = Requirements.of(
      Requirement.of('example.com/one', 'In', ['only']),
      Requirement.of('example.com/any', 'Exists', []),
      Requirement.of('example.com/other', 'NotIn', ['x']).intersection(Requirement.of('example.com/other', 'Exists')),
    );
    const { labels } = draftOf(1, wanted).metadata;
    expect(labels?.['example.com/one']).toBe('only');
    expect(labels?.['example.com/any']).toMatch(/^\d+$/);
    expect(labels?.['example.com/other']).toMatch(/^\d+$/);
  });

  it('adds no label for a key that may be absent, because the plan was made without it', () => {
    const wanted = Requirements.of(Requirement.of('example.com/team', 'NotIn', ['blue']));
    const draft = draftOf(1, wanted);
    expect(draft.metadata.labels).not.toHaveProperty(['example.com/team']);
    expect(requirement(draft, 'example.com/team')).toMatchObject({ operator: 'NotIn', values: ['blue'] });
  });

  it('carries the first planned offerings, in order', () => {
    const planOf = (types: number): readonly string[] =>
      draftOf(types).metadata.annotations?.[Annotations.plannedOfferings]?.split(',') ?? [];
    expect(planOf(1)).toEqual(['type-0/zone-1/on-demand', 'type-0/zone-2/spot']);
    expect(planOf(700)).toHaveLength(12);
  });
});

it('of a static pool leaves the choice to the cloud', () => {
  const draft = staticClaimDraft(pool, new Set(), random);
  expect(requirement(draft, Labels.instanceType)).toBeUndefined();
  expect(draft.spec.resources).toBeUndefined();
  expect(draft.spec.nodeClassRef).toEqual(CLASS_REF);
  expect(draft.metadata.ownerReferences?.[0]).toMatchObject({ name: 'default', uid: 'pool-uid' });
});
