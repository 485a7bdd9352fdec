import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderCrds } from '../../src/api/crds.ts';
import { NodeClaimConditions } from '../../src/api/conditionTypes.ts';
import { findCondition } from '../../src/api/conditions.ts';
import { Kinds } from '../../src/api/kinds.ts';
import { Labels, Taints } from '../../src/api/labels.ts';
import { environmentAt } from '../../src/azure/azureEnvironment.ts';
import { createAzureCloudProvider } from '../../src/azure/createAzureCloudProvider.ts';
import { createEngine } from '../../src/cli/compose/engine.ts';
import { ScaledClock } from '../../src/clock/scaledClock.ts';
import { SystemClock } from '../../src/clock/systemClock.ts';
import { systemRandom } from '../../src/clock/systemRandom.ts';
import { HttpKube } from '../../src/kube/httpKube.ts';
import { loadKubeconfig } from '../../src/kube/kubeconfig.ts';
import type { Kube } from '../../src/kube/kube.ts';
import { silentLog } from '../../src/kube/log.ts';
import { noMetrics } from '../../src/kube/metrics.ts';
import { LocalWorld } from '../../src/local/localWorld.ts';
import { defaultNodeClass, defaultPools } from '../../src/nap/defaultPools.ts';
import { eventually } from '../controlplane/eventually.ts';
import { clusterAccess } from '../fixtures/local/clusterAccess.ts';

/** Real sockets and real time: a busy machine is slow, but not wrong. */
const PATIENCE = 140_000;

/** The whole product once around, over real sockets: a pod pends, a VM is bought, runs it, and is given back. */
describe('a pending pod', { timeout: 300_000 }, () => {
  const stop = new AbortController();
  const running: Promise<void>[] = [];
  let folder: string;
  let world: LocalWorld;
  let kube: Kube;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'nodewright-thread-'));
    const clock = new ScaledClock(new SystemClock(), 5);
    const random = systemRandom;
    world = new LocalWorld({ clock, random, log: silentLog });
    const endpoint = await world.listen(0);
    for (const crd of renderCrds()) await world.kube.create(Kinds.CustomResourceDefinition, crd);
    await world.kube.create(Kinds.AKSNodeClass, defaultNodeClass);
    for (const pool of defaultPools) await world.kube.create(Kinds.NodePool, pool);
    await world.writeKubeconfig(join(folder, 'kubeconfig'));
    kube = new HttpKube({ config: await loadKubeconfig({ path: join(folder, 'kubeconfig') }), clock, random });
    const { arm } = world;
    const cloud = await createAzureCloudProvider({
      environment: environmentAt(arm.endpoint),
      caPem: arm.caPem,
      credential: arm.credential,
      subscriptionId: arm.subscriptionId,
      location: arm.location,
      nodeResourceGroup: arm.nodeResourceGroup,
      clusterName: 'thread',
      clusterEndpoint: endpoint.url,
      ...clusterAccess,
      vnetSubnetId: arm.network.subnetId,
      kube,
      clock,
      random,
    });
    const engine = createEngine({
      kube,
      cloud,
      nodeClass: cloud.nodeClass,
      leftovers: cloud.leftovers,
      refreshes: cloud.refreshes,
      clock,
      random,
      log: silentLog,
      metrics: noMetrics,
      batchIdle: 1_000,
      batchMax: 10_000,
      placementHints: { schedulers: ['default-scheduler'] },
    });
    running.push(world.run(stop.signal), engine.run(stop.signal));
  });

  afterAll(async () => {
    stop.abort();
    await Promise.allSettled(running);
    await world.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('becomes a VM, a Node and a running pod', async () => {
    await kube.create(Kinds.Deployment, {
      metadata: { name: 'web', namespace: 'default' },
      spec: {
        replicas: 6,
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web' } },
          spec: {
            containers: [{ name: 'main', image: 'nginx', resources: { requests: { cpu: '900m', memory: '1Gi' } } }],
          },
        },
      },
    });
    await eventually(
      'six pods run, and their nodes are found ready',
      async () => {
        const { items } = await kube.list(Kinds.Pod, { namespace: 'default' });
        const { items: joined } = await kube.list(Kinds.Node);
        const isSettled = joined.every(({ metadata }) => metadata.labels?.[Labels.initialized] === 'true');
        return isSettled && items.filter(({ status }) => status?.phase === 'Running').length === 6 ? true : undefined;
      },
      PATIENCE,
    );
    // Pods may run on a node before nodewright calls it initialized.
    const nodes = await eventually(
      'the nodes are initialized',
      async () => {
        const { items } = await kube.list(Kinds.Node);
        return items.every(({ metadata }) => metadata.labels?.[Labels.initialized] === 'true') ? items : undefined;
      },
      PATIENCE,
    );
    const claims = (await kube.list(Kinds.NodeClaim)).items;
    const vms = world.arm.virtualMachines();
    expect(claims.length).toBeGreaterThan(0);
    expect(new Set(nodes.map(({ spec }) => spec?.providerID))).toEqual(
      new Set(claims.map(({ status }) => status?.providerID)),
    );
    expect(vms.map(({ name }) => name).sort()).toEqual(claims.map(({ metadata }) => `aks-${metadata.name}`).sort());
    for (const node of nodes) {
      expect(node.metadata.labels).toMatchObject({
        [Labels.nodePool]: 'default',
        [Labels.registered]: 'true',
        [Labels.initialized]: 'true',
        [Labels.skuFamily]: 'D',
        [Labels.capacityType]: 'on-demand',
      });
      expect(node.spec?.taints ?? []).not.toContainEqual(expect.objectContaining({ key: Taints.unregistered.key }));
    }
    const judged = await eventually(
      'every claim may be consolidated',
      async () => {
        const { items } = await kube.list(Kinds.NodeClaim);
        return items.every((claim) => findCondition(claim, NodeClaimConditions.consolidatable)) ? items : undefined;
      },
      PATIENCE,
    );
    expect(judged.map((claim) => findCondition(claim, NodeClaimConditions.drifted)?.reason)).toEqual(
      judged.map(() => undefined),
    );
  });

  it('goes away with its VM when the claims are deleted', async () => {
    await kube.delete(Kinds.Deployment, { name: 'web', namespace: 'default' });
    await kube.deleteCollection(Kinds.NodeClaim, {});
    const left = await eventually(
      'nothing is left',
      async () => {
        const objects = [...(await kube.list(Kinds.NodeClaim)).items, ...(await kube.list(Kinds.Node)).items];
        const count = objects.length + world.arm.virtualMachines().length;
        return count === 0 ? count : undefined;
      },
      PATIENCE,
    );
    expect(left).toBe(0);
  });
});
