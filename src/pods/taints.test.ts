import type { Taint, Toleration } from 'kubernetes-types/core/v1.js';
import { describe, expect, it } from 'vitest';
import {
  formatTaint,
  isEphemeralTaint,
  mergeTaints,
  schedulingTaints,
  tolerates,
  untoleratedTaints,
  withoutTaints,
} from './taints.ts';

const gpu: Taint = { key: 'gpu', value: 'a100', effect: 'NoSchedule' };

describe('tolerates', () => {
  const cases: readonly (readonly [Toleration, boolean])[] = [
    [{ operator: 'Exists' }, true],
    [{ key: 'gpu', operator: 'Exists' }, true],
    [{ key: 'gpu', operator: 'Exists', effect: 'NoSchedule' }, true],
    [{ key: 'gpu', operator: 'Exists', effect: 'NoExecute' }, false],
    [{ key: 'gpu', value: 'a100' }, true],
    [{ key: 'gpu', operator: 'Equal', value: 'a100', effect: '' }, true],
    [{ key: 'gpu', operator: 'Equal', value: 'h100' }, false],
    [{ key: 'gpu' }, false],
    [{ key: 'cpu', operator: 'Exists' }, false],
    [{ key: 'gpu', operator: 'Gt', value: '1' }, false],
    [{ key: 'gpu', operator: 'Near', value: 'a100' }, false],
  ];
  it.each(cases)('%j: %s', (toleration, expected) => {
    expect(tolerates(toleration, gpu)).toBe(expected);
  });

  it('takes a missing value for an empty one', () => {
    expect(tolerates({ key: 'k', value: '' }, { key: 'k', effect: 'NoSchedule' })).toBe(true);
    expect(tolerates({ key: 'k' }, { key: 'k', value: '', effect: 'NoSchedule' })).toBe(true);
  });

  it.each([
    ['Lt', '5', '4', true],
    ['Lt', '5', '5', false],
    ['Gt', '5', '6', true],
    ['Gt', '5', '5', false],
    ['Gt', '-3', '-2', true],
    ['Gt', '9007199254740992', '9007199254740993', true],
    ['Gt', '05', '6', false],
    ['Gt', '5', '+6', false],
    ['Gt', '5', '9223372036854775808', false],
    ['Lt', '5', '', false],
  ])('%s %s against %s: %s', (operator, bound, value, expected) => {
    expect(tolerates({ key: 'k', operator, value: bound }, { key: 'k', value, effect: 'NoSchedule' })).toBe(expected);
  });
});

describe('taints', () => {
  it('lists every taint that is not tolerated, soft ones too', () => {
    const soft: Taint = { key: 'soft', effect: 'PreferNoSchedule' };
    expect(untoleratedTaints([gpu, soft], [{ key: 'other', operator: 'Exists' }])).toEqual([gpu, soft]);
    expect(untoleratedTaints([gpu, soft], [{ key: 'gpu', operator: 'Exists' }])).toEqual([soft]);
    expect(untoleratedTaints(undefined, undefined)).toEqual([]);
    expect([gpu, soft].map(formatTaint)).toEqual(['gpu=a100:NoSchedule', 'soft:PreferNoSchedule']);
  });

  it('merges and removes by key and effect', () => {
    const other: Taint = { key: 'gpu', value: 'h100', effect: 'NoSchedule' };
    const hard: Taint = { key: 'gpu', value: 'h100', effect: 'NoExecute' };
    expect(mergeTaints([gpu], [other, hard, hard])).toEqual([gpu, hard]);
    expect(withoutTaints([gpu, hard], [other])).toEqual([hard]);
  });

  it('knows the taints that go away by themselves', () => {
    expect(isEphemeralTaint({ key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' })).toBe(true);
    expect(isEphemeralTaint({ key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' })).toBe(false);
    expect(isEphemeralTaint({ key: 'readiness.k8s.io/network', effect: 'NoSchedule' })).toBe(true);
    expect(isEphemeralTaint(gpu)).toBe(false);
  });

  it('ignores startup and ephemeral taints only until a node is initialised', () => {
    const startup: Taint = { key: 'cilium', value: 'true', effect: 'NoSchedule' };
    const notReady: Taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
    const taints = [gpu, { ...startup, value: 'changed' }, notReady];
    expect(schedulingTaints(taints, { initialized: false, startupTaints: [startup] })).toEqual([gpu]);
    expect(schedulingTaints(taints, { initialized: true, startupTaints: [startup] })).toEqual(taints);
  });
});
