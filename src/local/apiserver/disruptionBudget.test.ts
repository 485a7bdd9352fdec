import { describe, expect, it } from 'vitest';
import { judgeEviction } from './disruptionBudget.ts';
import type { ApiObject, Fields } from './fields.ts';

const NOW = '2026-01-01T00:00:00Z';

function pod(options: { phase?: string; ready?: boolean; deleted?: boolean } = {}): ApiObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'p',
      namespace: 'default',
      labels: { app: 'web' },
      ...(options.deleted === true ? { deletionTimestamp: NOW } : {}),
    },
    status: {
      phase: options.phase ?? 'Running',
      conditions: [{ type: 'Ready', status: (options.ready ?? true) ? 'True' : 'False' }],
    },
  };
}

function budget(status: Fields, spec: Fields = {}, name = 'b'): ApiObject {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace: 'default', generation: 1 },
    spec: { selector: { matchLabels: { app: 'web' } }, ...spec },
    status: { observedGeneration: 1, currentHealthy: 3, desiredHealthy: 2, ...status },
  };
}

describe('eviction', () => {
  it('subtracts one allowed disruption and records the evicted pod', () => {
    const verdict = judgeEviction(pod(), [budget({ disruptionsAllowed: 2 })], NOW);
    expect(verdict.budget?.status).toMatchObject({ disruptionsAllowed: 1, disruptedPods: { p: NOW } });
  });

  it('sets the DisruptionAllowed condition to False with the last allowed disruption', () => {
    const conditions = [{ type: 'DisruptionAllowed', status: 'True', reason: 'SufficientPods' }];
    const verdict = judgeEviction(pod(), [budget({ disruptionsAllowed: 1, conditions })], NOW);
    expect(verdict.budget?.status['conditions']).toMatchObject([{ status: 'False', reason: 'InsufficientPods' }]);
  });

  it('is rejected with 429 and its cause when no disruption is allowed', () => {
    const refused = (): unknown => judgeEviction(pod(), [budget({ disruptionsAllowed: 0 })], NOW);
    expect(refused).toThrow(
      expect.objectContaining({
        code: 429,
        reason: 'TooManyRequests',
        message: "Cannot evict pod as it would violate the pod's disruption budget.",
        status: expect.objectContaining({
          details: {
            causes: [
              {
                reason: 'DisruptionBudget',
                message: 'The disruption budget b needs 2 healthy pods and has 3 currently',
              },
            ],
          },
        }) as unknown,
      }) as Error,
    );
  });

  it('must be retried while the status of the budget is outdated', () => {
    const stale = budget({ disruptionsAllowed: 5, observedGeneration: 0 });
    expect(() => judgeEviction(pod(), [stale], NOW)).toThrow(
      expect.objectContaining({ code: 429, retryAfter: 10_000 }) as Error,
    );
  });

  it.each([
    ['pending pods', pod({ phase: 'Pending' })],
    ['finished pods', pod({ phase: 'Succeeded' })],
    ['pods that are being deleted', pod({ deleted: true })],
  ])('does not change the budget for %s', (_name, evicted) => {
    expect(judgeEviction(evicted, [budget({ disruptionsAllowed: 0 })], NOW)).toEqual({ budget: undefined });
  });

  it('is allowed for unhealthy pods while enough others are healthy', () => {
    expect(judgeEviction(pod({ ready: false }), [budget({ disruptionsAllowed: 0 })], NOW)).toEqual({
      budget: undefined,
    });
    const unhealthy = budget({ disruptionsAllowed: 0, currentHealthy: 1 });
    expect(() => judgeEviction(pod({ ready: false }), [unhealthy], NOW)).toThrow(
      expect.objectContaining({ code: 429 }) as Error,
    );
    const always = budget({ disruptionsAllowed: 0, currentHealthy: 1 }, { unhealthyPodEvictionPolicy: 'AlwaysAllow' });
    expect(judgeEviction(pod({ ready: false }), [always], NOW)).toEqual({ budget: undefined });
  });

  it('fails when two budgets cover the pod', () => {
    const two = [budget({ disruptionsAllowed: 1 }), budget({ disruptionsAllowed: 1 }, {}, 'c')];
    expect(() => judgeEviction(pod(), two, NOW)).toThrow('more than one PodDisruptionBudget');
  });
});
