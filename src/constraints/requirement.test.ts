import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Requirement, type RequirementItem } from './requirement.ts';

const listed = ['a', 'b', 'c', '0', '1', '2', '3', '7', '9'];
/** Every listed value, integers that no list names, a word that no list names. */
const domain = [...listed, '4', '5', '6', '8', '12', '00', '01', '02', '03', '04', '05', '06', '07', '08', '09', 'zz'];

const values = fc.uniqueArray(fc.constantFrom(...listed), { minLength: 1, maxLength: 5 });
const bound = fc.integer({ min: 0, max: 9 }).map((number) => [String(number)]);
const item: fc.Arbitrary<RequirementItem> = fc.oneof(
  fc.record({ key: fc.constant('k'), operator: fc.constantFrom('In' as const, 'NotIn' as const), values }),
  fc.record({ key: fc.constant('k'), operator: fc.constantFrom('Exists' as const, 'DoesNotExist' as const) }),
  fc.record({
    key: fc.constant('k'),
    operator: fc.constantFrom('Gt' as const, 'Gte' as const, 'Lt' as const, 'Lte' as const),
    values: bound,
    minValues: fc.integer({ min: 1, max: 5 }),
  }),
);
const items = fc.array(item, { minLength: 1, maxLength: 3 });
const requirement = items.map(join);

function join(list: readonly RequirementItem[]): Requirement {
  return list.map((each) => Requirement.fromItem(each)).reduce((left, right) => left.intersection(right));
}

/** Independent, simple definition of an item's meaning. */
function meets(each: RequirementItem, value: string | undefined): boolean {
  const list = each.values ?? [];
  const compare = (test: (value: number, limit: number) => boolean): boolean =>
    value !== undefined && /^\d+$/.test(value) && test(Number(value), Number(list[0]));
  switch (each.operator) {
    case 'In':
      return value !== undefined && list.includes(value);
    case 'NotIn':
      return value === undefined || !list.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return compare((number, limit) => number > limit);
    case 'Gte':
      return compare((number, limit) => number >= limit);
    case 'Lt':
      return compare((number, limit) => number < limit);
    case 'Lte':
      return compare((number, limit) => number <= limit);
  }
}

describe('Requirement', () => {
  it('allows what all its items allow', () => {
    fc.assert(
      fc.property(items, (list) => {
        const joined = join(list);
        const allowed = domain.filter((value) => list.every((each) => meets(each, value)));
        expect(domain.filter((value) => joined.has(value))).toEqual(allowed);
        expect(joined.allowsAbsence).toBe(list.every((each) => meets(each, undefined)));
        const minima = list.map((each) => each.minValues ?? 0);
        expect(joined.minValues ?? 0).toBe(Math.max(...minima));
      }),
      { numRuns: 500 },
    );
  });

  it('intersects commutatively and associatively', () => {
    fc.assert(
      fc.property(requirement, requirement, requirement, (a, b, c) => {
        expect(a.intersection(b).equals(b.intersection(a))).toBe(true);
        expect(
          a
            .intersection(b)
            .intersection(c)
            .equals(a.intersection(b.intersection(c))),
        ).toBe(true);
        expect(a.hasIntersection(b)).toBe(b.hasIntersection(a));
      }),
      { numRuns: 500 },
    );
  });

  it('tells whether there is an intersection without building the set', () => {
    fc.assert(
      fc.property(requirement, requirement, (a, b) => {
        const common = domain.some((value) => a.has(value) && b.has(value));
        expect(a.hasIntersection(b)).toBe(common);
        expect(a.isCompatible(b)).toBe(common || (a.allowsAbsence && b.allowsAbsence));
      }),
      { numRuns: 500 },
    );
  });

  it('can be parsed from its own items', () => {
    fc.assert(
      fc.property(requirement, (original) => {
        // An unsatisfiable requirement has no items.
        fc.pre(original.allowsAbsence || original.hasIntersection(Requirement.of('k', 'Exists')));
        expect(join(original.toItems()).equals(original)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('offers a value that meets it', () => {
    fc.assert(
      fc.property(requirement, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (original, random) => {
        const value = original.anyValue(() => random);
        fc.pre(value !== undefined);
        expect(original.has(value)).toBe(true);
      }),
      { numRuns: 300 },
    );
    expect(Requirement.of('k', 'DoesNotExist').anyValue(() => 0)).toBeUndefined();
    expect(Requirement.of('k', 'In', ['b', 'a']).anyValue(() => 0.9)).toBe('a');
    expect(join([gte('5'), lte('6'), notIn('5')]).anyValue(() => 0)).toBe('6');
    expect(join([gte('5'), lte('5'), notIn('5')]).anyValue(() => 0)).toBeUndefined();
  });

  it('keeps exclusions when it is written with bounds', () => {
    expect(join([gte('2'), lte('9'), notIn('7', '3', 'a')]).toItems()).toEqual([
      { key: 'k', operator: 'Gte', values: ['2'] },
      { key: 'k', operator: 'Lte', values: ['9'] },
      { key: 'k', operator: 'NotIn', values: ['3', '7'] },
    ]);
    expect(Requirement.of('k', 'In', ['b', 'a'], 2).toItems()).toEqual([
      { key: 'k', operator: 'In', values: ['a', 'b'], minValues: 2 },
    ]);
    expect(Requirement.of('k', 'Exists').toItems()).toEqual([{ key: 'k', operator: 'Exists' }]);
  });

  it.each([
    [Requirement.of('k', 'In', ['b', 'a']), 'k In [a b]'],
    [Requirement.of('k', 'NotIn', ['a']), 'k NotIn [a]'],
    [Requirement.of('k', 'Exists'), 'k Exists'],
    [Requirement.of('k', 'DoesNotExist'), 'k DoesNotExist'],
    [Requirement.of('k', 'Gt', ['4']), 'k Exists >=5'],
    [Requirement.of('k', 'Lt', ['4']), 'k Exists <=3'],
    [Requirement.of('k', 'Gte', ['4'], 3), 'k Exists >=4 minValues 3'],
    [Requirement.of('k', 'In', ['g', 'f', 'e', 'd', 'c', 'b', 'a']), 'k In [a b c d e and 2 others]'],
    [Requirement.of('k', 'Gt', ['3']).intersection(Requirement.of('k', 'Lt', ['3'])), 'k DoesNotExist'],
    [Requirement.of('k', 'Gt', ['9223372036854775807']), 'k DoesNotExist'],
  ])('%s prints as %s', (original, text) => {
    expect(original.toString()).toBe(text);
  });

  it('is unsatisfiable with an invalid bound', () => {
    for (const impossible of [
      Requirement.of('k', 'Gt', ['9223372036854775807']),
      Requirement.of('k', 'Gt', ['many']),
      Requirement.of('k', 'Lt', ['0']),
      Requirement.none('k'),
    ]) {
      expect(impossible.isCompatible(Requirement.of('k', 'Exists'))).toBe(false);
      expect(impossible.isCompatible(Requirement.of('k', 'DoesNotExist'))).toBe(false);
    }
  });

  it('understands old label names and the disk driver', () => {
    expect(Requirement.of('beta.kubernetes.io/arch', 'In', ['arm64']).key).toBe('kubernetes.io/arch');
    expect(Requirement.of('topology.disk.csi.azure.com/zone', 'In', ['']).toString()).toBe(
      'topology.kubernetes.io/zone In [0]',
    );
  });

  it('takes another minValues and keeps the rest', () => {
    const original = join([gte('2'), notIn('7')]);
    expect(original.withMinValues(4).minValues).toBe(4);
    expect(original.withMinValues(4).withMinValues(undefined).equals(original)).toBe(true);
  });
});

function gte(limit: string): RequirementItem {
  return { key: 'k', operator: 'Gte', values: [limit] };
}

function lte(limit: string): RequirementItem {
  return { key: 'k', operator: 'Lte', values: [limit] };
}

function notIn(...excluded: string[]): RequirementItem {
  return { key: 'k', operator: 'NotIn', values: excluded };
}
