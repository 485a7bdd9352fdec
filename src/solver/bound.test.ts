import { describe, expect, it } from 'vitest';
import type { InstanceType } from '../cloud/instanceType.ts';
import { Labels } from '../api/labels.ts';
import { offer } from '../../test/fixtures/solver/placementDraft.ts';
import { testPod, testType } from '../../test/fixtures/solver/testObjects.ts';
import type { LowerBound } from './problem.ts';
import { solve } from './solve.ts';

const ON_DEMAND = { [Labels.capacityType]: 'on-demand' };
const SMALL = testType('small', 2, 8, 0.1);

function bought(pods: ReturnType<typeof testPod>[], types: readonly InstanceType[] = [SMALL]) {
  const { lowerBound, pricePerHour } = solve({ pods, pools: [offer('default', types)], nodes: [], daemons: [] });
  return { ...lowerBound, paid: pricePerHour };
}

const causes = ({ gap }: LowerBound): string[] => gap.map(({ cause }) => cause);

describe('the lower bound of a plan', () => {
  it('is the price itself where one pod needs the whole node that it gets', () => {
    const { pricePerHour, paid, gap } = bought([testPod('web', '1900m', '8Gi', { nodeSelector: ON_DEMAND })]);
    expect([pricePerHour, paid]).toEqual([0.1, 0.1]);
    expect(gap).toEqual([]);
  });

  it('counts the cheapest node for the most demanding pod, however little its requests are worth', () => {
    const large = testType('large', 8, 32, 0.5);
    const pods = [testPod('large', '4', '1Gi', { nodeSelector: ON_DEMAND })];
    expect(bought(pods, [SMALL, large]).pricePerHour).toBe(0.5);
  });

  it('adds up for pods that have no offering in common', () => {
    const inZone = (zone: string) =>
      testPod(`in-${zone}`, '1', '1Gi', { nodeSelector: { ...ON_DEMAND, [Labels.zone]: zone } });
    const { pricePerHour, paid } = bought([inZone('z1'), inZone('z2')]);
    expect(paid).toBeCloseTo(0.201, 9);
    expect(pricePerHour).toBeCloseTo(0.201, 9);
  });

  it('is proven by whole fillings where pods cannot fill a node', () => {
    const pods = Array.from({ length: 4 }, (_, at) => testPod(`p${at}`, '1', '1Gi', { nodeSelector: ON_DEMAND }));
    const { pricePerHour, paid, proof } = bought(pods);
    expect(paid).toBeCloseTo(0.4, 9);
    expect(proof).toBe('whole-fillings');
    expect(pricePerHour).toBeCloseTo(0.4, 6);
  });

  it('says what the rest of the price is for', () => {
    const kinds = Array.from({ length: 30 }, (_, at) =>
      testPod(`p${at}`, `${1010 + 7 * at}m`, `${1000 + 13 * at}Mi`, { nodeSelector: ON_DEMAND }),
    );
    const lower = bought(kinds);
    expect(lower.pricePerHour).toBeLessThan(lower.paid);
    expect(causes(lower)).toContain('unused-capacity');
    const told = lower.gap.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
    expect(told).toBeCloseTo(lower.paid - lower.pricePerHour, 9);
  });
});
