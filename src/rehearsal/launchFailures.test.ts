import { expect, it } from 'vitest';
import { Kinds, type Event } from '../api/kinds.ts';
import type { KubeObject } from '../api/object.ts';
import type { Explanation } from '../ledger/explanation.ts';
import { kindKey } from './clusterObjects.ts';
import { withLaunchFailures } from './launchFailures.ts';
import { objectsKube } from './objectsKube.ts';

const NOW = Date.parse('2026-01-31T12:00:00Z');
const QUOTA = 'Operation could not be completed as it results in exceeding approved quota. Additional details - none';

const hopeful: Explanation = {
  object: { apiVersion: 'v1', kind: 'Pod', namespace: 'shop', name: 'web' },
  sentence: 'NodeClaim default-2 is on its way for it',
  constraint: 'promised',
  evidence: [],
  fixes: [],
};

const NOMINATED: Event = {
  metadata: { name: 'web.1', namespace: 'shop' },
  involvedObject: { kind: 'Pod', name: 'web' },
  type: 'Normal',
  reason: 'Nominated',
  message: 'Pod should schedule on: nodeclaim/default-0, nodeclaim/default-1',
};

function event(claim: string, time: string, reason = 'InsufficientCapacityError'): Event {
  return {
    metadata: { name: `${claim}.1`, namespace: 'default' },
    involvedObject: { kind: 'NodeClaim', name: claim },
    type: 'Warning',
    reason,
    message: `NodeClaim ${claim} event: ${QUOTA}`,
    lastTimestamp: time,
  };
}

const told = (explanation: Explanation, ...events: Event[]): Promise<Explanation> => {
  const pod = { metadata: { name: 'web', namespace: 'shop', creationTimestamp: '2026-01-31T11:55:00Z' } };
  const kinds = new Map<string, readonly KubeObject[]>([
    [kindKey(Kinds.Pod), [pod]],
    [kindKey(Kinds.Event), [NOMINATED, ...events]],
  ]);
  return withLaunchFailures(explanation, objectsKube({ time: NOW, kinds }), NOW);
};

it('says what the cloud has refused since the pod waits, beside what is tried next', async () => {
  const late = '2026-01-31T11:59:00Z';
  const ofOthers = event('other-1', late);
  const events = [event('default-0', '2026-01-31T11:50:00Z'), event('default-1', late), ofOthers];
  expect(await told(hopeful, ...events)).toMatchObject({
    constraint: 'launch-failures',
    sentence:
      'the cloud refused 1 instance of late (Operation could not be completed as it results in exceeding approved quota); now NodeClaim default-2 is on its way for it',
    evidence: [`default-1: ${QUOTA}`],
  });
});

it('leaves other answers alone', async () => {
  const late = '2026-01-31T11:59:00Z';
  expect(await told(hopeful, event('default-1', late, 'Unconsolidatable'))).toEqual(hopeful);
  const bound = { ...hopeful, constraint: 'bound' };
  expect(await told(bound, event('default-1', late))).toEqual(bound);
});
