import type { Pod } from 'kubernetes-types/core/v1.js';
import { describe, expect, it } from 'vitest';
import { podRequirements, strictPodRequirements } from './podRequirements.ts';

const pod: Pod = {
  spec: {
    containers: [],
    nodeSelector: { 'beta.kubernetes.io/arch': 'arm64' },
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: 'team', operator: 'In', values: ['a', 'b'] }] },
            { matchExpressions: [{ key: 'team', operator: 'In', values: ['c'] }] },
          ],
        },
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 1, preference: { matchExpressions: [{ key: 'light', operator: 'Exists' }] } },
          { weight: 9, preference: { matchExpressions: [{ key: 'team', operator: 'NotIn', values: ['a'] }] } },
          { weight: 9, preference: { matchExpressions: [{ key: 'late', operator: 'Exists' }] } },
        ],
      },
    },
  },
};

describe('pod requirements', () => {
  it('take the selector and the first required term strictly', () => {
    expect(strictPodRequirements(pod).toString()).toBe('kubernetes.io/arch In [arm64], team In [a b]');
  });

  it('take the heaviest preference for required, the first of equals, and leave the pod alone', () => {
    const before = structuredClone(pod);
    expect(podRequirements(pod).toString()).toBe('kubernetes.io/arch In [arm64], team In [b]');
    expect(pod).toEqual(before);
  });

  it('are empty for a pod that asks for nothing', () => {
    expect(podRequirements({ spec: { containers: [] } }).size).toBe(0);
    expect(strictPodRequirements({}).size).toBe(0);
  });

  it('cannot be met when an operator is unknown', () => {
    const terms = [{ matchExpressions: [{ key: 'team', operator: 'Near', values: ['a'] }] }];
    const odd: Pod = {
      spec: {
        containers: [],
        affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } } },
      },
    };
    const requirements = strictPodRequirements(odd);
    expect(requirements.get('team').has('a')).toBe(false);
    expect(requirements.get('team').allowsAbsence).toBe(false);
  });
});
