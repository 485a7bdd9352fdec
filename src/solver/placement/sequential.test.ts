import { describe, expect, it } from 'vitest';
import {
  existingNode,
  LARGE,
  offer,
  placedOn,
  placementDraft,
  plannedNodes,
  podAffinity,
  searchMode,
  SMALL,
} from '../../../test/fixtures/solver/placementDraft.ts';
import { testPod } from '../../../test/fixtures/solver/testObjects.ts';
import type { Pod } from '../../api/kinds.ts';
import { Labels } from '../../api/labels.ts';
import type { Draft, SearchMode } from '../draft.ts';
import { placeExactly } from '../placeExactly.ts';
import type { Snapshot } from '../problem.ts';

const pod = (name: string, cpu: string, spec: object = {}, app = name): Pod =>
  testPod(name, cpu, '1Gi', spec, { labels: { app } });

function placed(
  pods: readonly Pod[],
  world: Partial<Snapshot> = {},
  mode: Partial<SearchMode> = {},
  mostDollars = Number.POSITIVE_INFINITY,
): Draft {
  const draft = placementDraft(pods, world, mode);
  placeExactly(draft, searchMode(mode), () => true, mostDollars);
  return draft;
}

const waiting = (draft: Draft): string[] =>
  draft.waiting.flatMap(({ pods }) => pods.map(({ metadata }) => metadata.name));

describe('the exact path', () => {
  it('takes existing nodes first, then planned ones, then new ones', () => {
    const pods = ['a', 'b', 'c'].map((name) => pod(name, '1'));
    const draft = placed(pods, { nodes: [existingNode('there', 'z1', 1)], pools: [offer('p', [LARGE])] });
    expect(placedOn(draft)).toEqual({ there: ['a'] });
    expect(plannedNodes(draft)).toEqual([['large', ['b', 'c']]]);
  });

  it('lets a node grow into the cheapest type that holds its pods', () => {
    const pods = ['a', 'b', 'c'].map((name) => pod(name, '1'));
    expect(plannedNodes(placed(pods))).toEqual([['large', ['a', 'b', 'c']]]);
  });

  it('opens a new node where that is cheaper than growth, or growth is not allowed', () => {
    const pods = ['a', 'b', 'c'].map((name) => pod(name, '1'));
    for (const growth of ['own', 'least', 'none', 'fixed'] as const) {
      expect(plannedNodes(placed(pods, {}, { growth }))).toEqual([
        ['small', ['a']],
        ['small', ['b']],
        ['small', ['c']],
      ]);
    }
  });

  it('starts with the largest type and shrinks at the end, within the limits', () => {
    const pods = ['a', 'b', 'c'].map((name) => pod(name, '1'));
    const pools = [offer('p', [SMALL, LARGE], {}, { limits: { cpu: '8' } })];
    const draft = placed(pods, { pools }, { growth: 'largest' });
    expect(plannedNodes(draft)).toEqual([['large', ['a', 'b', 'c']]]);
    const alone = placed(pods.slice(0, 1), { pools }, { growth: 'largest' });
    expect(plannedNodes(alone)).toEqual([['small', ['a']]]);
    expect([...(alone.limitLeft[0] ?? [])]).toEqual([6000]);
  });

  it('leaves pods waiting when the limits have no room for them', () => {
    const pods = ['a', 'b', 'c'].map((name) => pod(name, '1'));
    const draft = placed(pods, { pools: [offer('p', [SMALL], {}, { limits: { cpu: '4' } })] });
    expect(plannedNodes(draft)).toHaveLength(2);
    expect(waiting(draft)).toEqual(['c']);
  });

  it('puts pods with affinity to each other on one node, even when the leader comes later', () => {
    const beside = podAffinity('podAffinity', Labels.hostname, 'leader');
    const draft = placed([pod('follower', '2', beside), pod('leader', '1')], {}, { leads: true });
    expect(plannedNodes(draft).map(([, names]) => names.sort())).toEqual([['follower', 'leader']]);
  });

  it('starts a leader’s node where its followers may come too', () => {
    const beside = { ...podAffinity('podAffinity', Labels.hostname, 'leader'), nodeSelector: { [Labels.zone]: 'z3' } };
    const pods = [pod('leader', '2'), pod('follower', '1', beside)];
    const led = placed(pods, {}, { leads: true, rank: ({ shape }) => (shape.terms.length > 0 ? 1 : 0) });
    expect(waiting(led)).toEqual([]);
    expect(plannedNodes(led)).toHaveLength(1);
  });

  it('places no more pods once its nodes cost too much', () => {
    const pods = ['a', 'b', 'c'].map((name) => pod(name, '1'));
    const draft = placed(pods, {}, { growth: 'none' }, 0.05);
    expect(plannedNodes(draft)).toHaveLength(2);
    expect(waiting(draft)).toEqual(['c']);
  });
});
