import { describe, expect, it } from 'vitest';
import { flawsOf, packingDemand, plainPods } from '../../../test/fixtures/solver/packingDemand.ts';
import { testType } from '../../../test/fixtures/solver/testObjects.ts';
import { Labels } from '../../api/labels.ts';
import type { InstanceType } from '../../cloud/instanceType.ts';
import { Requirement } from '../../constraints/requirement.ts';
import { Requirements } from '../../constraints/requirements.ts';
import { countsOf } from './demand.ts';
import { fillReserved } from './reservedFirst.ts';

/** A type of which some nodes are already paid for. */
function withReserved(type: InstanceType, id: string, left: number, price = 0.001): InstanceType {
  const labels = { [Labels.zone]: 'z1', [Labels.capacityType]: 'reserved' };
  const offering = {
    requirements: Requirements.fromLabels(labels),
    zone: 'z1',
    capacityType: 'reserved' as const,
    price,
    available: true,
    reservationId: id,
    reservationCapacity: left,
  };
  const kinds = Requirement.of(Labels.capacityType, 'In', ['on-demand', 'spot', 'reserved']);
  return { ...type, requirements: type.requirements.replace(kinds), offerings: [...type.offerings, offering] };
}

const SMALL = testType('a2', 2, 4, 0.1);
const LARGE = testType('a8', 8, 16, 0.4);

describe('reserved capacity', () => {
  it('is filled as far as available, the nodes that save most first, and the rest is left', () => {
    const demand = packingDemand(plainPods('p', 12, '1500m', '2Gi'), [
      withReserved(SMALL, 'small', 5),
      withReserved(LARGE, 'large', 1),
    ]);
    const units = new Map([
      ['small', 5],
      ['large', 1],
    ]);
    const left = countsOf(demand);
    const bins = fillReserved(demand, units, left, undefined);
    const names = bins.map(({ type, counts }) => [demand.pool.types[type]?.name, counts[0]]);
    expect(names).toEqual([['a8', 5], ...Array.from({ length: 5 }, () => ['a2', 1])]);
    expect([...units.values()]).toEqual([0, 0]);
    expect([...left]).toEqual([2]);
    expect(flawsOf(demand, { bins, left })).toEqual([]);
  });

  it('stays unused where it would cost more than the value of its pods', () => {
    const demand = packingDemand(plainPods('p', 1, '100m', '128Mi'), [withReserved(SMALL, 'dear', 3, 5)]);
    expect(fillReserved(demand, new Map([['dear', 3]]), countsOf(demand), undefined)).toEqual([]);
  });

  it('counts against the limits of the pool', () => {
    const demand = packingDemand(
      plainPods('p', 4, '1500m', '2Gi'),
      [withReserved(SMALL, 'small', 4)],
      {},
      { cpu: '4' },
    );
    const limitLeft = Float64Array.of(4000);
    const bins = fillReserved(demand, new Map([['small', 4]]), countsOf(demand), limitLeft);
    expect([bins.length, ...limitLeft]).toEqual([2, 0]);
  });
});
