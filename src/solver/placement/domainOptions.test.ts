import { describe, expect, it } from 'vitest';
import { classOf, offer, placementDraft } from '../../../test/fixtures/solver/placementDraft.ts';
import { testPod, testType, withRegional } from '../../../test/fixtures/solver/testObjects.ts';
import { Labels } from '../../api/labels.ts';
import { DomainOptions } from './domainOptions.ts';

const ON_DEMAND = { [Labels.capacityType]: 'on-demand' };

function optionsOf(nodeSelector: Record<string, string>, types = [testType('a2', 2, 8, 0.1)]) {
  const draft = placementDraft([testPod('web', '1', '1Gi', { nodeSelector })], { pools: [offer('default', types)] });
  const { compiled, fit } = draft;
  const podClass = classOf(draft, 'web');
  const [variant] = podClass.variants;
  if (variant === undefined) throw new Error('the pod has no variant');
  const options = new DomainOptions(compiled.model, compiled.counters, false);
  const found = (key: string) => options.of(fit.widest(podClass, variant, 0), key);
  const names = (key: string): string[] =>
    found(key).all.map(({ domain }) => compiled.counters.domains(key).at(domain));
  return { options, found, names };
}

describe('the values that a planned node may still have', () => {
  it('are the zones in which its types are sold, at prices that differ', () => {
    const { found, names } = optionsOf(ON_DEMAND);
    expect(names(Labels.zone)).toEqual(['z1', 'z2', 'z3']);
    expect(found(Labels.zone).arePriced).toBe(true);
    expect(found(Labels.zone).all.every(({ state }) => state >= 0)).toBe(true);
  });

  it('are one where the pod asks for it, which then costs what it costs', () => {
    const { found, names } = optionsOf({ ...ON_DEMAND, [Labels.zone]: 'z2' });
    expect(names(Labels.zone)).toEqual(['z2']);
    expect(found(Labels.zone).arePriced).toBe(false);
  });

  it('have a node without a zone last', () => {
    const { found, names } = optionsOf(ON_DEMAND, [withRegional(testType('a2', 2, 8, 0.1))]);
    expect(names(Labels.zone)).toEqual(['z1', 'z2', 'z3', '0']);
    expect(found(Labels.zone).all.map(({ isRegional }) => isRegional)).toEqual([false, false, false, true]);
  });

  it('are computed once', () => {
    const { found } = optionsOf(ON_DEMAND);
    expect(found(Labels.zone)).toBe(found(Labels.zone));
  });
});
