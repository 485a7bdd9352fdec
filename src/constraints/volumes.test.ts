import { describe, expect, it } from 'vitest';
import { Requirement } from './requirement.ts';
import { Requirements } from './requirements.ts';
import { combineAlternatives } from './volumes.ts';

const zones = (...values: string[]): Requirements => Requirements.of(Requirement.of('zone', 'In', values));

describe('combineAlternatives', () => {
  it('keeps only combinations that can be met together', () => {
    const combined = combineAlternatives([[zones('a'), zones('b')], [zones('b', 'c')]]);
    expect(combined.map(String)).toEqual(['zone In [b]']);
  });

  it('keeps the contradiction when nothing else is left', () => {
    expect(combineAlternatives([[zones('a')], [zones('b')]]).map(String)).toEqual(['zone DoesNotExist']);
  });

  it('is no constraint without volumes', () => {
    expect(combineAlternatives([])).toEqual([]);
    expect(combineAlternatives([[]])).toEqual([]);
  });
});
