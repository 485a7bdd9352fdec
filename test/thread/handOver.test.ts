/** Two versions of nodewright on one cluster, as during an update: the lease decides which one acts. */
import { expect, it } from 'vitest';
import { Kinds } from '../../src/api/kinds.ts';
import { environmentAt } from '../../src/azure/azureEnvironment.ts';
import { createAzureCloudProvider } from '../../src/azure/createAzureCloudProvider.ts';
import { createEngine } from '../../src/cli/compose/engine.ts';
import { SeededRandom } from '../../src/clock/seededRandom.ts';
import { silentLog } from '../../src/kube/log.ts';
import { noMetrics } from '../../src/kube/metrics.ts';
import { clusterAccess } from '../fixtures/local/clusterAccess.ts';
import { inProcessHttpClient } from '../fixtures/local/inProcessHttpClient.ts';
import { VirtualCluster } from '../fixtures/local/virtualCluster.ts';

const LEASE = { name: 'karpenter-leader-election', namespace: 'kube-system' };

interface Running {
  readonly stop: () => void;
  readonly ended: Promise<void>;
}

async function startVersion(cluster: VirtualCluster, version: string): Promise<Running> {
  const { clock, kube } = cluster;
  const { arm } = cluster.world;
  const common = { kube, clock, random: new SeededRandom(version), log: silentLog };
  const cloud = await createAzureCloudProvider({
    ...common,
    environment: environmentAt(arm.endpoint),
    httpClient: inProcessHttpClient(arm),
    credential: arm.credential,
    subscriptionId: arm.subscriptionId,
    location: arm.location,
    nodeResourceGroup: arm.nodeResourceGroup,
    clusterName: 'virtual',
    clusterEndpoint: 'https://virtual.invalid',
    ...clusterAccess,
    vnetSubnetId: arm.network.subnetId,
  });
  const { nodeClass, leftovers, refreshes, inPlaceUpdates, learned } = cloud;
  const engine = createEngine({
    ...common,
    cloud,
    nodeClass,
    leftovers,
    refreshes,
    inPlaceUpdates,
    learned,
    metrics: noMetrics,
    batchIdle: 1_000,
    batchMax: 10_000,
    leaderElection: { kube, ...LEASE, identity: version },
  });
  const end = new AbortController();
  return { stop: () => end.abort(), ended: engine.run(end.signal) };
}

it('hands over by lease between two versions, and buys nothing twice', { timeout: 300_000 }, async () => {
  const cluster = await VirtualCluster.start();
  // Nothing is moved meanwhile, so that every node is one that was bought for pods.
  const body = { spec: { disruption: { consolidateAfter: 'Never' } } };
  await cluster.kube.patch(Kinds.NodePool, { name: 'default' }, { type: 'merge', body });
  const holder = async (): Promise<string> => (await cluster.kube.get(Kinds.Lease, LEASE)).spec?.holderIdentity ?? '';
  const claims = async () => (await cluster.kube.list(Kinds.NodeClaim)).items;
  const old = await startVersion(cluster, 'old');
  await cluster.advance(1);
  const next = await startVersion(cluster, 'next');
  await cluster.advance(1);
  expect(await holder()).toBe('old');
  await cluster.deploy('before', 4, '3');
  await cluster.advance(2);
  expect(await cluster.runningPods()).toBe(4);
  const bought = (await claims()).map(({ metadata }) => metadata.uid);
  expect(bought.length).toBeGreaterThan(0);
  // Pods come while neither of them has the lease.
  old.stop();
  await cluster.deploy('between', 4, '3');
  await cluster.finish(old.ended);
  await cluster.advance(3);
  expect(await holder()).toBe('next');
  expect(await cluster.runningPods()).toBe(8);
  const after = await claims();
  // What the old one bought stays, and every claim has a node with pods.
  expect(after.map(({ metadata }) => metadata.uid)).toEqual(expect.arrayContaining(bought));
  const { items: pods } = await cluster.kube.list(Kinds.Pod, { namespace: 'default' });
  const used = new Set(pods.map(({ spec }) => spec?.nodeName));
  expect(after.filter(({ status }) => !used.has(status?.nodeName)).map(({ metadata }) => metadata.name)).toEqual([]);
  next.stop();
  await cluster.finish(next.ended);
  await cluster.stop();
});
