/** The composition root of `nodewright up`: the local world, and nodewright in it as it would run on AKS. */
import { setMaxListeners } from 'node:events';
import { renderCrds } from '../../api/crds.ts';
import { Kinds } from '../../api/kinds.ts';
import { createAzureCloudProvider } from '../../azure/createAzureCloudProvider.ts';
import { ScaledClock } from '../../clock/scaledClock.ts';
import { SystemClock } from '../../clock/systemClock.ts';
import { systemRandom } from '../../clock/systemRandom.ts';
import { HttpKube } from '../../kube/httpKube.ts';
import { loadKubeconfig } from '../../kube/kubeconfig.ts';
import type { Kube } from '../../kube/kube.ts';
import { noMetrics } from '../../kube/metrics.ts';
import { LocalWorld } from '../../local/localWorld.ts';
import { defaultNodeClass, defaultPools } from '../../nap/defaultPools.ts';
import { createJsonLog } from '../../server/jsonLog.ts';
import { openLogSink } from '../../server/logSink.ts';
import { buildInfo } from '../buildInfo.ts';
import type { RunLocalWorld, UpOptions } from './contract.ts';
import { createEngine } from './engine.ts';
import { WorldNarrator } from './narrator.ts';
import { claimStateDirectory, hasCode } from './stateDirectory.ts';

const CLUSTER_NAME = 'local';
/** Batches close sooner than in production: somebody is watching. */
const BATCH = { batchIdle: 1_000, batchMax: 10_000 };

export const runLocalWorld: RunLocalWorld = async (options, signal) => {
  const state = await claimStateDirectory(options.stateDirectory);
  const sink = openLogSink([state.log]);
  const systemClock = new SystemClock();
  const clock = options.speed === 1 ? systemClock : new ScaledClock(systemClock, options.speed);
  const log = createJsonLog({
    level: 'info',
    sink,
    failureSink: openLogSink(['stderr']),
    clock,
    commit: buildInfo().commit,
  });
  const world = new LocalWorld({ clock, random: systemRandom, log });
  try {
    const endpoint = await listen(world, options);
    await installCluster(world.kube);
    await world.writeKubeconfig(state.kubeconfig);
    const kube = new HttpKube({
      config: await loadKubeconfig({ path: state.kubeconfig }),
      clock: systemClock,
      random: systemRandom,
    });
    const { arm } = world;
    const cloud = await createAzureCloudProvider({
      endpoint: arm.endpoint,
      caPem: arm.caPem,
      credential: arm.credential,
      subscriptionId: arm.subscriptionId,
      location: arm.location,
      nodeResourceGroup: arm.nodeResourceGroup,
      clusterName: CLUSTER_NAME,
      clusterEndpoint: endpoint.url,
      clusterCaPem: endpoint.caPem,
      vnetSubnetId: arm.network.subnetId,
      kube,
      clock,
      random: systemRandom,
      log,
    });
    const engine = createEngine({
      kube,
      cloud,
      nodeClass: cloud.nodeClass,
      clock,
      random: systemRandom,
      log,
      metrics: noMetrics,
      ...BATCH,
    });
    greet(state.kubeconfig, state.log, endpoint.url, options);
    await runTogether(signal, [
      (stop) => world.run(stop),
      (stop) => engine.run(stop),
      (stop) => new WorldNarrator(world.kube, cloud, clock).run(stop),
    ]);
  } finally {
    await world.close();
    await state.release();
    sink.close();
  }
};

async function listen(world: LocalWorld, { port }: UpOptions): ReturnType<LocalWorld['listen']> {
  try {
    return await world.listen(port);
  } catch (error) {
    if (!hasCode(error, 'EADDRINUSE')) throw error;
    throw new Error(`port ${port} is taken; give another --port, or 0 for any free one`, { cause: error });
  }
}

/** What AKS has ready in a cluster with node auto-provisioning. */
async function installCluster(kube: Kube): Promise<void> {
  for (const crd of renderCrds()) await kube.create(Kinds.CustomResourceDefinition, crd);
  await kube.create(Kinds.AKSNodeClass, defaultNodeClass);
  for (const pool of defaultPools) await kube.create(Kinds.NodePool, pool);
}

function greet(kubeconfig: string, log: string, url: string, { headless }: UpOptions): void {
  const lines = [
    `nodewright ${buildInfo().version}: a local AKS is up at ${url}`,
    '',
    `  export KUBECONFIG=${kubeconfig}`,
    '',
    '  kubectl get nodepools,aksnodeclasses',
    '  kubectl create deployment hello --image=nginx --replicas=12',
    '  kubectl set resources deployment hello --requests=cpu=900m,memory=1Gi',
    '  kubectl get nodeclaims,nodes -o wide --watch',
    '',
    `Decisions are logged to ${log}. Ctrl-C stops everything.`,
    '',
  ];
  console.log((headless ? lines.slice(0, 3) : lines).join('\n'));
}

/** Runs all until `signal` aborts or one of them fails; then stops the others and waits for them. */
async function runTogether(
  signal: AbortSignal,
  parts: readonly ((stop: AbortSignal) => Promise<void>)[],
): Promise<void> {
  const failure = new AbortController();
  const stop = AbortSignal.any([signal, failure.signal]);
  setMaxListeners(0, stop);
  const results = await Promise.allSettled(
    parts.map(async (part) => {
      try {
        await part(stop);
      } catch (error) {
        failure.abort(error);
        throw error;
      }
    }),
  );
  const failed = results.find((result) => result.status === 'rejected');
  if (failed && !signal.aborted) throw failed.reason as Error;
}
