import { describe, expect, it } from 'vitest';
import { WELL_KNOWN_LABELS } from '../api/labels.ts';
import { Requirement, type RequirementOperator } from './requirement.ts';
import { Requirements } from './requirements.ts';

const zone = 'topology.kubernetes.io/zone';
const only = (operator: RequirementOperator, ...values: string[]): Requirements =>
  Requirements.of(Requirement.of('k', operator, values));

describe('Requirements.isCompatible', () => {
  const nodes = {
    undefined: Requirements.empty,
    'In a': only('In', 'a'),
    'In 1': only('In', '1'),
    Exists: only('Exists'),
    'NotIn a': only('NotIn', 'a'),
    DoesNotExist: only('DoesNotExist'),
  };
  const incoming = {
    'In a': only('In', 'a'),
    'In a b': only('In', 'a', 'b'),
    'NotIn a': only('NotIn', 'a'),
    Exists: only('Exists'),
    'Gt 0': only('Gt', '0'),
    'Lt 1': only('Lt', '1'),
    DoesNotExist: only('DoesNotExist'),
  };

  it('answers by the table', () => {
    const answers = Object.entries(incoming).map(([name, wanted]) => {
      const row = Object.entries(nodes).map(([node, has]) => `${node}: ${has.isCompatible(wanted) ? 'ok' : '-'}`);
      const wellKnown = Requirements.empty.isCompatible(wanted, new Set(['k'])) ? 'ok' : '-';
      return `${name} → well-known: ${wellKnown}, ${row.join(', ')}`;
    });
    expect(answers).toMatchInlineSnapshot(`
      [
        "In a → well-known: ok, undefined: -, In a: ok, In 1: -, Exists: ok, NotIn a: -, DoesNotExist: -",
        "In a b → well-known: ok, undefined: -, In a: ok, In 1: -, Exists: ok, NotIn a: ok, DoesNotExist: -",
        "NotIn a → well-known: ok, undefined: ok, In a: -, In 1: ok, Exists: ok, NotIn a: ok, DoesNotExist: ok",
        "Exists → well-known: ok, undefined: -, In a: ok, In 1: ok, Exists: ok, NotIn a: ok, DoesNotExist: -",
        "Gt 0 → well-known: ok, undefined: -, In a: -, In 1: ok, Exists: ok, NotIn a: ok, DoesNotExist: -",
        "Lt 1 → well-known: ok, undefined: -, In a: -, In 1: -, Exists: ok, NotIn a: ok, DoesNotExist: -",
        "DoesNotExist → well-known: ok, undefined: ok, In a: -, In 1: -, Exists: -, NotIn a: ok, DoesNotExist: ok",
      ]
    `);
  });

  it('agrees with its own reasons', () => {
    for (const wanted of Object.values(incoming)) {
      for (const node of Object.values(nodes)) {
        for (const allowed of [new Set<string>(), new Set(['k'])]) {
          expect(node.incompatibilities(wanted, allowed).length === 0).toBe(node.isCompatible(wanted, allowed));
        }
      }
    }
  });

  it('remembers that a label must exist when it must also not have a value', () => {
    const wanted = Requirements.of(Requirement.of('k', 'Gt', ['5']), Requirement.of('k', 'NotIn', ['7']));
    expect(Requirements.empty.isCompatible(wanted)).toBe(false);
    expect(only('NotIn', 'x').isCompatible(wanted)).toBe(true);
    expect(only('DoesNotExist').isCompatible(wanted)).toBe(false);
    expect(only('In', '7').isCompatible(wanted)).toBe(false);
    expect(only('In', '8').isCompatible(wanted)).toBe(true);
  });

  it('ignores keys of one side when only intersecting', () => {
    expect(only('In', 'a').intersects(Requirements.of(Requirement.of('other', 'In', ['x'])))).toBe(true);
    expect(only('In', 'a').intersects(only('In', 'b'))).toBe(false);
  });
});

describe('Requirements', () => {
  it('gives reasons, with a guess at the intended key', () => {
    const node = Requirements.fromLabels({ [zone]: '1', 'example.com/team': 'a' });
    const wanted = Requirements.fromLabels({ [zone]: '2', zone: '1', 'mine.com/team': 'a', nothing: 'x' });
    expect(
      node
        .incompatibilities(wanted, WELL_KNOWN_LABELS)
        .map((each) => [each.kind, each.key, each.kind === 'undefined' ? each.typoOf : each.existing.toString()]),
    ).toEqual([
      ['undefined', 'mine.com/team', 'example.com/team'],
      ['undefined', 'nothing', undefined],
      ['conflict', zone, `${zone} In [1]`],
      ['undefined', 'zone', zone],
    ]);
  });

  it('narrows without changing what it came from', () => {
    const base = Requirements.of(Requirement.of(zone, 'In', ['1', '2', '3']));
    const narrowed = base.add(Requirement.of('failure-domain.beta.kubernetes.io/zone', 'NotIn', ['2']));
    expect(narrowed.toString()).toBe(`${zone} In [1 3]`);
    expect(base.toString()).toBe(`${zone} In [1 2 3]`);
    expect(base.merge(narrowed).equals(narrowed)).toBe(true);
    expect(Requirements.empty.merge(base)).toBe(base);
    expect(base.equals(narrowed)).toBe(false);
    expect(
      narrowed
        .replace(Requirement.of(zone, 'In', ['2']))
        .get(zone)
        .has('2'),
    ).toBe(true);
    expect(narrowed.without(zone).size).toBe(0);
    expect(narrowed.without('other')).toBe(narrowed);
  });

  it('answers for keys that are not mentioned', () => {
    expect(Requirements.empty.get('k').operator).toBe('Exists');
    expect(Requirements.empty.has('k')).toBe(false);
  });

  it('writes items in order of keys and hides the hostname from text', () => {
    const requirements = Requirements.fromItems([
      { key: 'kubernetes.io/hostname', operator: 'In', values: ['hostname-placeholder-0001'] },
      { key: 'b', operator: 'Gt', values: ['3'], minValues: 2 },
      { key: 'a', operator: 'Exists' },
    ]);
    expect(requirements.toString()).toBe('a Exists, b Exists >=4 minValues 2');
    expect(requirements.hasMinValues).toBe(true);
    expect(requirements.without('b').hasMinValues).toBe(false);
    expect([...requirements.keys()].sort()).toEqual(['a', 'b', 'kubernetes.io/hostname']);
    expect(requirements.toItems()).toEqual([
      { key: 'a', operator: 'Exists' },
      { key: 'b', operator: 'Gte', values: ['4'], minValues: 2 },
      { key: 'kubernetes.io/hostname', operator: 'In', values: ['hostname-placeholder-0001'] },
    ]);
  });
});
