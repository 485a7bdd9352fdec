import { describe, expect, it } from 'vitest';
import {
  AKS_NODE_CLASS_CONDITIONS,
  ConditionSet,
  findCondition,
  NODE_CLAIM_CONDITIONS,
  NODE_OVERLAY_CONDITIONS,
  NODE_POOL_CONDITIONS,
} from './conditions.ts';
import type { Condition, ObjectMeta } from './object.ts';

const CREATED = '2026-01-01T00:00:00Z';
const at = (seconds: number) => Date.parse(CREATED) + seconds * 1000;

function set(conditions: Condition[] = [], metadata: Partial<ObjectMeta> = {}): ConditionSet {
  const object = {
    metadata: { name: 'claim', creationTimestamp: CREATED, generation: 1, ...metadata },
    status: { conditions },
  };
  return new ConditionSet(NODE_CLAIM_CONDITIONS, object, at(100));
}

const brief = (conditions: readonly Condition[]) =>
  conditions.map(({ type, status, reason, message }) => `${type}=${status} ${reason ?? ''} ${message ?? ''}`.trim());

describe('ConditionSet', () => {
  it('starts root and dependents as Unknown since the creation of the object', () => {
    const conditions = set().conditions;
    expect(brief(conditions)).toEqual([
      'Launched=Unknown AwaitingReconciliation object is awaiting reconciliation',
      'Registered=Unknown AwaitingReconciliation object is awaiting reconciliation',
      'Initialized=Unknown AwaitingReconciliation object is awaiting reconciliation',
      'Ready=Unknown ReconcilingDependents Launched=Unknown, Registered=Unknown, Initialized=Unknown',
    ]);
    expect(new Set(conditions.map((each) => each.lastTransitionTime))).toEqual(new Set([CREATED]));
  });

  it('is ready when all dependents are True at the current generation', () => {
    const claim = set();
    claim.setTrue('Launched', at(1));
    claim.setTrue('Registered', at(2));
    expect(claim.root).toMatchObject({ status: 'Unknown', message: 'Initialized=Unknown' });
    claim.setTrue('Initialized', at(3));
    expect(claim.root).toMatchObject({
      status: 'True',
      reason: 'Ready',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:03Z',
    });
    const newer = set(claim.conditions, { generation: 2 });
    newer.setTrue('Drifted', at(9), 'NodePoolDrifted');
    expect(newer.root).toMatchObject({
      status: 'Unknown',
      reason: 'ReconcilingDependents',
      message: 'Initialized=True, Registered=True, Launched=True',
    });
  });

  it('is not ready as soon as one dependent is False, and names the unhealthy ones, latest first', () => {
    const claim = set();
    claim.setFalse('Registered', at(5), 'MultipleNodesFound', 'two nodes');
    expect(claim.root).toMatchObject({
      status: 'False',
      reason: 'UnhealthyDependents',
      message: 'Registered=False, Launched=Unknown, Initialized=Unknown',
    });
  });

  it('moves the transition time only when the status changes, and tells whether anything changed', () => {
    const claim = set();
    expect(claim.setUnknown('Launched', at(7), 'LaunchFailed', 'no capacity')).toBe(true);
    expect(claim.get('Launched')).toMatchObject({ lastTransitionTime: CREATED, reason: 'LaunchFailed' });
    expect(claim.setUnknown('Launched', at(8), 'LaunchFailed', 'no capacity')).toBe(false);
    claim.setTrue('Launched', at(9));
    expect(claim.get('Launched')?.lastTransitionTime).toBe('2026-01-01T00:00:09Z');
  });

  it('starts other conditions now, sorts by transition with the root last, and clears them again', () => {
    const claim = set();
    claim.setTrue('Launched', at(20));
    claim.setTrue('Consolidatable', at(10));
    expect(claim.conditions.map((each) => each.type)).toEqual([
      'Registered',
      'Initialized',
      'Consolidatable',
      'Launched',
      'Ready',
    ]);
    expect(claim.clear('Consolidatable')).toBe(true);
    expect(claim.clear('Consolidatable')).toBe(false);
    expect(() => claim.clear('Launched')).toThrow('cannot be cleared');
  });

  it('brings all conditions of a deleting object up to its generation', () => {
    const old = set().conditions;
    const claim = set(old, { generation: 3, deletionTimestamp: CREATED });
    claim.setTrue('InstanceTerminating', at(30));
    expect(claim.conditions.every((each) => each.observedGeneration === 3)).toBe(true);
    const living = set(old, { generation: 3 });
    living.setTrue('Drifted', at(30));
    expect(living.get('Launched')?.observedGeneration).toBe(1);
  });

  it.each([
    [NODE_OVERLAY_CONDITIONS, ['ValidationSucceeded']],
    [NODE_POOL_CONDITIONS, ['ValidationSucceeded', 'NodeClassReady']],
    [
      AKS_NODE_CLASS_CONDITIONS,
      ['ImagesReady', 'KubernetesVersionReady', 'SubnetsReady', 'ValidationSucceeded', 'LocalDNSReady'],
    ],
  ])('is ready exactly when %j are all True', (types, needed) => {
    const object = { metadata: { name: 'x', creationTimestamp: CREATED, generation: 1 } };
    const conditions = new ConditionSet(types, object, at(0));
    conditions.setFalse('NodeRegistrationHealthy', at(1), 'RegistrationFailed', 'does not count');
    for (const type of needed) {
      expect(conditions.isTrue('Ready')).toBe(false);
      conditions.setTrue(type, at(2));
    }
    expect(conditions.isTrue('Ready')).toBe(true);
  });

  it('finds a condition without completing the set', () => {
    const metadata = { name: 'x' };
    expect(findCondition({ metadata }, 'Ready')).toBeUndefined();
    expect(findCondition({ metadata, status: { conditions: set().conditions } }, 'Ready')?.status).toBe('Unknown');
  });
});
