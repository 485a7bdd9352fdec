/** The composition root of `nodewright up`: the local world, and nodewright in it as it would run on AKS. */
import { setMaxListeners } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { renderCrds } from '../../api/crds.ts';
import { Kinds } from '../../api/kinds.ts';
import { createAzureCloudProvider } from '../../azure/createAzureCloudProvider.ts';
import { SeededRandom } from '../../clock/seededRandom.ts';
import { ScaledClock } from '../../clock/scaledClock.ts';
import { SystemClock } from '../../clock/systemClock.ts';
import { systemRandom } from '../../clock/systemRandom.ts';
import type { CloudProvider } from '../../cloud/cloudProvider.ts';
import { HttpKube } from '../../kube/httpKube.ts';
import { loadKubeconfig } from '../../kube/kubeconfig.ts';
import type { Kube } from '../../kube/kube.ts';
import type { Log } from '../../kube/log.ts';
import { noMetrics } from '../../kube/metrics.ts';
import type { Manager } from '../../kube/runtime/manager.ts';
import { ControlServer } from '../../local/faults/controlServer.ts';
import type { Faults } from '../../local/faults/faults.ts';
import { faultyKube } from '../../local/faults/faultyKube.ts';
import { applyProfile } from '../../local/faults/profiles.ts';
import { SkewedClock } from '../../local/faults/skewedClock.ts';
import { installScenario, troubleWorld } from '../../local/scenarios/scenarios.ts';
import { LocalWorld } from '../../local/localWorld.ts';
import { defaultNodeClass, defaultPools } from '../../nap/defaultPools.ts';
import { createJsonLog } from '../../server/jsonLog.ts';
import { openLogSink } from '../../server/logSink.ts';
import { buildInfo } from '../buildInfo.ts';
import type { RunLocalWorld, UpOptions } from './contract.ts';
import { createEngine } from './engine.ts';
import { WorldNarrator } from './narrator.ts';
import { WorldObserver } from './worldObserver.ts';
import { claimStateDirectory, hasCode } from './stateDirectory.ts';

const CLUSTER_NAME = 'local';
const OWNER_ONLY = 0o600;
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
  const faultRandom = options.seed === undefined ? systemRandom : new SeededRandom(options.seed);
  const world = new LocalWorld({ clock, random: systemRandom, faultRandom, log });
  const { faults } = world;
  const control = new ControlServer(faults, systemRandom.uuid());
  try {
    const endpoint = await listen(world, options);
    await installCluster(world.kube);
    await world.writeKubeconfig(state.kubeconfig);
    await writeFile(state.control, JSON.stringify(await control.listen()), { mode: OWNER_ONLY });
    const config = await loadKubeconfig({ path: state.kubeconfig });
    const httpKube = new HttpKube({ config, clock: systemClock, random: systemRandom });
    const { arm } = world;
    /** nodewright as it would run on AKS, with everything that it forgets when it dies. */
    const start = async (isDead: () => boolean): Promise<{ engine: Manager; cloud: CloudProvider }> => {
      const kube = faultyKube(httpKube, faults, isDead);
      const engineClock = new SkewedClock(clock, faults);
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
        clock: engineClock,
        random: systemRandom,
        log,
      });
      const common = { kube, cloud, clock: engineClock, random: systemRandom, log };
      return { engine: createEngine({ ...common, nodeClass: cloud.nodeClass, metrics: noMetrics, ...BATCH }), cloud };
    };
    const { cloud } = await start(() => false);
    await installScenario(options.scenario, world.kube);
    applyProfile(options.profile, faults);
    troubleWorld(options.scenario, faults);
    for (const fault of options.faults) faults.add(fault);
    const isDrawn = !options.headless && process.stdout.isTTY;
    if (!isDrawn) greet(state.kubeconfig, state.log, endpoint.url, options);
    const observer = new WorldObserver({
      kube: world.kube,
      cloud,
      clock,
      faults,
      title: titleOf(options, endpoint.url),
      hints: [`export KUBECONFIG=${state.kubeconfig}`, ...COMMANDS, `Ctrl-C stops everything; the log is ${state.log}`],
      ...(!isDrawn && { onDecision: (line) => console.log(line) }),
    });
    const terminal = {
      write: (text: string) => process.stdout.write(text),
      size: isDrawn ? () => ({ columns: process.stdout.columns, rows: process.stdout.rows }) : undefined,
    };
    await runTogether(signal, [
      (stop) => world.run(stop),
      (stop) => keepAlive(stop, faults, log, async (isDead) => (await start(isDead)).engine),
      (stop) => new WorldNarrator(observer, terminal, (wait, until) => systemClock.sleep(wait, until)).run(stop),
    ]);
  } finally {
    await control.close();
    await world.close();
    await state.release();
    sink.close();
  }
};

const COMMANDS = [
  'kubectl get nodepools,aksnodeclasses',
  'kubectl create deployment hello --image=nginx --replicas=12',
  'kubectl get nodeclaims,nodes -o wide --watch',
];

function titleOf({ scenario, profile, speed }: UpOptions, url: string): string {
  const words = [`nodewright ${buildInfo().version}`, scenario, profile, ...(speed === 1 ? [] : [`×${speed}`]), url];
  return words.join(' · ');
}

/** Runs nodewright until `stop` aborts; a fault may kill it, and then it starts anew, as a pod would. */
async function keepAlive(
  stop: AbortSignal,
  faults: Faults,
  log: Log,
  start: (isDead: () => boolean) => Promise<Manager>,
): Promise<void> {
  while (!stop.aborted) {
    const death = new AbortController();
    const unsubscribe = faults.subscribe(({ type, fault }) => {
      if (type !== 'began' || fault.order.kind !== 'process-death') return;
      log.info('nodewright dies', { fault: fault.id });
      death.abort(new Error('killed by a fault'));
      faults.hit(fault, 'nodewright');
      faults.remove(fault.id);
    });
    try {
      const engine = await start(() => death.signal.aborted);
      await engine.run(AbortSignal.any([stop, death.signal]));
    } catch (error) {
      // Whatever a dying process still says does not matter.
      if (!death.signal.aborted) throw error;
    } finally {
      unsubscribe();
    }
  }
}

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

function greet(kubeconfig: string, log: string, url: string, { headless, scenario, profile }: UpOptions): void {
  const lines = [
    `nodewright ${buildInfo().version}: a local AKS is up at ${url} (scenario ${scenario}, profile ${profile})`,
    '',
    `  export KUBECONFIG=${kubeconfig}`,
    '',
    ...COMMANDS.map((command) => `  ${command}`),
    '  nodewright fault --help',
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
