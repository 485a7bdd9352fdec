import { expect, it } from 'vitest';
import type { Node, Pod } from '../../api/kinds.ts';
import { NodeInfo } from './nodeInfo.ts';
import { isWorthTrying, nodeChange, type FailureCause } from './nodeChange.ts';
import { podInfo } from './podInfo.ts';

const TAINT = { key: 'karpenter.sh/unregistered', effect: 'NoExecute' };
const NOT_READY = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };

const node = (taints: NonNullable<Node['spec']>['taints'], cpu = '4', labels: Record<string, string> = {}): Node => ({
  metadata: { name: 'x', labels },
  spec: { taints: taints ?? [] },
  status: { allocatable: { cpu } },
});

const pod = (tolerations: NonNullable<Pod['spec']>['tolerations'] = []): Pod => ({
  metadata: { name: 'p', namespace: 'default', uid: 'p' },
  spec: { containers: [], tolerations },
});

function isTried(now: Node, before: Node | undefined, cause: FailureCause, of: Pod = pod()): boolean {
  const change = nodeChange(new NodeInfo(now), now, before);
  return change !== undefined && isWorthTrying(podInfo(of), cause, change);
}

it('is undefined when nothing changed that decides which pods fit', () => {
  const before = node([TAINT]);
  expect(
    nodeChange(new NodeInfo(before), { ...before, metadata: { ...before.metadata, annotations: {} } }, before),
  ).toBe(undefined);
});

it.each([
  ['lost one of two taints', node([NOT_READY]), node([TAINT, NOT_READY]), false],
  ['lost its last taint', node([]), node([NOT_READY]), true],
  ['came with a taint', node([TAINT]), undefined, false],
  ['came without one', node([]), undefined, true],
  ['has other labels and a taint', node([TAINT], '4', { zone: 'a' }), node([TAINT]), false],
])('retries pods that taints kept out when a node %s: %#', (_name, now, before, tried) => {
  expect(isTried(now, before, 'taints')).toBe(tried);
});

it('retries pods that lacked room when a node is added, or its allocatable resources change', () => {
  expect(isTried(node([TAINT]), undefined, 'room')).toBe(true);
  expect(isTried(node([TAINT], '8'), node([TAINT], '4'), 'room')).toBe(true);
  expect(isTried(node([TAINT]), node([TAINT, NOT_READY]), 'room')).toBe(false);
});

it('ignores taints that the pod tolerates', () => {
  expect(isTried(node([TAINT]), undefined, 'taints', pod([{ operator: 'Exists' }]))).toBe(true);
});
