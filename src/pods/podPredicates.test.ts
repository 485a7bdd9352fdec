import { describe, expect, it } from 'vitest';
import type { Pod, PodDisruptionBudget } from '../api/kinds.ts';
import { Annotations, Taints } from '../api/labels.ts';
import { HINT_ENTRIES } from '../api/placementHint.ts';
import { PodBudgets } from '../cluster/disruptionBudgets.ts';
import { disruptionShield, isDoNotDisrupt } from './doNotDisrupt.ts';
import { firstTier, forcedFrom, isDrainable, isWaitingEviction, mustForce } from '../cluster/drain.ts';
import { isActive, isProvisionable, isReschedulable } from './podPredicates.ts';

const NOW = Date.UTC(2026, 0, 1);
const at = (offset: number): string => new Date(NOW + offset).toISOString();

function pod(
  metadata: Partial<Pod['metadata']> = {},
  spec: Partial<Pod['spec']> = {},
  status: Pod['status'] = {},
): Pod {
  return { metadata: { name: 'p', namespace: 'default', ...metadata }, spec: { containers: [], ...spec }, status };
}

const owned = (apiVersion: string, kind: string) => ({ ownerReferences: [{ apiVersion, kind, name: 'o', uid: 'o' }] });
const unschedulable = { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }] };
const leaving = { deletionTimestamp: at(0) };
const hint = { managedFields: [...HINT_ENTRIES] };

describe('provisionable', () => {
  it.each<[string, Pod, boolean]>([
    ['found no node', pod({}, {}, unschedulable), true],
    ['has not been looked at', pod(), false],
    [
      'is held by a gate',
      pod({}, {}, { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }] }),
      false,
    ],
    ['has a node', pod({}, { nodeName: 'n' }, unschedulable), false],
    ['has a nominated node', pod({}, {}, { ...unschedulable, nominatedNodeName: 'n' }), false],
    ['has a hint of ours', pod(hint, {}, { ...unschedulable, nominatedNodeName: 'n' }), true],
    ['belongs to a DaemonSet', pod(owned('apps/v1', 'DaemonSet'), {}, unschedulable), false],
    ['is a mirror pod', pod(owned('v1', 'Node'), {}, unschedulable), false],
    ['belongs to a DaemonSet of another group', pod(owned('example.com/v1', 'DaemonSet'), {}, unschedulable), true],
    ['is going', pod(leaving, {}, unschedulable), false],
  ])('a pod that %s', (_what, each, expected) => expect(isProvisionable(each)).toBe(expected));
});

describe('reschedulable', () => {
  it.each<[string, Pod, boolean]>([
    ['runs', pod(), true],
    ['is going', pod(leaving), false],
    ['is going but comes back under the same name', pod({ ...leaving, ...owned('apps/v1', 'StatefulSet') }), true],
    ['has ended', pod({}, {}, { phase: 'Failed' }), false],
    ['is a daemon', pod(owned('apps/v1', 'DaemonSet')), false],
  ])('a pod that %s', (_what, each, expected) => expect(isReschedulable(each)).toBe(expected));
});

describe('do-not-disrupt', () => {
  const shield = (value: string, startTime?: string) =>
    pod({ annotations: { [Annotations.doNotDisrupt]: value } }, {}, startTime ? { startTime } : {});

  it.each<[string, Pod, string, boolean]>([
    ['none', pod(), 'none', false],
    ['true', shield('true'), 'forever', true],
    ['a time that has not begun', shield('1h'), 'until', true],
    ['a time that runs', shield('1h', at(-3_599_000)), 'until', true],
    ['a time that is over', shield('1h', at(-3_600_000)), 'elapsed', false],
    ['nonsense', shield('TRUE'), 'invalid', false],
    ['no time at all', shield('0s'), 'invalid', false],
  ])('%s', (_what, each, state, active) => {
    expect(disruptionShield(each, NOW).state).toBe(state);
    expect(isDoNotDisrupt(each, NOW)).toBe(active);
  });
});

describe('drain', () => {
  it.each<[string, Pod, boolean, boolean]>([
    ['runs', pod(), true, true],
    ['has ended', pod({}, {}, { phase: 'Succeeded' }), true, false],
    [
      'tolerates the taint',
      pod({}, { tolerations: [{ key: Taints.disrupted.key, operator: 'Exists' }] }),
      false,
      false,
    ],
    ['tolerates all', pod({}, { tolerations: [{ operator: 'Exists' }] }), false, false],
    ['is a mirror pod', pod(owned('v1', 'Node')), false, false],
    ['wants to be left alone', pod({ annotations: { [Annotations.doNotDisrupt]: 'true' } }), true, true],
    ['has been going for a minute', pod({ deletionTimestamp: at(-60_000) }), true, true],
    ['has been going for longer', pod({ deletionTimestamp: at(-60_001) }), false, false],
  ])('a pod that %s', (_what, each, drainable, waits) => {
    expect(isDrainable(each, NOW)).toBe(drainable);
    expect(isWaitingEviction(each, NOW)).toBe(waits);
  });

  it('takes the lowest tier that has pods', () => {
    const critical = { priorityClassName: 'system-cluster-critical' };
    const daemon = pod(owned('apps/v1', 'DaemonSet'));
    const both = [pod({}, critical), daemon];
    expect(firstTier(both)).toEqual([daemon]);
    expect(firstTier([...both, pod()])).toEqual([pod()]);
    expect(firstTier([])).toEqual([]);
  });

  it('is in time for the grace period of a pod, and does not shorten the minimum', () => {
    const patient = pod({}, { terminationGracePeriodSeconds: 30 });
    expect(forcedFrom(patient, undefined)).toBeUndefined();
    expect(mustForce(patient, NOW + 30_001, NOW)).toBe(false);
    expect(mustForce(patient, NOW + 30_000, NOW)).toBe(true);
    expect(mustForce(pod(), NOW, NOW)).toBe(false);
    expect(mustForce(pod({ deletionTimestamp: at(60_000) }), NOW + 30_000, NOW)).toBe(true);
    expect(mustForce(pod({ deletionTimestamp: at(20_000) }), NOW + 30_000, NOW)).toBe(false);
    expect(mustForce(pod({ deletionTimestamp: at(1_000) }), NOW - 5_000, NOW)).toBe(false);
  });
});

describe('budgets', () => {
  const labelled = pod({ labels: { app: 'a' } });
  const budget = (spec: object, namespace = 'default'): PodDisruptionBudget =>
    ({
      metadata: { name: 'b', namespace },
      spec: { selector: { matchLabels: { app: 'a' } }, ...spec },
    }) as PodDisruptionBudget;

  it.each<[string, PodDisruptionBudget[], boolean]>([
    ['none', [], false],
    ['none may go', [budget({ maxUnavailable: 0 })], true],
    ['none in a hundred may go', [budget({ maxUnavailable: '0%' })], true],
    ['all must stay', [budget({ minAvailable: '100%' })], true],
    ['some must stay', [budget({ minAvailable: 3 })], false],
    ['two at once', [budget({ maxUnavailable: 1 }), budget({ maxUnavailable: 1 })], true],
    ['another namespace', [budget({ maxUnavailable: 0 }, 'other')], false],
    ['others', [budget({ maxUnavailable: 0, selector: { matchLabels: { app: 'b' } } })], false],
  ])('%s', (_what, budgets, blocked) => expect(new PodBudgets(budgets).isFullyBlocked(labelled)).toBe(blocked));

  it('allow eviction of a pod that is not ready, with AlwaysAllow', () => {
    const unready = { ...labelled, status: { conditions: [{ type: 'Ready', status: 'False' }] } };
    expect(
      new PodBudgets([budget({ maxUnavailable: 0, unhealthyPodEvictionPolicy: 'AlwaysAllow' })]).isFullyBlocked(
        unready,
      ),
    ).toBe(false);
    expect(new PodBudgets([budget({ maxUnavailable: 0 })]).isFullyBlocked(unready)).toBe(true);
  });
});

it('an active pod neither ends nor has ended', () => {
  expect([pod(), pod(leaving), pod({}, {}, { phase: 'Failed' })].map(isActive)).toEqual([true, false, false]);
});
