import { describe, expect, it } from 'vitest';
import { CapacityTypes, Labels } from '../api/labels.ts';
import { memoryInstanceType } from '../../test/fixtures/engine/memoryCloud.ts';
import { capacityTypeOf, nodePrice, typesOf } from './soldAs.ts';

describe('how a node is sold', () => {
  it('is looked up in a pool that offers its type when the node has no pool', () => {
    const small = [memoryInstanceType('small', 2, 1)];
    const large = [memoryInstanceType('large', 4, 2)];
    const byPool = new Map([
      ['a', small],
      ['b', large],
    ]);
    const labels = { [Labels.instanceType]: 'large', [Labels.zone]: 'zone-1' };
    expect(capacityTypeOf(labels)).toBe(CapacityTypes.onDemand);
    expect(nodePrice(labels, typesOf(labels, byPool))).toBe(2);
    expect(nodePrice({ ...labels, [Labels.instanceType]: 'other' }, typesOf(labels, byPool))).toBe(0);
  });

  it('is not guessed for a node of a pool without the label', () => {
    expect(capacityTypeOf({ [Labels.nodePool]: 'a' })).toBe('');
  });
});
