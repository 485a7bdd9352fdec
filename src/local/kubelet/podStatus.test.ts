import { expect, it } from 'vitest';
import type { Pod } from '../../api/kinds.ts';
import { creatingStatus, podAddress, readinessDelay, runningStatus } from './podStatus.ts';

const AT = '2026-01-01T00:00:00Z';
const PLACE = { hostIP: '10.224.0.4', podIP: '10.244.0.2' };
const pod = (labels: Record<string, string>, spec: object = {}): Pod => ({
  metadata: { name: 'p', uid: 'p', labels },
  spec: { containers: [{ name: 'c', image: 'nginx' }], ...spec },
});
const statusOf = (labels: Record<string, string>) =>
  runningStatus(pod(labels), AT, PLACE, readinessDelay(pod(labels)) === 0);
const trueOf = (labels: Record<string, string>) =>
  statusOf(labels)?.conditions?.flatMap(({ type, status }) => (status === 'True' ? [type] : []));

it('reports a running, ready pod', () => {
  expect(statusOf({})).toMatchObject({ phase: 'Running', containerStatuses: [{ name: 'c', ready: true }] });
  expect(trueOf({})).toEqual(['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled']);
});

it('reports a running pod with the label of kwok for it as never ready', () => {
  const labels = { 'kwok.x-k8s.io/stage': 'unhealthy' };
  expect(statusOf(labels)).toMatchObject({ phase: 'Running', containerStatuses: [{ name: 'c', ready: false }] });
  expect(trueOf(labels)).toEqual(['PodReadyToStartContainers', 'Initialized', 'PodScheduled']);
});

it('reports containers that are being created', () => {
  const initContainers = [{ name: 'first', image: 'busybox' }];
  expect(creatingStatus(pod({}), AT, PLACE)).toMatchObject({
    phase: 'Pending',
    hostIP: '10.224.0.4',
    conditions: [
      { type: 'PodReadyToStartContainers', status: 'False' },
      { type: 'Initialized', status: 'True' },
      {
        type: 'Ready',
        status: 'False',
        reason: 'ContainersNotReady',
        message: 'containers with unready status: [c]',
      },
      { type: 'ContainersReady', status: 'False' },
      { type: 'PodScheduled', status: 'True' },
    ],
    containerStatuses: [
      { name: 'c', image: 'nginx', ready: false, state: { waiting: { reason: 'ContainerCreating' } } },
    ],
  });
  expect(creatingStatus(pod({}, { initContainers }), AT, PLACE)).toMatchObject({
    initContainerStatuses: [{ name: 'first', state: { waiting: { reason: 'PodInitializing' } } }],
    containerStatuses: [{ name: 'c', state: { waiting: { reason: 'PodInitializing' } } }],
  });
});

it.each([
  ['nginx', 'docker.io/library/nginx:latest', 'docker.io/library/nginx@sha256:'],
  ['bitnami/redis:7', 'docker.io/bitnami/redis:7', 'docker.io/bitnami/redis@sha256:'],
  ['localhost:5000/app', 'localhost:5000/app:latest', 'localhost:5000/app@sha256:'],
  ['mcr.microsoft.com/aks/x:1', 'mcr.microsoft.com/aks/x:1', 'mcr.microsoft.com/aks/x@sha256:'],
])('reports the image %s with its full name', (image, full, id) => {
  const [status] =
    runningStatus(pod({}, { containers: [{ name: 'c', image }] }), AT, PLACE, true).containerStatuses ?? [];
  expect(status?.image).toBe(full);
  expect(status?.imageID.startsWith(id)).toBe(true);
});

it('does not assign an address twice', () => {
  const first = podAddress('a', () => false);
  expect(podAddress('a', (address) => address === first)).not.toBe(first);
  expect(() => podAddress('a', () => true)).toThrow('no pod address is left');
});
