import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Pod } from '../api/kinds.ts';
import { canBeToldTogether, onlySkew, spreadKey, spreadOrder, toldAtOnce } from './spreadOrder.ts';

const domains = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 30 });

function count(values: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

const skewOf = (counts: ReadonlyMap<string, number>): number => {
  const all = ['a', 'b', 'c'].map((domain) => counts.get(domain) ?? 0);
  return Math.max(...all) - Math.min(...all);
};

describe('the order of places over domains', () => {
  it('holds every place once', () => {
    fc.assert(
      fc.property(domains, domains, (places, before) => {
        const order = spreadOrder(
          places.map((domain, at) => ({ domain, at })),
          count(before),
        );
        expect(order.map(({ at }) => at).toSorted((left, right) => left - right)).toEqual(places.map((_, at) => at));
      }),
    );
  });

  it('never has a larger skew in between than at its start or its end', () => {
    fc.assert(
      fc.property(domains, domains, (places, before) => {
        const counts = count(before);
        const end = count([...before, ...places]);
        const most = Math.max(skewOf(counts), skewOf(end), 1);
        for (const { domain } of spreadOrder(
          places.map((domain) => ({ domain })),
          counts,
        )) {
          counts.set(domain, (counts.get(domain) ?? 0) + 1);
          expect(skewOf(counts)).toBeLessThanOrEqual(most);
        }
      }),
    );
  });
});

describe('pods that are nominated together', () => {
  const on = (...nodes: readonly string[]) => nodes.map((node) => ({ node, domain: node.slice(0, 1) }));

  it('can be bound if each is alone on its node', () => {
    expect(canBeToldTogether(on('a1', 'b1', 'c1', 'a2'), new Map(), 1)).toBe(true);
  });

  it('can share a node when the other domains have theirs by then', () => {
    expect(canBeToldTogether(on('b1', 'c1', 'a1', 'a1'), new Map(), 1)).toBe(true);
    expect(canBeToldTogether(on('a1', 'b1', 'c1', 'a1'), new Map(), 1)).toBe(false);
    expect(canBeToldTogether(on('a1', 'b1', 'c1', 'a1'), new Map(), 2)).toBe(true);
    expect(
      canBeToldTogether(
        on('a1', 'a1'),
        new Map([
          ['a', 0],
          ['b', 1],
          ['c', 1],
        ]),
        1,
      ),
    ).toBe(true);
  });

  it('cannot when every domain has two on one node', () => {
    expect(canBeToldTogether(on('a1', 'b1', 'c1', 'a1', 'b1', 'c1'), new Map(), 1)).toBe(false);
  });
});

it('starts with domains that have few places, so that nodes with several come last', () => {
  const order = spreadOrder(
    ['a', 'a', 'b', 'c'].map((domain) => ({ domain })),
    new Map(),
  );
  expect(order.map(({ domain }) => domain)).toEqual(['b', 'c', 'a', 'a']);
});

describe('pods tried in an unexpected order', () => {
  it('can nearly all be placed when a run of them comes first or last', () => {
    const places = ['a', 'b', 'c'].flatMap((domain) => Array.from({ length: 6 }, () => ({ domain })));
    const order = spreadOrder(places, new Map()).map(({ domain }) => domain);
    for (let from = 0; from < order.length; from++) {
      const late = [...order.slice(from), ...order.slice(0, from)];
      const counts = count([]);
      for (const domain of late) {
        counts.set(domain, (counts.get(domain) ?? 0) + 1);
        expect(skewOf(counts)).toBeLessThanOrEqual(1);
      }
    }
  });
});

describe('the label of a hard spread', () => {
  const pod = (topologyKey: string, whenUnsatisfiable: string): Pod =>
    ({ metadata: { name: 'p' }, spec: { topologySpreadConstraints: [{ topologyKey, whenUnsatisfiable }] } }) as never;

  it('is one that the scheduler enforces, and not the hostname', () => {
    expect(spreadKey(pod('zone', 'DoNotSchedule'))).toBe('zone');
    expect(spreadKey(pod('zone', 'ScheduleAnyway'))).toBeUndefined();
    expect(spreadKey(pod('kubernetes.io/hostname', 'DoNotSchedule'))).toBeUndefined();
    expect(spreadKey({ metadata: { name: 'p' } } as never)).toBeUndefined();
  });
});

it.each([
  [[1], 1],
  [[2], 1],
  [[4], 3],
  [[4, 2], 1],
])('lets as many pods be nominated to one node as maxSkew %j allows: %i', (skews, expected) => {
  const topologySpreadConstraints = skews.map((maxSkew) => ({
    maxSkew,
    topologyKey: 'zone',
    whenUnsatisfiable: 'DoNotSchedule',
  }));
  const hosts = { maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'DoNotSchedule' };
  const pod = { spec: { containers: [], topologySpreadConstraints: [hosts, ...topologySpreadConstraints] } };
  expect(toldAtOnce(pod as unknown as Pod)).toBe(expected);
  expect(onlySkew(pod as unknown as Pod)).toBe(skews.length > 1 ? undefined : skews[0]);
});
