import { describe, expect, it } from 'vitest';
import type { Pod } from '../api/kinds.ts';
import { podKind } from '../pods/podKind.ts';
import { arrangement, openingOrder, type Assigned, type ClaimPlace } from './arrangement.ts';

const pod = (name: string): Pod => {
  const workload = name.split('-')[0] ?? '';
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: workload, uid: workload, controller: true };
  return { metadata: { name, uid: name, ownerReferences: [owner] }, spec: { containers: [] } };
};

/** `w-1@x` is the place of pod `w-1` of workload `w` on the node of claim `x`. */
function place(text: string): ClaimPlace {
  const [name = '', claim = ''] = text.split('@');
  const own = pod(name);
  return {
    claim,
    group: podKind(own).kind,
    place: { plan: 'p', target: claim, until: 0, pod: own, open: false, moved: false },
  };
}

const told = (assigned: readonly Assigned[]): Record<string, string> =>
  Object.fromEntries(
    assigned.flatMap(({ places, pods }) => pods.map(({ metadata }, at) => [metadata.name, places[at]?.target ?? ''])),
  );

describe('an arrangement', () => {
  it('puts the pods of a kind that are tried first on few nodes', () => {
    const places = ['a-1@x', 'a-2@y', 'a-3@y', 'b-1@x'].map(place);
    const found = arrangement(places, new Map());
    expect(told(found)).toEqual({ 'a-1': 'y', 'a-2': 'y', 'a-3': 'x', 'b-1': 'x' });
  });

  it('fills places in the order required by their kind', () => {
    const places = ['s-2@x', 's-1@x', 's-3@y'].map(place);
    const [second, first, third] = places as [ClaimPlace, ClaimPlace, ClaimPlace];
    const fixed = new Map([[first.group, [third, first, second]]]);
    const found = arrangement(places, fixed);
    expect(told(found)).toEqual({ 's-2': 'y', 's-1': 'x', 's-3': 'x' });
  });

  it('gives every pod one place of its kind, and every place one pod', () => {
    const places = ['b-3@z', 'a-2@y', 'b-1@y', 'a-1@x', 'b-2@x'].map(place);
    const names = places.map((each) => each.place.pod.metadata.name);
    const found = arrangement(places, new Map());
    expect(Object.keys(told(found)).sort()).toEqual([...names].sort());
    const used = found.flatMap((each) => each.places.map((one) => one.pod.metadata.name));
    expect(used.sort()).toEqual([...names].sort());
  });
});

describe('nodes', () => {
  it('open in the order in which pods need them', () => {
    expect(openingOrder(['z', 'x', 'y'])).toEqual(['z', 'x', 'y']);
  });

  it('that many pods are about to ask for open before nodes that one pod asks for', () => {
    expect(openingOrder(['u', 'v', 'w', 'x', 'x', 'x', 'x', 'x'])).toEqual(['x', 'u', 'v', 'w']);
  });
});
