import type { LabelSelector } from 'kubernetes-types/meta/v1.js';
import { describe, expect, it } from 'vitest';
import { matchesLabelSelector } from './labelSelector.ts';

describe('matchesLabelSelector', () => {
  const labels = { app: 'web', tier: 'front' };
  const cases: readonly (readonly [LabelSelector | undefined, boolean])[] = [
    [undefined, false],
    [{}, true],
    [{ matchLabels: { app: 'web' } }, true],
    [{ matchLabels: { app: 'web', tier: 'back' } }, false],
    [{ matchExpressions: [{ key: 'app', operator: 'In', values: ['api', 'web'] }] }, true],
    [{ matchExpressions: [{ key: 'app', operator: 'In', values: ['api'] }] }, false],
    [{ matchExpressions: [{ key: 'none', operator: 'In', values: ['web'] }] }, false],
    [{ matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['web'] }] }, false],
    [{ matchExpressions: [{ key: 'none', operator: 'NotIn', values: ['web'] }] }, true],
    [{ matchExpressions: [{ key: 'app', operator: 'Exists' }] }, true],
    [{ matchExpressions: [{ key: 'constructor', operator: 'Exists' }] }, false],
    [{ matchExpressions: [{ key: 'app', operator: 'DoesNotExist' }] }, false],
    [{ matchExpressions: [{ key: 'none', operator: 'DoesNotExist' }] }, true],
    [{ matchExpressions: [{ key: 'app', operator: 'Like', values: ['web'] }] }, false],
    [{ matchLabels: { app: 'web' }, matchExpressions: [{ key: 'tier', operator: 'DoesNotExist' }] }, false],
  ];
  it.each(cases)('%j: %s', (selector, expected) => {
    expect(matchesLabelSelector(selector, labels)).toBe(expected);
  });

  it('takes missing labels for none', () => {
    expect(matchesLabelSelector({ matchLabels: { app: 'web' } }, undefined)).toBe(false);
    expect(matchesLabelSelector({}, undefined)).toBe(true);
  });
});
