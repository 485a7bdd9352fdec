import { describe, expect, it } from 'vitest';
import { classOf, LARGE, offer, placementDraft, SMALL } from '../../../test/fixtures/solver/placementDraft.ts';
import { testPod, testType } from '../../../test/fixtures/solver/testObjects.ts';
import { Labels } from '../../api/labels.ts';
import { Requirements } from '../../constraints/requirements.ts';
import type { Draft } from '../draft.ts';
import { stepsDown } from './poolFit.ts';

function startsIn(draft: Draft, pod: string, pool = 0): readonly number[] {
  const podClass = classOf(draft, pod);
  const [variant] = podClass.variants;
  return variant === undefined ? [] : draft.fit.startsOf(podClass, variant, pool);
}

/** Node affinity with these alternatives of zones, and these preferences for zones. */
function zoneAffinity(required: readonly string[][], preferred: readonly string[] = []): object {
  const inZones = (values: readonly string[]): object => ({
    matchExpressions: [{ key: Labels.zone, operator: 'In', values }],
  });
  return {
    affinity: {
      nodeAffinity: {
        ...(required.length > 0 && {
          requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: required.map(inZones) },
        }),
        preferredDuringSchedulingIgnoredDuringExecution: preferred.map((zone, at) => ({
          weight: 100 - at,
          preference: inZones([zone]),
        })),
      },
    },
  };
}

const inZone = (zone: string): Requirements => Requirements.fromLabels({ [Labels.zone]: zone });

describe('the fit of pools', () => {
  it('groups pools of equal weight, in the order that they come in', () => {
    const pools = [offer('b', [SMALL], {}, { weight: 10 }), offer('a', [SMALL]), offer('c', [SMALL])];
    const { fit } = placementDraft([testPod('p', '1', '1Gi')], { pools });
    expect(fit.tiers.map((tier) => tier.map(({ name }) => name))).toEqual([['b'], ['a', 'c']]);
  });

  it('starts no node in a pool whose types are too small, or whose taints the pod does not tolerate', () => {
    const taints = [{ key: 'dedicated', value: 'db', effect: 'NoSchedule' as const }];
    const pools = [offer('a', [SMALL]), offer('b', [LARGE]), offer('c', [LARGE], { taints })];
    const draft = placementDraft([testPod('p', '4', '1Gi')], { pools });
    const byName = new Map(draft.compiled.model.pools.map(({ name, index }) => [name, startsIn(draft, 'p', index)]));
    expect([...byName].map(([name, starts]) => [name, starts.length])).toEqual([
      ['a', 0],
      ['b', 1],
      ['c', 0],
    ]);
  });

  it('counts a preferred taint as tolerated only after that preference is dropped', () => {
    const taints = [{ key: 'old', effect: 'PreferNoSchedule' as const }];
    const draft = placementDraft([testPod('p', '1', '1Gi')], { pools: [offer('a', [SMALL], { taints })] });
    const podClass = classOf(draft, 'p');
    const starts = podClass.variants.map((variant) => draft.fit.startsOf(podClass, variant, 0).length);
    expect(starts.at(0)).toBe(0);
    expect(starts.at(-1)).toBe(1);
  });

  it('starts a node for each available alternative of a pod’s disks', () => {
    const draft = placementDraft([testPod('p', '1', '1Gi')], {
      volumes: new Map([['default/p', { attachments: [], alternatives: ['z1', 'z9', 'z3'].map(inZone) }]]),
    });
    const { states } = draft.compiled.model;
    expect(startsIn(draft, 'p').map((state) => states.valuesOf(state, Labels.zone))).toEqual([['z1'], ['z3']]);
  });

  it('prices a pod by the cheapest share of a type that holds it', () => {
    const dear = testType('dear', 2, 8, 0.4);
    const draft = placementDraft([testPod('p', '950m', '1Gi')], { pools: [offer('a', [SMALL, dear])] });
    const [state = -1] = startsIn(draft, 'p');
    // Half of the cpu of the small type, at the price of spot.
    expect(draft.fit.costOf(classOf(draft, 'p')).price(state)).toBeCloseTo(0.1 * 0.4 * 0.5, 6);
  });

  it('tries alternatives of required affinity together, cheapest first, then drops preferences one by one', () => {
    const spec = zoneAffinity([['z3'], ['z1']], ['z2']);
    const draft = placementDraft([testPod('p', '1', '1Gi', { ...spec, nodeSelector: ON_DEMAND })]);
    const podClass = classOf(draft, 'p');
    const groups = draft.fit.variantsOf(podClass);
    expect(groups.flat()).toHaveLength(podClass.variants.length);
    const zones = groups[0]?.map(({ rung }) => [...rung.requirements.get(Labels.zone).values]);
    expect(zones).toHaveLength(2);
    expect(podClass.variants.map((variant) => stepsDown(podClass, variant)).at(0)).toBe(0);
    expect(Math.max(...podClass.variants.map((variant) => stepsDown(podClass, variant)))).toBeGreaterThan(0);
  });
});

const ON_DEMAND = { [Labels.capacityType]: 'on-demand' };
