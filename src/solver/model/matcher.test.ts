import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { testPod } from '../../../test/fixtures/solver/testObjects.ts';
import { Labels } from '../../api/labels.ts';
import { isSelected, type PodSelection } from '../../constraints/topology.ts';
import { Counters } from './counters.ts';
import { Matcher } from './matcher.ts';
import { Model } from './model.ts';
import { counterSpec } from './topologyCounter.ts';

const value = fc.constantFrom('x', 'y');
const selection: fc.Arbitrary<PodSelection> = fc.record({
  namespaces: fc.constantFrom(['default'], ['other'], ['default', 'other']),
  selector: fc.oneof(
    value.map((app) => ({ matchLabels: { app } })),
    fc.tuple(value, value).map(([app, tier]) => ({ matchLabels: { app, tier } })),
    fc
      .constantFrom('In', 'NotIn')
      .chain((operator) => value.map((tier) => ({ matchExpressions: [{ key: 'tier', operator, values: [tier] }] }))),
    fc.constantFrom('Exists', 'DoesNotExist').map((operator) => ({ matchExpressions: [{ key: 'app', operator }] })),
  ),
});
const labels = fc.record({ app: value, tier: value, 'not-read': value }, { requiredKeys: [] });

const counters = (selections: readonly (readonly PodSelection[])[]): Counters => {
  const all = new Counters(Model.of({ pools: [], nodes: [], daemons: [] }), new Set());
  for (const each of selections) all.add(counterSpec('match', Labels.zone, each));
  return all;
};

describe('the counters of a pod', () => {
  it('are those with a selector that selects it; pods counted by the same ones share a set', () => {
    const specs = fc.array(fc.array(selection, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 5 });
    const pods = fc.array(fc.tuple(labels, fc.constantFrom('default', 'other')), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(specs, pods, (selections, asked) => {
        const all = counters(selections);
        const list = asked.map(([own, namespace], at) => testPod(`p${at}`, '1', '1Gi', {}, { labels: own, namespace }));
        const { signatures, signatureOf } = Matcher.of(all).match(list);
        asked.forEach(([own, namespace], at) => {
          const expected = all.all.flatMap(({ spec }, id) =>
            spec.selections.every((each) => isSelected(each, namespace, own)) ? [id] : [],
          );
          expect(signatures[signatureOf[at] ?? -1]?.counted).toEqual(expected);
        });
        const texts = signatures.map(({ text }) => text);
        expect(texts).toEqual([...new Set(texts)].sort());
      }),
    );
  });

  it('are none where nothing is counted', () => {
    const { signatures, signatureOf } = Matcher.of(counters([])).match([testPod('p', '1', '1Gi')]);
    expect([signatures, [...signatureOf]]).toEqual([[{ text: '', counted: [] }], [0]]);
  });
});
