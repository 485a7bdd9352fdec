import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addResources,
  equalResources,
  exceededResources,
  fits,
  formatResources,
  hasNegative,
  isZeroResources,
  maxResources,
  multiplyResources,
  noResources,
  parseResources,
  quantityOf,
  subtractResources,
  type Resources,
} from './resources.ts';

const vector: fc.Arbitrary<Resources> = fc
  .dictionary(
    fc.constantFrom('cpu', 'memory', 'pods', 'nvidia.com/gpu', 'constructor'),
    fc.integer({ min: -5, max: 5 }),
    { noNullPrototype: true },
  )
  .map((record) => parseResources(record));

describe('resources', () => {
  it('reads and prints records', () => {
    expect(formatResources(parseResources({ cpu: '1500m', memory: '1024Mi', pods: 3 }))).toEqual({
      cpu: '1500m',
      memory: '1Gi',
      pods: '3',
    });
    expect(parseResources(undefined)).toEqual({});
    expect(() => parseResources({ cpu: 'lots' })).toThrow('"lots" is not a quantity');
  });

  it('adds, subtracts and takes maxima over the keys of both', () => {
    const left = parseResources({ cpu: '1', memory: '1Gi' });
    const right = parseResources({ cpu: '500m', pods: '1' });
    expect(formatResources(addResources(left, right))).toEqual({ cpu: '1500m', memory: '1Gi', pods: '1' });
    expect(formatResources(subtractResources(left, right))).toEqual({ cpu: '500m', memory: '1Gi', pods: '-1' });
    expect(formatResources(maxResources(left, right))).toEqual({ cpu: '1', memory: '1Gi', pods: '1' });
    expect(formatResources(multiplyResources(right, 3))).toEqual({ cpu: '1500m', pods: '3' });
    expect(formatResources(left)).toEqual({ cpu: '1', memory: '1Gi' });
  });

  it('fits on what is requested, and tells overcommitment apart', () => {
    const available = parseResources({ cpu: '1', memory: '-1' });
    expect(fits(parseResources({ cpu: '1' }), available)).toBe(true);
    expect(fits(parseResources({ cpu: '1001m' }), available)).toBe(false);
    expect(fits(parseResources({ 'nvidia.com/gpu': '1' }), available)).toBe(false);
    expect(fits(parseResources({ 'nvidia.com/gpu': '0' }), available)).toBe(true);
    expect(hasNegative(available)).toBe(true);
    expect(hasNegative(parseResources({ cpu: '0' }))).toBe(false);
  });

  it('names what exceeds its limit strictly', () => {
    const limits = parseResources({ memory: '1Gi', cpu: '4', nodes: '0' });
    expect(exceededResources(parseResources({ cpu: '4', memory: '1025Mi', pods: '9', nodes: 1 }), limits)).toEqual([
      'memory',
      'nodes',
    ]);
  });

  it('treats a key like constructor as any other', () => {
    expect(quantityOf(noResources, 'constructor').isZero()).toBe(true);
    expect(formatResources(addResources(noResources, parseResources({ constructor: '1' })))).toEqual({
      constructor: '1',
    });
  });

  it('obeys the laws of vectors', () => {
    fc.assert(
      fc.property(vector, vector, vector, (a, b, c) => {
        expect(equalResources(addResources(a, b), addResources(b, a))).toBe(true);
        expect(equalResources(addResources(addResources(a, b), c), addResources(a, b, c))).toBe(true);
        expect(equalResources(subtractResources(addResources(a, b), b), a)).toBe(true);
        expect(isZeroResources(subtractResources(a, a))).toBe(true);
        expect(fits(a, b)).toBe(!hasNegative(subtractResources(restrict(b, a), a)));
        for (const name of Object.keys(maxResources(a, b))) {
          const greatest = quantityOf(maxResources(a, b), name).value();
          const candidates = [a, b].filter((v) => Object.hasOwn(v, name)).map((v) => quantityOf(v, name).value());
          expect(greatest).toBe(Math.max(...candidates));
        }
      }),
      { numRuns: 200 },
    );
  });
});

/** `resources` over the keys of `keys` alone. */
function restrict(resources: Resources, keys: Resources): Resources {
  return Object.fromEntries(Object.keys(keys).map((name) => [name, quantityOf(resources, name)]));
}
