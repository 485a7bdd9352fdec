import { expect, it } from 'vitest';
import type { Node, Pod } from '../../api/kinds.ts';
import { NodeInfo } from './nodeInfo.ts';
import { isWorthTrying, nodeNews, type Setback } from './nodeNews.ts';
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

function isTried(now: Node, before: Node | undefined, setback: Setback, of: Pod = pod()): boolean {
  const news = nodeNews(new NodeInfo(now), now, before);
  return news !== undefined && isWorthTrying(podInfo(of), setback, news);
}

it('is no news when nothing changed that decides which pods fit', () => {
  const before = node([TAINT]);
  expect(nodeNews(new NodeInfo(before), { ...before, metadata: { ...before.metadata, annotations: {} } }, before)).toBe(
    undefined,
  );
});

it.each([
  ['lost one of two taints', node([NOT_READY]), node([TAINT, NOT_READY]), false],
  ['lost its last taint', node([]), node([NOT_READY]), true],
  ['came with a taint', node([TAINT]), undefined, false],
  ['came without one', node([]), undefined, true],
  ['has other labels and a taint', node([TAINT], '4', { zone: 'a' }), node([TAINT]), false],
])('tries pods that taints kept out when a node %s: %#', (_name, now, before, tried) => {
  expect(isTried(now, before, 'kept out')).toBe(tried);
});

it('tries pods that were crowded out when a node comes, and when one grows', () => {
  expect(isTried(node([TAINT]), undefined, 'crowded out')).toBe(true);
  expect(isTried(node([TAINT], '8'), node([TAINT], '4'), 'crowded out')).toBe(true);
  expect(isTried(node([TAINT]), node([TAINT, NOT_READY]), 'crowded out')).toBe(false);
});

it('counts the taints that a pod tolerates as none', () => {
  expect(isTried(node([TAINT]), undefined, 'kept out', pod([{ operator: 'Exists' }]))).toBe(true);
});
