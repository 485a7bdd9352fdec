import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Deployment, ReplicaSet } from '../../api/kinds.ts';
import { nextSizes, rolloutBounds } from './rollout.ts';

const replicaSet = (name: string, replicas: number, available = replicas): ReplicaSet => ({
  metadata: { name },
  spec: { replicas, selector: {} },
  status: { replicas, availableReplicas: available },
});

const deployment = (replicas: number, rollingUpdate = {}): Deployment => ({
  metadata: { name: 'web' },
  spec: { replicas, selector: {}, template: {}, strategy: { type: 'RollingUpdate', rollingUpdate } },
});

describe('rolloutBounds', () => {
  it('rounds surge up and unavailability down', () => {
    expect(rolloutBounds(deployment(10))).toEqual({ maxSurge: 3, maxUnavailable: 2 });
  });

  it('sets maxUnavailable to 1 if both would be 0', () => {
    expect(rolloutBounds(deployment(3, { maxSurge: 0, maxUnavailable: '10%' }))).toEqual({
      maxSurge: 0,
      maxUnavailable: 1,
    });
  });
});

describe('nextSizes', () => {
  it('scales a new Deployment to its replicas', () => {
    expect(nextSizes(deployment(4), replicaSet('new', 0, 0), [])).toEqual(new Map([['new', 4]]));
  });

  it('starts a rolling update within maxSurge and maxUnavailable', () => {
    const sizes = nextSizes(deployment(12), replicaSet('new', 0, 0), [replicaSet('old', 12)]);
    expect(sizes).toEqual(
      new Map([
        ['new', 3],
        ['old', 9],
      ]),
    );
  });

  it('scales down ReplicaSets with unavailable pods first', () => {
    const sizes = nextSizes(deployment(4), replicaSet('new', 1, 0), [replicaSet('ok', 2), replicaSet('bad', 2, 0)]);
    expect(sizes.get('bad')).toBe(1);
    expect(sizes.has('ok')).toBe(false);
  });

  it('waits for the old pods of a Recreate deployment', () => {
    const recreate: Deployment = {
      ...deployment(3),
      spec: { replicas: 3, selector: {}, template: {}, strategy: { type: 'Recreate' } },
    };
    expect(nextSizes(recreate, replicaSet('new', 0, 0), [replicaSet('old', 3)])).toEqual(new Map([['old', 0]]));
    const draining = { ...replicaSet('old', 0), status: { replicas: 2 } };
    expect(nextSizes(recreate, replicaSet('new', 0, 0), [draining])).toEqual(new Map());
    expect(nextSizes(recreate, replicaSet('new', 0, 0), [replicaSet('old', 0)])).toEqual(new Map([['new', 3]]));
  });

  it('property: always ends, and is within its bounds at every step', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 0, max: 10 }),
        fc.integer({ min: 0, max: 10 }),
        fc.array(fc.integer({ min: 0, max: 15 }), { maxLength: 3 }),
        (replicas, maxSurge, maxUnavailable, shares) => {
          const target = deployment(replicas, { maxSurge, maxUnavailable });
          const bounds = rolloutBounds(target);
          let left = replicas;
          let old = shares.map((share, index) => {
            const size = Math.min(share, left);
            left -= size;
            return replicaSet(`old-${index}`, size);
          });
          let current = replicaSet('new', 0, 0);
          for (let step = 0; step < 400; step++) {
            const sizes = nextSizes(target, current, old);
            if (sizes.size === 0) break;
            // New pods become available before the next step; surplus pods are gone at once.
            const apply = (set: ReplicaSet): ReplicaSet =>
              replicaSet(set.metadata.name, sizes.get(set.metadata.name) ?? set.spec?.replicas ?? 0);
            const availableBefore = [current, ...old].reduce(
              (sum, set) =>
                sum + Math.min(set.status?.availableReplicas ?? 0, sizes.get(set.metadata.name) ?? Infinity),
              0,
            );
            const startedWith = [...shares].reduce((sum, share) => sum + share, 0);
            const least = startedWith >= replicas ? replicas - bounds.maxUnavailable : 0;
            expect(availableBefore).toBeGreaterThanOrEqual(least);
            current = apply(current);
            old = old.map(apply);
            const total = [current, ...old].reduce((sum, set) => sum + (set.spec?.replicas ?? 0), 0);
            expect(total).toBeLessThanOrEqual(replicas + bounds.maxSurge);
          }
          expect(current.spec?.replicas).toBe(replicas);
          expect(old.every((set) => set.spec?.replicas === 0)).toBe(true);
        },
      ),
    );
  });
});
