import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Kinds } from '../../api/kinds.ts';
import { container, instance, Simulation } from '../../../test/fixtures/local/simulation.ts';
import { loadAt } from './loadModel.ts';
import { desiredReplicas, ReplicaHistory } from './replicaHistory.ts';

const MINUTE = 60_000;

describe('loadAt', () => {
  it('interpolates linearly between steps', () => {
    const text = '0s=4, 10m=4, 20m=24';
    expect([0, 10, 15, 20, 99].map((minutes) => loadAt(text, 0, minutes * MINUTE))).toEqual([4, 4, 14, 24, 24]);
  });

  it('computes a daily curve with its maximum at the peak', () => {
    const text = 'daily(low=10, high=30, peak=20:00)';
    const at = (hour: number): number | undefined => loadAt(text, 0, hour * 60 * MINUTE);
    expect(at(20)).toBe(30);
    expect(at(8)).toBeCloseTo(10);
    expect(at(14)).toBeCloseTo(20);
  });

  it('returns undefined for invalid text', () => {
    expect(loadAt('lots', 0, 0)).toBeUndefined();
    expect(loadAt('daily(low=1)', 0, 0)).toBeUndefined();
  });
});

describe('desiredReplicas', () => {
  const autoscaler = {
    metadata: { name: 'web' },
    spec: { minReplicas: 2, maxReplicas: 100, scaleTargetRef: { kind: 'Deployment', name: 'web' } },
  };

  it('does not scale within its tolerance', () => {
    const decide = (ratio: number): number =>
      desiredReplicas(autoscaler, { replicas: 10, ready: 10, ratio }, new ReplicaHistory(), 0).desired;
    expect([1.1, 0.9, 1.11].map(decide)).toEqual([10, 10, 12]);
  });

  it('at most doubles, or adds four, in 15 s', () => {
    const history = new ReplicaHistory();
    expect(desiredReplicas(autoscaler, { replicas: 10, ready: 10, ratio: 9 }, history, 0).desired).toBe(20);
    expect(desiredReplicas(autoscaler, { replicas: 2, ready: 2, ratio: 9 }, new ReplicaHistory(), 0).desired).toBe(6);
  });

  it('scales down only to the largest recommendation of the last five minutes', () => {
    const history = new ReplicaHistory();
    const decide = (now: number, ratio: number): number =>
      desiredReplicas(autoscaler, { replicas: 10, ready: 10, ratio }, history, now).desired;
    expect(decide(0, 1)).toBe(10);
    expect(decide(MINUTE, 0.5)).toBe(10);
    expect(decide(5 * MINUTE + 1, 0.5)).toBe(5);
    expect(decide(5 * MINUTE + 2, 0.05)).toBe(5);
  });
});

describe('a HorizontalPodAutoscaler', () => {
  let simulation: Simulation;
  beforeEach(async () => {
    simulation = new Simulation();
    await simulation.boot(instance('one', { cpu: '64', memory: '256Gi' }));
  });
  afterEach(() => simulation.stop());

  it('scales up with the load and, after the stabilization window, down', async () => {
    const labels = { app: 'web' };
    const load = '0s=1, 5m=1, 6m=16, 20m=16, 21m=1';
    const target = { name: 'web', namespace: 'default' };
    await simulation.create(Kinds.Deployment, {
      metadata: { ...target, annotations: { 'local.nodewright.dev/load': load } },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [container({ cpu: '1', memory: '1Gi' })] } } as never,
      },
    });
    await simulation.create(Kinds.HorizontalPodAutoscaler, {
      metadata: target,
      spec: {
        minReplicas: 2,
        maxReplicas: 40,
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      },
    });
    const size = async (): Promise<number | undefined> =>
      (await simulation.kube.get(Kinds.Deployment, target)).spec?.replicas;
    await simulation.advance(4 * MINUTE);
    expect(await size()).toBe(2);
    await simulation.advance(8 * MINUTE);
    expect(await size()).toBe(20);
    const { status } = await simulation.kube.get(Kinds.HorizontalPodAutoscaler, target);
    expect(status).toMatchObject({ currentReplicas: 20, desiredReplicas: 20 });
    expect(status?.currentMetrics?.[0]?.resource?.current.averageUtilization).toBe(80);
    await simulation.advance(20 * MINUTE);
    expect(await size()).toBe(2);
  });

  async function autoscaled(requests: Record<string, string>): Promise<void> {
    const labels = { app: 'idle' };
    const metadata = { name: 'idle', namespace: 'default' };
    await simulation.create(Kinds.Deployment, {
      metadata,
      spec: {
        replicas: 4,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [container(requests)] } } as never,
      },
    });
    const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'idle' };
    await simulation.create(Kinds.HorizontalPodAutoscaler, { metadata, spec: { maxReplicas: 8, scaleTargetRef } });
  }
  const idle = { name: 'idle', namespace: 'default' };

  it('scales by the usage of kubectl top without a load annotation', async () => {
    await autoscaled({ cpu: '1', memory: '1Gi' });
    await simulation.advance(MINUTE);
    const before = await simulation.kube.get(Kinds.HorizontalPodAutoscaler, idle);
    expect(before.status?.currentMetrics?.[0]?.resource?.current).toEqual({
      averageUtilization: 5,
      averageValue: '50m',
    });
    await simulation.advance(10 * MINUTE);
    expect((await simulation.kube.get(Kinds.Deployment, idle)).spec?.replicas).toBe(1);
  });

  it('reports the container without a request when the target is a utilization', async () => {
    await autoscaled({ memory: '1Gi' });
    await simulation.advance(MINUTE);
    const { status } = await simulation.kube.get(Kinds.HorizontalPodAutoscaler, idle);
    expect(status?.conditions?.find(({ type }) => type === 'ScalingActive')).toMatchObject({
      status: 'False',
      reason: 'FailedGetResourceMetric',
      message: expect.stringMatching(/missing request for cpu in container main of Pod idle-/) as string,
    });
    expect((await simulation.kube.get(Kinds.Deployment, idle)).spec?.replicas).toBe(4);
  });
});
