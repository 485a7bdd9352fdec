import { describe, expect, it } from 'vitest';
import { classOf, existingNode, placementDraft } from '../../../test/fixtures/solver/placementDraft.ts';
import { testPod } from '../../../test/fixtures/solver/testObjects.ts';
import { Labels } from '../../api/labels.ts';
import type { DomainConstraint } from '../model/podClass.ts';
import { LeastCounts } from './leastCounts.ts';

function spreadOfWeb(minDomains?: number) {
  const constraint = { topologyKey: Labels.zone, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' };
  const labels = { app: 'web' };
  const spread = {
    ...constraint,
    labelSelector: { matchLabels: labels },
    ...(minDomains !== undefined && { minDomains }),
  };
  const pod = testPod('web', '1', '1Gi', { topologySpreadConstraints: [spread] }, { labels });
  const nodes = ['z1', 'z2', 'z3'].map((zone) => existingNode(`node-${zone}`, zone, 8));
  const draft = placementDraft([pod], { nodes });
  const { counters } = draft.compiled;
  const compared = classOf(draft, 'web').variants[0]?.domain[0] as DomainConstraint;
  const counter = counters.at(compared.counter);
  const place = (zone: string, times = 1): void => counters.count(counter, counter.domains.numberOf(zone), times);
  return {
    spread: compared,
    place,
    least: new LeastCounts(counters),
    numberOf: (zone: string) => counter.domains.numberOf(zone),
  };
}

describe('the least count of a spread', () => {
  it('follows what is placed, in any domain that may take a pod', () => {
    const { spread, place, least } = spreadOfWeb();
    expect(least.eligible(spread)).toBe(0);
    place('z1', 3);
    place('z2', 2);
    expect(least.eligible(spread)).toBe(0);
    place('z3', 4);
    expect([least.eligible(spread), least.eligible(spread)]).toEqual([2, 2]);
    place('z2', 3);
    expect(least.eligible(spread)).toBe(3);
  });

  it('is that of the compared domains, and 0 while these are fewer than the pod asks for', () => {
    const { spread, place, least, numberOf } = spreadOfWeb(3);
    for (const zone of ['z1', 'z2', 'z3']) place(zone, 2);
    const [z1, z2, z3] = ['z1', 'z2', 'z3'].map(numberOf) as [number, number, number];
    expect(least.among(spread, Int32Array.of(z1, z2, z3))).toBe(2);
    expect(least.among(spread, Int32Array.of(z1, z2))).toBe(0);
    expect(least.among({ ...spread, minDomains: 1 }, Int32Array.of())).toBe(0);
  });
});
