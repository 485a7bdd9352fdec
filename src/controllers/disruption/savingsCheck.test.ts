import { expect, it } from 'vitest';
import { memoryInstanceType } from '../../../test/fixtures/engine/memoryCloud.ts';
import { poolSpec } from '../../../test/fixtures/engine/workbench.ts';
import { Labels } from '../../api/labels.ts';
import type { NodeView } from '../../cluster/nodeView.ts';
import type { Command } from '../../disruption/command.ts';
import type { Pass } from '../../disruption/method.ts';
import { SavingsCheck } from './savingsCheck.ts';

const MINUTE = 60_000;
const instanceTypes = [memoryInstanceType('one', 2, 1)];
const pools = new Map([['default', { pool: { metadata: { name: 'default' }, spec: poolSpec() }, instanceTypes }]]);
const labels = { [Labels.instanceType]: 'one', [Labels.zone]: 'zone-1', [Labels.capacityType]: 'on-demand' };

/** Nodes at a dollar each, with one pod each. */
function pass(nodes: number, now: number): Pass {
  const view = { claim: {}, nodePool: 'default', labels, deleting: false, pods: [{ metadata: {} }] };
  const views = Array.from({ length: nodes }, () => view as unknown as NodeView);
  return { now, views, pools } as unknown as Pass;
}

const saving = (savingsPerHour: number): readonly Command[] => [{ savingsPerHour } as Command];

it('allows consolidation as long as it saves what was expected', () => {
  const check = new SavingsCheck();
  check.begin(saving(2), pass(10, 0));
  check.conclude(pass(8, MINUTE));
  expect(check.heldBackUntil(saving(1), pass(8, MINUTE))).toBeUndefined();
});

it('delays small savings after one that did not come true, longer each time, but not large ones', () => {
  const check = new SavingsCheck();
  check.begin(saving(1), pass(20, 0));
  check.conclude(pass(20, 10_000));
  expect(check.heldBackUntil(saving(1), pass(20, 10_000))).toBeUndefined();
  check.conclude(pass(20, MINUTE));
  expect(check.heldBackUntil(saving(1), pass(20, 1.9 * MINUTE))).toBe(2 * MINUTE);
  expect(check.heldBackUntil(saving(4), pass(20, 1.9 * MINUTE))).toBeUndefined();
  expect(check.heldBackUntil(saving(1), pass(20, 2 * MINUTE))).toBeUndefined();
  check.begin(saving(1), pass(20, 2 * MINUTE));
  check.conclude(pass(20, 3 * MINUTE));
  expect(check.heldBackUntil(saving(1), pass(20, 4.9 * MINUTE))).toBe(5 * MINUTE);
  expect(check.heldBackUntil(saving(1), pass(20, 5 * MINUTE))).toBeUndefined();
});

it('draws no conclusion while the cluster grows', () => {
  const check = new SavingsCheck();
  check.begin(saving(2), pass(10, 0));
  check.conclude(pass(12, MINUTE));
  expect(check.heldBackUntil(saving(1), pass(12, MINUTE))).toBeUndefined();
});

it('draws no conclusion when demand returned in between and left again', () => {
  const check = new SavingsCheck();
  check.begin(saving(2), pass(10, 0));
  check.forget();
  check.conclude(pass(10, 4 * MINUTE));
  expect(check.heldBackUntil(saving(1), pass(10, 4 * MINUTE))).toBeUndefined();
});
