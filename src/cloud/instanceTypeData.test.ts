import { expect, it } from 'vitest';
import { bundledInstanceTypes } from '../catalogue/bundledCatalogue.ts';
import { Requirement } from '../constraints/requirement.ts';
import { Requirements } from '../constraints/requirements.ts';
import { parseResources } from '../units/resources.ts';
import { instanceTypeData, instanceTypesFrom } from './instanceTypeData.ts';
import type { InstanceType } from './instanceType.ts';

const copied = (types: readonly InstanceType[]): readonly InstanceType[] =>
  instanceTypesFrom(structuredClone(instanceTypeData(types)));

it('recreates Azure’s types exactly', () => {
  const types = bundledInstanceTypes({
    region: 'westeurope',
    nodeClass: { metadata: { name: 'default' }, spec: { imageFamily: 'Ubuntu2204', osDiskSizeGB: 128 } },
  });
  expect(types.length).toBeGreaterThan(100);
  expect(copied(types)).toEqual(types);
});

it('keeps bounds, absent labels, reservations and quotas', () => {
  const requirements = Requirements.of(
    Requirement.of('bounded', 'Gt', ['3']).intersection(Requirement.of('bounded', 'NotIn', ['7'])),
    Requirement.of('absent', 'DoesNotExist'),
    Requirement.of('flexible', 'In', ['a', 'b'], 2),
    Requirement.of('open', 'Exists'),
  );
  const type: InstanceType = {
    name: 'odd',
    requirements,
    offerings: [
      {
        requirements,
        zone: 'z1',
        capacityType: 'reserved',
        price: 0.1,
        available: false,
        reservationCapacity: 3,
        reservationId: 'group/one',
        quotaNeed: { names: ['cores', 'family'], amount: 4 },
      },
    ],
    capacity: parseResources({ cpu: '4', memory: '16Gi', 'example.com/part': '100m' }),
    allocatable: parseResources({ cpu: '3860m', memory: '12899468Ki' }),
  };
  expect(copied([type])).toEqual([type]);
});

it('sends shared parts once', () => {
  const requirements = Requirements.of(Requirement.of('a', 'In', ['b']));
  const type = (name: string): InstanceType => ({
    name,
    requirements,
    offerings: [],
    capacity: {},
    allocatable: {},
  });
  const [one, other] = copied([type('one'), type('other')]);
  expect(one?.requirements).toBe(other?.requirements);
});
