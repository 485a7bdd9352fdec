import { describe, expect, it } from 'vitest';
import type { Pod } from 'kubernetes-types/core/v1.js';
import { isSelected, selectionKey, topologyTerms } from './topology.ts';

const podWith = (spec: object, labels: Record<string, string> = { app: 'web', version: '2' }): Pod => ({
  metadata: { name: 'p', namespace: 'shop', labels },
  spec: { containers: [], ...spec },
});

describe('topologyTerms', () => {
  it('reads a spread with its defaults and narrows it by the pod’s own label values', () => {
    const pod = podWith({
      topologySpreadConstraints: [
        {
          maxSkew: 2,
          topologyKey: 'failure-domain.beta.kubernetes.io/zone',
          whenUnsatisfiable: 'DoNotSchedule',
          labelSelector: { matchLabels: { app: 'web' } },
          matchLabelKeys: ['version', 'absent'],
        },
      ],
    });
    expect(topologyTerms(pod, new Map()).spread).toEqual([
      {
        topologyKey: 'topology.kubernetes.io/zone',
        namespaces: ['shop'],
        selector: {
          matchLabels: { app: 'web' },
          matchExpressions: [{ key: 'version', operator: 'In', values: ['2'] }],
        },
        maxSkew: 2,
        minDomains: 1,
        required: true,
        honorsAffinity: true,
        honorsTaints: false,
      },
    ]);
  });

  it('uses default constraints only where the pod has none', () => {
    const fallback = [{ maxSkew: 1, topologyKey: 'rack', whenUnsatisfiable: 'ScheduleAnyway', labelSelector: {} }];
    expect(topologyTerms(podWith({}), new Map(), fallback).spread.map(({ topologyKey }) => topologyKey)).toEqual([
      'rack',
    ]);
    const own = { maxSkew: 1, topologyKey: 'row', whenUnsatisfiable: 'DoNotSchedule', labelSelector: {} };
    const pod = podWith({ topologySpreadConstraints: [own] });
    expect(topologyTerms(pod, new Map(), fallback).spread.map(({ topologyKey }) => topologyKey)).toEqual(['row']);
  });

  it('resolves namespaces: own, listed, selected, all', () => {
    const known = new Map([
      ['a', { team: 'x' }],
      ['b', { team: 'y' }],
    ]);
    const namespaces = (term: object): unknown =>
      topologyTerms(
        podWith({
          affinity: {
            podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'zone', ...term }] },
          },
        }),
        known,
      ).affinity[0]?.namespaces;
    expect(namespaces({})).toEqual(['shop']);
    expect(namespaces({ namespaces: ['q'] })).toEqual(['q']);
    expect(namespaces({ namespaces: ['q'], namespaceSelector: { matchLabels: { team: 'x' } } })).toEqual(['q', 'a']);
    expect(namespaces({ namespaceSelector: {} })).toBeUndefined();
  });

  it('selects by namespace and labels; no selector selects nothing', () => {
    const selection = { namespaces: ['shop'], selector: { matchLabels: { app: 'web' } } };
    expect(isSelected(selection, 'shop', { app: 'web' })).toBe(true);
    expect(isSelected(selection, 'other', { app: 'web' })).toBe(false);
    expect(isSelected({ namespaces: undefined, selector: undefined }, 'shop', {})).toBe(false);
    expect(isSelected({ namespaces: undefined, selector: {} }, 'shop', {})).toBe(true);
  });

  it('gives equal selections equal keys, whatever the order', () => {
    const left = { namespaces: ['b', 'a'], selector: { matchLabels: { x: '1', y: '2' } } };
    const right = { namespaces: ['a', 'b'], selector: { matchLabels: { y: '2', x: '1' } } };
    expect(selectionKey(left)).toBe(selectionKey(right));
    expect(selectionKey(left)).not.toBe(selectionKey({ ...left, selector: { matchLabels: { x: '1' } } }));
  });
});
