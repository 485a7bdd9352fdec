import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Kinds, type Pod } from '../../api/kinds.ts';
import { instance, Simulation } from '../../../test/fixtures/local/simulation.ts';
import { isReady } from '../workloads/podState.ts';
import { wantedTaints } from './nodeHealth.ts';
import { evictAt } from './taintEviction.ts';

describe('wantedTaints', () => {
  it('returns the taints by conditions and keeps those of other writers', () => {
    const own = { key: 'team', value: 'a', effect: 'NoSchedule' };
    const node = {
      metadata: { name: 'n' },
      spec: { unschedulable: true, taints: [own, { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] },
      status: { conditions: [{ type: 'Ready', status: 'Unknown' as const }] },
    };
    expect(wantedTaints(node, 0).map(({ key, effect }) => `${key}:${effect}`)).toEqual([
      'team:NoSchedule',
      'node.kubernetes.io/unreachable:NoSchedule',
      'node.kubernetes.io/unreachable:NoExecute',
      'node.kubernetes.io/unschedulable:NoSchedule',
    ]);
  });
});

describe('evictAt', () => {
  const taints = [{ key: 'a', effect: 'NoExecute' as const }];
  const pod = (tolerations: NonNullable<Pod['spec']>['tolerations']): Pod => ({
    metadata: { name: 'p' },
    spec: { containers: [], ...(tolerations && { tolerations }) },
  });
  it('returns now without toleration, a later time, or undefined with unlimited toleration', () => {
    expect(evictAt(pod([]), taints, 100)).toBe(100);
    expect(evictAt(pod([{ key: 'a', operator: 'Exists', tolerationSeconds: 5 }]), taints, 100)).toBe(5_100);
    expect(evictAt(pod([{ operator: 'Exists' }]), taints, 100)).toBeUndefined();
  });
});

describe('a node', () => {
  let simulation: Simulation;
  beforeEach(async () => {
    simulation = new Simulation();
    await simulation.boot(instance('one'), instance('two'));
  });
  afterEach(() => simulation.stop());

  it('loses its pods when it is deleted, and their owner creates new ones', async () => {
    const labels = { app: 'web' };
    await simulation.create(Kinds.Deployment, {
      metadata: { name: 'web', namespace: 'default' },
      spec: {
        replicas: 4,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nginx' }] } },
      },
    });
    await simulation.until(async () => (await simulation.pods()).filter(isReady).length === 4);
    simulation.world.powerOff('one');
    await simulation.advance(90_000);
    const pods = await simulation.pods();
    expect(pods.filter(isReady).map(({ spec }) => spec?.nodeName)).toEqual(['two', 'two', 'two', 'two']);
  });

  it('has a taint while it is cordoned', async () => {
    const set = async (unschedulable: boolean | null): Promise<unknown> => {
      await simulation.kube.patch(Kinds.Node, { name: 'one' }, { type: 'merge', body: { spec: { unschedulable } } });
      await simulation.advance(1_000);
      return (await simulation.kube.get(Kinds.Node, { name: 'one' })).spec?.taints ?? [];
    };
    expect(await set(true)).toMatchObject([{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }]);
    expect(await set(null)).toEqual([]);
  });

  it('has a CSINode with the maximum number of disks of its VM size', async () => {
    const { spec } = await simulation.kube.get(Kinds.CSINode, { name: 'one' });
    expect(spec.drivers.map(({ name, allocatable }) => [name, allocatable?.count])).toEqual([
      ['disk.csi.azure.com', 8],
      ['file.csi.azure.com', undefined],
    ]);
  });
});
