import { describe, expect, it } from 'vitest';
import { testPod, testPool, testType } from '../../../test/fixtures/solver/testObjects.ts';
import { Labels } from '../../api/labels.ts';
import { Requirement } from '../../constraints/requirement.ts';
import { Requirements } from '../../constraints/requirements.ts';
import type { ExistingNode } from '../problem.ts';
import { Counters } from './counters.ts';
import { Model } from './model.ts';
import { counterSpec, nodeFilter } from './topologyCounter.ts';

const WEB = { namespaces: ['default'], selector: { matchLabels: { app: 'web' } } };

const node = (name: string, zone: string, pods: number): ExistingNode => ({
  name,
  labels: { [Labels.zone]: zone, [Labels.hostname]: name },
  taints: [],
  free: {},
  pods: Array.from({ length: pods }, (_, at) => testPod(`${name}-${at}`, '1', '1Gi', {}, { labels: { app: 'web' } })),
  initialized: true,
});

const pools = [{ pool: testPool('default'), instanceTypes: [testType('a2', 2, 4, 0.1)], used: {} }];
const model = Model.of({ pools, nodes: [node('a', 'z1', 2), node('b', 'z1', 1), node('c', 'old', 1)], daemons: [] });

function countersWithout(...names: string[]): Counters {
  const rows = names.map((name) => model.existing.indexOf.get(name) ?? -1);
  return new Counters(model, new Set(rows));
}

function byZone(counters: Counters, id: number): Record<string, number> {
  const { counts, domains } = counters.at(id);
  return Object.fromEntries(domains.values.map((zone, domain) => [zone, counts[domain] ?? 0]));
}

describe('counters of a demand', () => {
  it('start with the running pods, without those on removed nodes', () => {
    const counters = countersWithout('b');
    const zones = counters.add(counterSpec('match', Labels.zone, [WEB]));
    const hosts = counters.add(counterSpec('match', Labels.hostname, [WEB]));
    counters.seed([]);
    expect(byZone(counters, zones)).toEqual({ old: 1, z1: 2, z2: 0, z3: 0 });
    const on = (name: string): number => counters.at(hosts).hosts.on(model.existing.indexOf.get(name) ?? -1);
    expect([on('a'), on('b'), on('c'), counters.at(hosts).total]).toEqual([2, 0, 1, 3]);
  });

  it('are copied with their counts, so that a search does not see the placements of another', () => {
    const counters = countersWithout();
    const id = counters.add(counterSpec('match', Labels.zone, [WEB]));
    counters.seed([]);
    const copy = counters.copy();
    copy.count(copy.at(id), copy.domains(Labels.zone).numberOf('z2'), 5);
    expect([byZone(counters, id)['z2'], byZone(copy, id)['z2']]).toEqual([0, 5]);
    expect([counters.at(id).total, copy.at(id).total]).toEqual([4, 9]);
  });

  it('are shared by equal terms', () => {
    const counters = countersWithout();
    const [one, same, other] = [Labels.zone, Labels.zone, Labels.hostname].map((key) =>
      counters.add(counterSpec('match', key, [WEB])),
    );
    expect([one === same, one === other]).toEqual([true, false]);
  });

  it('compare the domains of participating nodes and those that planned nodes can open', () => {
    const counters = countersWithout('c');
    const named = (id: number): string[] =>
      [...counters.eligible(id)].map((domain) => counters.domains(Labels.zone).at(domain));
    const open = counters.add(counterSpec('spread', Labels.zone, [WEB], nodeFilter(undefined, undefined)));
    const first = Requirements.of(Requirement.of(Labels.zone, 'In', ['z1', 'old']));
    const narrow = counters.add(counterSpec('spread', Labels.zone, [WEB], nodeFilter([first], undefined)));
    expect(named(open)).toEqual(['z1', 'z2', 'z3']);
    expect(named(narrow)).toEqual(['z1']);
    expect(counters.statePasses(open, model.states.base(0))).toBe('yes');
    expect(counters.statePasses(narrow, model.states.base(0))).toBe('maybe');
    expect(counters.statePasses(narrow, model.states.pin(model.states.base(0), Labels.zone, 'z1'))).toBe('yes');
    expect(counters.statePasses(narrow, model.states.pin(model.states.base(0), Labels.zone, 'z2'))).toBe('no');
  });

  it('are not certain about planned nodes with a label that a claim has yet to choose', () => {
    const rack = 'example.com/rack';
    const pool = testPool('racks', { requirements: [{ key: rack, operator: 'In', values: ['r1', 'r2'] }] });
    const racks = Model.of({ pools: pools.map((each) => ({ ...each, pool })), nodes: [], daemons: [] });
    const { states } = racks;
    const counters = new Counters(racks, new Set());
    const passes = (key: string, operator: 'NotIn' | 'In', ...values: string[]): string[] => {
      const filter = nodeFilter([Requirements.of(Requirement.of(key, operator, values))], undefined);
      const id = counters.add(counterSpec('spread', Labels.zone, [WEB], filter));
      const base = states.base(0);
      return [base, states.pin(base, rack, 'r2')].map((state) => counters.statePasses(id, state));
    };
    expect(passes(rack, 'NotIn', 'r1')).toEqual(['maybe', 'yes']);
    expect(passes(rack, 'In', 'r1', 'r2', 'r3')).toEqual(['yes', 'yes']);
    expect(passes('example.com/other', 'NotIn', 'r1')).toEqual(['yes', 'yes']);
  });
});
