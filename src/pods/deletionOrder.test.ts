import { expect, it } from 'vitest';
import type { Pod } from '../api/kinds.ts';
import { Annotations } from '../api/labels.ts';
import { inDeletionOrder } from './deletionOrder.ts';

const NOW = Date.UTC(2026, 0, 2);
const ago = (seconds: number): string => new Date(NOW - seconds * 1_000).toISOString();

interface Sketch {
  readonly node?: string;
  readonly phase?: string;
  readonly readyFor?: number;
  readonly cost?: string;
}

function pod(name: string, { node = name, phase = 'Running', readyFor = 1_000, cost }: Sketch = {}): Pod {
  const ready = { type: 'Ready', status: 'True', lastTransitionTime: ago(readyFor) };
  return {
    metadata: {
      name,
      uid: name,
      creationTimestamp: ago(readyFor + 1),
      ...(cost !== undefined && { annotations: { [Annotations.podDeletionCost]: cost } }),
    },
    spec: { containers: [], ...(node && { nodeName: node }) },
    status: { phase, conditions: readyFor > 0 ? [ready] : [] },
  };
}

const order = (...pods: readonly Pod[]): readonly string[] =>
  inDeletionOrder(pods, pods, NOW).map(({ metadata }) => metadata.name);

it('deletes pods that are unscheduled, not running, not ready, of low cost, beside others, then young ones', () => {
  const sorted = [
    pod('placed nowhere', { node: '', phase: 'Pending', readyFor: 0 }),
    pod('starting', { phase: 'Pending', readyFor: 0 }),
    pod('not ready', { readyFor: 0 }),
    pod('of low cost', { cost: '-1' }),
    pod('beside another', { node: 'shared', readyFor: 5_000 }),
    pod('the other', { node: 'shared', readyFor: 50_000 }),
    pod('young', { readyFor: 10 }),
    pod('old', { readyFor: 9_000 }),
    pod('of high cost', { readyFor: 1, cost: '10' }),
  ];
  expect(order(...[...sorted].reverse())).toEqual(sorted.map(({ metadata }) => metadata.name));
});

it('counts ages by powers of two, and takes those of one power by their uid', () => {
  expect(order(pod('b', { readyFor: 1_000 }), pod('a', { readyFor: 1_050 }))).toEqual(['a', 'b']);
});
