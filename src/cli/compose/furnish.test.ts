import { describe, expect, it } from 'vitest';
import { Kinds } from '../../api/kinds.ts';
import { SeededRandom } from '../../clock/seededRandom.ts';
import { VirtualClock } from '../../clock/virtualClock.ts';
import { LocalApiServer } from '../../local/apiserver/localApiServer.ts';
import { furnishCluster } from './furnish.ts';

describe('the pods of kube-system in a new cluster', () => {
  const start = (hasSystemPool: boolean) => {
    const clock = new VirtualClock(0);
    const { kube } = new LocalApiServer({ clock, random: new SeededRandom(1) });
    const dataplane = { networkDataplane: 'cilium' };
    const end = new AbortController();
    const done = furnishCluster({ kube, clock, dataplane, hasSystemPool: () => hasSystemPool }, end.signal);
    const deployments = async (): Promise<readonly string[]> =>
      (await kube.list(Kinds.Deployment)).items.map(({ metadata }) => metadata.name);
    return { clock, kube, done, deployments };
  };

  it('wait for a node of the system pool, so that none is bought for them', async () => {
    const { clock, kube, done, deployments } = start(true);
    await clock.advance(60_000);
    expect(await deployments()).toEqual([]);
    await kube.create(Kinds.Node, {
      metadata: { name: 'aks-nodepool1-0', labels: { 'kubernetes.azure.com/mode': 'system' } },
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    });
    await clock.advance(2_000);
    await done;
    expect(await deployments()).toContain('coredns');
  });

  it('come at once where no agent pool is for them: system-surge gets nodes', async () => {
    const { done, deployments } = start(false);
    await done;
    expect(await deployments()).toContain('coredns');
  });
});
