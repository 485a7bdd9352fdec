import type { Container, ContainerStatus, Pod, PodCondition, PodSpec } from 'kubernetes-types/core/v1.js';
import { describe, expect, it } from 'vitest';
import { formatResources } from '../units/resources.ts';
import { podLimits, podRequests } from './podRequests.ts';

type List = Record<string, string>;

const container = (name: string, requests: List, more: Partial<Container> = {}): Container => ({
  name,
  resources: { requests },
  ...more,
});
const sidecar = (name: string, requests: List): Container => container(name, requests, { restartPolicy: 'Always' });
const requestsOf = (pod: Pod): List => formatResources(podRequests(pod));
const podOf = (spec: Partial<PodSpec> & { resources?: { requests?: List; limits?: List } }): Pod => {
  const whole: PodSpec = { containers: [], ...spec };
  return { spec: whole };
};

describe('podRequests', () => {
  it('sums containers and counts the pod itself', () => {
    expect(requestsOf(podOf({ containers: [container('a', { cpu: '1', memory: '1Gi' })] }))).toEqual({
      cpu: '1',
      memory: '1Gi',
      pods: '1',
    });
    const containers = [container('a', { cpu: '100m' }), container('b', { cpu: '1', memory: '1Gi' }), { name: 'c' }];
    expect(requestsOf(podOf({ containers }))).toEqual({ cpu: '1100m', memory: '1Gi', pods: '1' });
    expect(requestsOf({})).toEqual({ pods: '1' });
  });

  it('takes the larger of running and of each init container', () => {
    const pod = podOf({
      initContainers: [container('i', { cpu: '3' }), container('j', { cpu: '2', memory: '4Gi' })],
      containers: [container('a', { cpu: '1', memory: '5Gi' })],
    });
    expect(requestsOf(pod)).toEqual({ cpu: '3', memory: '5Gi', pods: '1' });
  });

  it('adds sidecars to what runs, and to init containers that start after them', () => {
    const containers = [container('a', { cpu: '1' })];
    const before = podOf({ containers, initContainers: [container('i', { cpu: '3' }), sidecar('s', { cpu: '1' })] });
    expect(requestsOf(before)['cpu']).toBe('3');
    const after = podOf({ containers, initContainers: [sidecar('s', { cpu: '1' }), container('i', { cpu: '3' })] });
    expect(requestsOf(after)['cpu']).toBe('4');
    const many = podOf({ containers, initContainers: [sidecar('s', { cpu: '2' }), sidecar('t', { cpu: '2' })] });
    expect(requestsOf(many)['cpu']).toBe('5');
  });

  it('lets pod-level requests stand for the sum, then adds overhead', () => {
    const pod = podOf({
      containers: [container('a', { cpu: '1', memory: '1Gi', 'nvidia.com/gpu': '1' })],
      resources: { requests: { cpu: '3', 'hugepages-2Mi': '4Mi', 'nvidia.com/gpu': '9' } },
      overhead: { cpu: '250m', 'ephemeral-storage': '1Gi' },
    });
    expect(requestsOf(pod)).toEqual({
      cpu: '3250m',
      memory: '1Gi',
      'nvidia.com/gpu': '1',
      'hugepages-2Mi': '4Mi',
      'ephemeral-storage': '1Gi',
      pods: '1',
    });
  });

  describe('while a resize is under way', () => {
    const status = (name: string, actuated: List, allocated: List): ContainerStatus => ({
      name,
      ready: true,
      restartCount: 0,
      image: '',
      imageID: '',
      resources: { requests: actuated },
      allocatedResources: allocated,
    });
    const pod = (conditions: PodCondition[]): Pod => ({
      spec: {
        containers: [container('a', { cpu: '4', memory: '1Gi' })],
        initContainers: [container('i', { cpu: '1' }), sidecar('s', { cpu: '1' })],
      },
      status: {
        conditions,
        containerStatuses: [status('a', { cpu: '1', memory: '2Gi' }, { cpu: '2' })],
        initContainerStatuses: [status('i', { cpu: '100' }, {}), status('s', { cpu: '2' }, {})],
      },
    });

    it('takes the largest of wanted, held and allocated', () => {
      expect(requestsOf(pod([]))).toEqual({ cpu: '6', memory: '2Gi', pods: '1' });
      const deferred = [{ type: 'PodResizePending', status: 'True', reason: 'Deferred' }];
      expect(requestsOf(pod(deferred))['cpu']).toBe('6');
    });

    it('ignores an infeasible resize', () => {
      const infeasible = [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }];
      expect(requestsOf(pod(infeasible))).toEqual({ cpu: '4', memory: '2Gi', pods: '1' });
    });
  });
});

describe('podLimits', () => {
  it('adds overhead only where there is a limit', () => {
    const pod = podOf({
      containers: [{ name: 'a', resources: { limits: { cpu: '1' } } }, { name: 'b' }],
      overhead: { cpu: '100m', memory: '1Gi' },
    });
    expect(formatResources(podLimits(pod))).toEqual({ cpu: '1100m', pods: '1' });
  });

  it('takes pod-level limits in place of the sum', () => {
    const pod = podOf({
      containers: [{ name: 'a', resources: { limits: { cpu: '1', memory: '1Gi' } } }],
      resources: { limits: { cpu: '2' } },
    });
    expect(formatResources(podLimits(pod))).toEqual({ cpu: '2', memory: '1Gi', pods: '1' });
  });
});
