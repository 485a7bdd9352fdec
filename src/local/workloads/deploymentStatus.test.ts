import { describe, expect, it } from 'vitest';
import type { Deployment } from '../../api/kinds.ts';
import { untilDeadline } from './deploymentStatus.ts';

const NOW = Date.parse('2026-01-05T10:00:00Z');

function deployment(): Deployment {
  const template = { metadata: {}, spec: { containers: [] } };
  return {
    metadata: { name: 'web' },
    spec: { replicas: 2, progressDeadlineSeconds: 600, selector: {}, template },
  };
}

function statusSince(reason: string, lastUpdateTime: string): NonNullable<Deployment['status']> {
  const conditions = [{ type: 'Progressing', status: 'True' as const, reason, lastUpdateTime }];
  return { replicas: 2, updatedReplicas: 2, availableReplicas: 1, conditions };
}

describe('the next check of the progress deadline', () => {
  it('is a second after the deadline', () => {
    const status = statusSince('ReplicaSetUpdated', '2026-01-05T09:55:00Z');
    expect(untilDeadline(deployment(), status, NOW)).toBe(301_000);
  });

  it('is not due for a complete rollout that has lost a pod, for which it would repeat forever', () => {
    const status = statusSince('NewReplicaSetAvailable', '2026-01-05T09:00:00Z');
    expect(untilDeadline(deployment(), status, NOW)).toBeUndefined();
  });
});
