import { describe, expect, it } from 'vitest';
import type { Pod } from '../api/kinds.ts';
import { podKind } from '../pods/podKind.ts';
import { arrangement, type Arrangement, type ClaimPlace } from './arrangement.ts';

const pod = (name: string): Pod => {
  const workload = name.split('-')[0] ?? '';
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: workload, uid: workload, controller: true };
  return { metadata: { name, uid: name, ownerReferences: [owner] }, spec: { containers: [] } };
};

/** `w-1@x` is the place of pod `w-1` of workload `w` on the node of claim `x`. */
function place(text: string): ClaimPlace {
  const [name = '', claim = ''] = text.split('@');
  const own = pod(name);
  return { claim, kind: podKind(own).kind, place: { plan: 'p', target: claim, until: 0, pod: own, open: false } };
}

const told = ({ assigned }: Arrangement): Record<string, string> =>
  Object.fromEntries(
    assigned.flatMap(({ places, pods }) => pods.map(({ metadata }, at) => [metadata.name, places[at]?.target ?? ''])),
  );

describe('an arrangement', () => {
  it('opens nodes in the order in which pods ask for them', () => {
    const places = ['a-1@x', 'b-1@y', 'c-1@z'].map(place);
    const { order } = arrangement(places, [pod('c-1'), pod('a-1'), pod('b-1')], new Map());
    expect(order).toEqual(['z', 'x', 'y']);
  });

  it('puts the pods of a kind that are tried first on few nodes', () => {
    const places = ['a-1@x', 'a-2@y', 'a-3@y', 'b-1@x'].map(place);
    const found = arrangement(places, [pod('a-1'), pod('a-2'), pod('a-3'), pod('b-1')], new Map());
    expect(found.order).toEqual(['y', 'x']);
    expect(told(found)).toEqual({ 'a-1': 'y', 'a-2': 'y', 'a-3': 'x', 'b-1': 'x' });
  });

  it('fills places in the order that their kind demands', () => {
    const places = ['s-1@x', 's-2@x', 's-3@y'].map(place);
    const [first, second, third] = places as [ClaimPlace, ClaimPlace, ClaimPlace];
    const fixed = new Map([[first.kind, [third, first, second]]]);
    const found = arrangement(places, [pod('s-2'), pod('s-1'), pod('s-3')], fixed);
    expect(found.order).toEqual(['y', 'x']);
    expect(told(found)).toEqual({ 's-2': 'y', 's-1': 'x', 's-3': 'x' });
  });

  it('gives every pod one place of its kind, and every place one pod', () => {
    const places = ['a-1@x', 'a-2@y', 'b-1@y', 'b-2@x', 'b-3@z'].map(place);
    const names = ['b-3', 'a-2', 'b-1', 'a-1', 'b-2'];
    const found = arrangement(places, names.map(pod), new Map());
    expect(Object.keys(told(found)).sort()).toEqual([...names].sort());
    const used = found.assigned.flatMap((each) => each.places.map((one) => one.pod.metadata.name));
    expect(used.sort()).toEqual([...names].sort());
  });
});
