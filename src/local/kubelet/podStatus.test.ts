import { expect, it } from 'vitest';
import { runningStatus } from './podStatus.ts';

const AT = '2026-01-01T00:00:00Z';
const statusOf = (labels: Record<string, string>) =>
  runningStatus({ metadata: { name: 'p', uid: 'p', labels }, spec: { containers: [{ name: 'c' }] } }, AT, 'n');
const trueOf = (labels: Record<string, string>) =>
  statusOf(labels)?.conditions?.flatMap(({ type, status }) => (status === 'True' ? [type] : []));

it('says that a pod runs and is ready', () => {
  expect(statusOf({})).toMatchObject({ phase: 'Running', containerStatuses: [{ name: 'c', ready: true }] });
  expect(trueOf({})).toEqual(['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled']);
});

it('lets a pod run without ever being ready when its label asks for it, as kwok does', () => {
  const labels = { 'kwok.x-k8s.io/stage': 'unhealthy' };
  expect(statusOf(labels)).toMatchObject({ phase: 'Running', containerStatuses: [{ name: 'c', ready: false }] });
  expect(trueOf(labels)).toEqual(['PodReadyToStartContainers', 'Initialized', 'PodScheduled']);
});
