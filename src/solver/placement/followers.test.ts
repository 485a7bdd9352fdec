import { describe, expect, it } from 'vitest';
import { classOf, placementDraft, podAffinity } from '../../../test/fixtures/solver/placementDraft.ts';
import { testPod } from '../../../test/fixtures/solver/testObjects.ts';
import type { Pod } from '../../api/kinds.ts';
import { Labels } from '../../api/labels.ts';
import { followersOf, NO_FOLLOWERS } from './followers.ts';

const pod = (app: string, spec: object = {}): Pod => testPod(app, '1', '1Gi', spec, { labels: { app } });

/** By name of a pod: the names of pods with affinity to it. */
function followers(...pods: Pod[]): Record<string, string[]> {
  const draft = placementDraft(pods);
  const found = followersOf(draft.compiled.classes);
  return Object.fromEntries(
    pods.map(({ metadata }) => [
      metadata.name,
      (found.get(classOf(draft, metadata.name)) ?? []).map(({ podClass }) => podClass.pods[0]?.metadata.name ?? ''),
    ]),
  );
}

describe('followers', () => {
  it.each([Labels.hostname, Labels.zone])('are pods with affinity to others by %s', (key) => {
    const follower = pod('follower', podAffinity('podAffinity', key, 'leader'));
    expect(followers(pod('leader'), follower, pod('other'))).toEqual({ leader: ['follower'], follower: [], other: [] });
  });

  it('are not pods with affinity to their own kind', () => {
    expect(followers(pod('own', podAffinity('podAffinity', Labels.zone, 'own')))).toEqual({ own: [] });
  });

  it('are not pods whose affinity is only preferred', () => {
    const term = { topologyKey: Labels.zone, labelSelector: { matchLabels: { app: 'leader' } } };
    const preferred = [{ weight: 1, podAffinityTerm: term }];
    const wishing = pod('wishing', {
      affinity: { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } },
    });
    const { compiled } = placementDraft([pod('leader'), wishing]);
    expect(followersOf(compiled.classes)).toBe(NO_FOLLOWERS);
  });
});
