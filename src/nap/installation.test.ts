import { beforeEach, describe, expect, it } from 'vitest';
import { Kinds } from '../api/kinds.ts';
import { SeededRandom } from '../clock/seededRandom.ts';
import { VirtualClock } from '../clock/virtualClock.ts';
import { LocalApiServer } from '../local/apiserver/localApiServer.ts';
import { installNodeProvisioning, type InstallationOptions } from './installation.ts';

const RELEASE = 'aks-managed-karpenter-overlay-base';

describe('what AKS puts into a cluster', () => {
  let server: LocalApiServer;
  beforeEach(() => {
    server = new LocalApiServer({ clock: new VirtualClock(0), random: new SeededRandom(1) });
  });

  const install = (defaultNodePools: InstallationOptions['defaultNodePools']): Promise<void> =>
    installNodeProvisioning(server.kube, { defaultNodePools, networkDataplane: 'azure' });
  const pools = async (): Promise<readonly string[]> =>
    (await server.kube.list(Kinds.NodePool)).items.map(({ metadata }) => metadata.name);

  it('is definitions of its own release, and none of another cloud', async () => {
    await install('None');
    const { items } = await server.kube.list(Kinds.CustomResourceDefinition);
    expect(items.map(({ metadata }) => metadata.name)).toEqual([
      'aksnodeclasses.karpenter.azure.com',
      'capacitybuffers.autoscaling.x-k8s.io',
      'nodeclaims.karpenter.sh',
      'nodeoverlays.karpenter.sh',
      'nodepools.karpenter.sh',
    ]);
    for (const { metadata } of items) {
      expect(metadata).toMatchObject({
        labels: { 'app.kubernetes.io/managed-by': 'Helm' },
        annotations: { 'meta.helm.sh/release-name': RELEASE, 'meta.helm.sh/release-namespace': 'kube-system' },
      });
    }
    expect(await pools()).toEqual([]);
  });

  it('includes the default pools, which stay when they are no longer wanted, and are created when they are wanted again', async () => {
    await install('Auto');
    expect(await pools()).toEqual(['default', 'system-surge']);
    await install('None');
    expect(await pools()).toEqual(['default', 'system-surge']);
    await server.kube.delete(Kinds.NodePool, { name: 'system-surge' });
    await install('None');
    expect(await pools()).toEqual(['default']);
    await install('Auto');
    expect(await pools()).toEqual(['default', 'system-surge']);
    // Only once: what a user deletes stays deleted.
    await server.kube.delete(Kinds.NodePool, { name: 'default' });
    await install('Auto');
    expect(await pools()).toEqual(['system-surge']);
  });
});
