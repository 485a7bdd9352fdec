import { describe, expect, it } from 'vitest';
import type { Node, Pod } from '../../api/kinds.ts';
import { HINT_ENTRIES } from '../../api/placementHint.ts';
import { nodeView } from '../../cluster/nodeView.ts';
import { hintDecision, type Expectation } from './hintDecision.ts';

const requests = { cpu: '1' };
const node = (cpu: string): Node => ({
  metadata: { name: 'n' },
  status: { allocatable: { cpu, pods: '10' }, capacity: { cpu, pods: '10' } },
});

function pod(spec: object = {}, nominatedNodeName?: string, isOurs = true): Pod {
  return {
    metadata: { name: 'p', namespace: 'default', uid: 'p', ...(isOurs && { managedFields: [...HINT_ENTRIES] }) },
    spec: { containers: [{ name: 'main', resources: { requests } }], ...spec },
    ...(nominatedNodeName && { status: { nominatedNodeName } }),
  } as Pod;
}

const EXPECTED: Expectation = {
  view: nodeView({ node: node('4') }, []),
  isPlanned: true,
  matters: true,
  isOutrun: false,
};
const schedulers = new Set(['default-scheduler']);
const decide = (each: Pod, expected: Partial<Expectation> = {}): string | null | undefined =>
  hintDecision(each, { ...EXPECTED, ...expected }, schedulers);

describe('a pod with a place', () => {
  it.each<[string, Pod, string | undefined]>([
    ['waits', pod(), 'n'],
    ['has another hint', pod({}, 'other'), 'n'],
    ['has this hint', pod({}, 'n'), undefined],
    ['preempts others elsewhere', pod({}, 'other', false), undefined],
    ['has a gate', pod({ schedulingGates: [{ name: 'g' }] }), undefined],
    ['has another scheduler', pod({ schedulerName: 'mine' }), undefined],
    ['has a node', pod({ nodeName: 'm' }), undefined],
  ])('that %s', (_what, each, expected) => expect(decide(each)).toBe(expected));

  it('gets no hint when it does not matter, when its node has not joined yet, or when the node is full', () => {
    const full = nodeView({ node: node('500m') }, []);
    expect(decide(pod(), { matters: false })).toBeUndefined();
    expect(decide(pod(), { view: undefined })).toBeUndefined();
    expect(decide(pod(), { view: full })).toBeUndefined();
  });

  it('loses a hint at another node when its own cannot be hinted', () => {
    const full = nodeView({ node: node('500m') }, []);
    for (const own of [{ matters: false }, { view: undefined }, { view: full }]) {
      expect(decide(pod({}, 'other'), own)).toBeNull();
      expect(decide(pod({}, 'other', false), own)).toBeUndefined();
    }
    expect(decide(pod({}, 'n'), { matters: false })).toBeUndefined();
  });

  it('loses its hint where others have taken its room, so that it keeps out none that has room', () => {
    expect(decide(pod({}, 'n'), { isOutrun: true })).toBeNull();
    expect(decide(pod(), { isOutrun: true })).toBeUndefined();
  });
});

describe('a pod without a place', () => {
  it('loses our hint, and nothing else', () => {
    const unplanned = { isPlanned: false, view: undefined };
    expect(decide(pod({}, 'n'), unplanned)).toBeNull();
    expect(decide(pod({}, 'n', false), unplanned)).toBeUndefined();
    expect(decide(pod(), unplanned)).toBeUndefined();
  });
});
