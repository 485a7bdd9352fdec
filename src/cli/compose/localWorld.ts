/** Composition root of `nodewright up`: the local world, with nodewright in it as it would run on AKS. */
import { setMaxListeners } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { environmentAt } from '../../azure/azureEnvironment.ts';
import { createAzureCloudProvider } from '../../azure/createAzureCloudProvider.ts';
import type { Clock } from '../../clock/clock.ts';
import { SeededRandom } from '../../clock/seededRandom.ts';
import { ScaledClock } from '../../clock/scaledClock.ts';
import { SystemClock } from '../../clock/systemClock.ts';
import { systemRandom } from '../../clock/systemRandom.ts';
import { HttpKube } from '../../kube/httpKube.ts';
import { loadKubeconfig } from '../../kube/kubeconfig.ts';
import type { Log } from '../../kube/log.ts';
import type { World } from '../../controllers/world/world.ts';
import type { Manager } from '../../kube/runtime/manager.ts';
import { ControlServer } from '../../local/faults/controlServer.ts';
import { faultyKube } from '../../local/faults/apiFaults.ts';
import { applyProfile } from '../../local/faults/profiles.ts';
import { skewedClock } from '../../local/faults/skewedClock.ts';
import { scheduleFaults } from '../../local/scenarios/scenarios.ts';
import type { Endpoint } from '../../local/apiserver/localApiServer.ts';
import type { ManagedCluster } from '../../local/arm/containerservice/managedCluster.ts';
import type { Attend } from '../../local/localFleet.ts';
import { LocalWorld } from '../../local/localWorld.ts';
import { installNodeProvisioning } from '../../nap/installation.ts';
import { withResourceLog } from '../../nap/resourceLog.ts';
import { LiveSource } from '../../dashboard/liveSource.ts';
import type { ClusterConfig } from '../../kube/clusterConfig.ts';
import { createJsonLog } from '../../server/jsonLog.ts';
import { keepLedgerInFiles } from '../../server/ledgerFiles.ts';
import { openLogSink } from '../../server/logSink.ts';
import { PrometheusMetrics } from '../../server/metrics.ts';
import { profilesGate, startMetricsServer } from '../../server/metricsServer.ts';
import { buildInfo } from '../buildInfo.ts';
import { writeAzureEnvironment } from './azureEnvironment.ts';
import type { RunLocalWorld, UpOptions } from './contract.ts';
import { createEngine, type EngineOptions } from './engine.ts';
import { azureOptionsOf, engineSettings, processSettings } from './engineSettings.ts';
import { runClusterProvisioning } from './clusterProvisioning.ts';
import { runClusterUpkeep } from './clusterUpkeep.ts';
import { startLocalDashboard, type LocalDashboard } from './localDashboard.ts';
import { furnish, furnishCluster, furnishFirstCluster } from './furnish.ts';
import { greetingOf, hintsOf, titleOf } from './greeting.ts';
import { narrate } from './narrator.ts';
import { surviveFailures } from './surviveFailures.ts';
import { orStartAnew, WorldMemory } from './worldMemory.ts';
import { WorldObserver } from './worldObserver.ts';
import { NodewrightError } from '../../errors/nodewrightError.ts';
import { systemCode } from '../../errors/thrown.ts';
import { Ledger } from '../../ledger/ledger.ts';
import { claimStateDirectory } from './stateDirectory.ts';

const OWNER_ONLY = 0o600;
const LOOPBACK = '127.0.0.1';
/** Real milliseconds. */
const NOTE_EVERY = 1_000;

export const runLocalWorld: RunLocalWorld = async (options, signal) => {
  const state = await claimStateDirectory(options.stateDirectory);
  const sink = openLogSink([state.log]);
  const resourceSink = openLogSink([state.resourceLog]);
  const systemClock = new SystemClock();
  const memory = orStartAnew(
    () =>
      new WorldMemory({
        directory: join(state.worlds, options.scenario),
        fresh: options.fresh,
        now: systemClock.now(),
        newId: () => systemRandom.uuid(),
      }),
  );
  const clock = worldClock(systemClock, options.speed, memory.time);
  const log = createJsonLog({
    level: options.controller.logLevel,
    sink,
    failureSink: openLogSink(['stderr']),
    clock,
    commit: buildInfo().commit,
  });
  const metrics = new PrometheusMetrics({ build: buildInfo() });
  const failure = new AbortController();
  const endSurvival = surviveFailures({
    log,
    failures: metrics.counter({
      name: 'nodewright_local_unhandled_failures_total',
      help: 'Failures in the process of the local world that had no handler.',
      labels: ['event'],
    }),
    giveUp: (error) => failure.abort(error),
    now: () => systemClock.now(),
  });
  const faultRandom = options.seed === undefined ? systemRandom : new SeededRandom(options.seed);
  const world = orStartAnew(
    () =>
      new LocalWorld({
        clock,
        wallClock: systemClock,
        checksTokens: true,
        random: systemRandom,
        faultRandom,
        log,
        state: memory.state,
      }),
  );
  const { faults, arm } = world;
  const control = new ControlServer(faults, systemRandom.uuid());
  const { metricsPort, enableProfiling } = options.controller;
  /** Metrics of clusters created by clients, by resource group and name in lower case. */
  const clusterMetrics = new Map<string, PrometheusMetrics>();
  const others = (path: string): PrometheusMetrics | undefined => clusterMetrics.get(path);
  let profiledKube: HttpKube | undefined;
  const metricsServer = await startMetricsServer({
    port: metricsPort,
    host: LOOPBACK,
    metrics,
    others,
    profiles: enableProfiling ? profilesGate(() => profiledKube) : undefined,
  });
  let dashboard: LocalDashboard | undefined;
  let endLedger: (() => void) | undefined;
  try {
    const endpoint = await listen(world, options);
    const isResumed = memory.isFurnished;
    const mainCluster = arm.managedCluster(arm.cluster);
    if (mainCluster?.provisioningMode === 'Auto') await installNodeProvisioning(world.kube, mainCluster);
    if (!isResumed) await furnish(world, options.scenario);
    await world.writeKubeconfig(state.kubeconfig);
    const { azureEnvironment, azureCertificate, azureCloud } = state;
    const azureFiles = { environment: azureEnvironment, certificate: azureCertificate, cloud: azureCloud };
    await writeAzureEnvironment(azureFiles, arm, endpoint.url);
    await writeFile(state.control, JSON.stringify(await control.listen()), { mode: OWNER_ONLY });
    const config = await loadKubeconfig({ path: state.kubeconfig });
    const mainKube = new HttpKube({ config, clock: systemClock, random: systemRandom });
    profiledKube = mainKube;
    const ledger = new Ledger({ now: () => clock.now() });
    const { ledger: files } = processSettings(options.controller);
    endLedger = files && keepLedgerInFiles(ledger, { ...files, now: () => clock.now(), log });
    const looked = new LiveSource({
      title: `${options.scenario} on the local AKS`,
      version: buildInfo().version,
      ledger,
      metrics,
    });
    dashboard = await startLocalDashboard(looked, state.dashboard, { clock: systemClock, kube: mainKube });
    /** nodewright as on AKS, without state from an earlier run. */
    const start = async (
      cluster: ManagedCluster,
      { httpKube, endpoint: api, ...observed }: EngineSite,
      isDead: () => boolean,
    ): Promise<Manager> => {
      const resourceId = `/subscriptions/${arm.subscriptionId}/resourceGroups/${cluster.resourceGroup}/providers/Microsoft.ContainerService/managedClusters/${cluster.name}`;
      const resourceLog = { resourceId, clock, write: (line: string) => resourceSink.write(line) };
      const kube = withResourceLog(faultyKube(httpKube, faults, isDead), resourceLog);
      const ports = { kube, clock: skewedClock(clock, faults), random: systemRandom, log, metrics: observed.metrics };
      const cloud = await createAzureCloudProvider({
        ...azureOptionsOf(options.controller),
        ...ports,
        environment: environmentAt(arm.endpoint),
        caPem: arm.caPem,
        credential: arm.credential,
        subscriptionId: arm.subscriptionId,
        location: cluster.location,
        nodeResourceGroup: cluster.nodeResourceGroup,
        clusterName: cluster.name,
        clusterResourceGroup: cluster.resourceGroup,
        clusterEndpoint: cluster.apiServerName === '' ? api.url : `https://${cluster.apiServerName}:443`,
        // The options of this program determine network and identity of the first cluster.
        ...(cluster.name === arm.cluster.name ? {} : { ...networkOf(cluster), ...identityOf(cluster) }),
        clusterCaPem: api.caPem,
        vnetSubnetId: arm.networkOf(cluster).subnetId,
        systemNamespace: 'kube-system',
      });
      const { nodeClass, leftovers, refreshes, inPlaceUpdates, learned } = cloud;
      let seen: World | undefined;
      const manager = createEngine({
        ...engineSettings(options.controller),
        ...ports,
        cloud,
        nodeClass,
        leftovers,
        refreshes,
        inPlaceUpdates,
        learned,
        ...observed,
        onWorld: (engineWorld) => {
          seen = engineWorld;
        },
      });
      // The dashboard shows the first cluster.
      if (seen !== undefined && observed.ledger === ledger) {
        looked.attach({ world: seen, manager, unavailable: () => cloud.unavailableOfferings });
      }
      return manager;
    };
    const provisioning = { arm, faults, log, clock: systemClock, worldClock: clock, random: systemRandom };
    const upkeep = { arm, clock, random: systemRandom, log };
    /** A cluster created by a client gets AKS's pods, and nodewright while its mode is Auto. */
    const attend: Attend = async ({ managed, cluster, endpoint: api }, stop) => {
      const httpKube = new HttpKube({ config: configOf(api), clock: systemClock, random: systemRandom });
      const site = { httpKube, endpoint: api, metrics: new PrometheusMetrics({ build: buildInfo() }) };
      const run = { ...provisioning, cluster: managed, kube: cluster.kube };
      const hasSystemPool = (): boolean => arm.hasSystemPool(managed);
      const key = `${managed.resourceGroup}/${managed.name}`.toLowerCase();
      clusterMetrics.set(key, site.metrics);
      await Promise.all([
        furnishCluster({ kube: cluster.kube, clock, dataplane: managed, hasSystemPool }, stop),
        runClusterUpkeep({ ...upkeep, cluster: managed, kube: cluster.kube }, stop),
        runClusterProvisioning({ ...run, start: (current, isDead) => start(current, site, isDead) }, stop),
      ])
        .catch((error: unknown) => {
          if (!stop.aborted) throw error;
        })
        .finally(() => clusterMetrics.delete(key));
    };
    applyProfile(options.profile, faults);
    scheduleFaults(options.scenario, faults, clock.now() - memory.begunAt);
    for (const fault of options.faults) faults.add(fault);
    const addresses = {
      kubeconfig: state.kubeconfig,
      azureEnvironment: state.azureEnvironment,
      log: state.log,
      kubernetes: endpoint.url,
      azure: arm.endpoint,
      metrics: `http://${LOOPBACK}:${metricsServer.port}/metrics`,
      dashboard: dashboard.address,
    };
    const isDrawn = !options.headless && process.stdout.isTTY;
    const since = isResumed ? new Date(memory.begunAt).toISOString().slice(0, 19) : undefined;
    if (!isDrawn) console.log(greetingOf(options, addresses, since));
    const observer = new WorldObserver({
      kube: world.kube,
      clock,
      log,
      faults,
      ledger,
      price: (instanceType, capacityType) => arm.price(instanceType, capacityType === 'spot'),
      title: titleOf(options, addresses),
      hints: hintsOf(addresses),
      ...(since !== undefined && { opening: `the world that began at ${since} goes on; --fresh would start anew` }),
      ...(!isDrawn && { onDecision: (line) => console.log(line) }),
    });
    const terminal = {
      write: (text: string) => process.stdout.write(text),
      size: isDrawn ? () => ({ columns: process.stdout.columns, rows: process.stdout.rows }) : undefined,
    };
    const sleep = (wait: number, until: AbortSignal): Promise<void> => systemClock.sleep(wait, until);
    await runTogether(AbortSignal.any([signal, failure.signal]), log, {
      world: (stop) => world.run(stop),
      nodewright: (stop) =>
        runClusterProvisioning(
          {
            ...provisioning,
            cluster: arm.cluster,
            kube: world.kube,
            start: (current, isDead) => start(current, { httpKube: mainKube, endpoint, metrics, ledger }, isDead),
          },
          stop,
        ),
      upkeep: (stop) => runClusterUpkeep({ ...upkeep, cluster: arm.cluster, kube: world.kube }, stop),
      clusters: (stop) => world.fleet.run(stop, attend),
      picture: (stop) => narrate({ observer, terminal, log, sleep }, stop),
      ...(!isResumed && { furnishing: (stop: AbortSignal) => finishFurnishing(stop, world, memory, clock) }),
      ...(clock !== systemClock && { time: (stop: AbortSignal) => noteTime(stop, memory, clock, options.speed) }),
    });
    if (failure.signal.aborted) throw failure.signal.reason;
  } finally {
    endLedger?.();
    await control.close();
    await dashboard?.stop();
    await metricsServer.stop();
    await world.close();
    await state.release();
    endSurvival();
    sink.close();
    resourceSink.close();
  }
};

/** Where one nodewright runs, and where it reports. */
type EngineSite = Pick<EngineOptions, 'metrics' | 'ledger'> & {
  readonly httpKube: HttpKube;
  readonly endpoint: Endpoint;
};

function configOf({ url, caPem, clientCertificate }: Endpoint): ClusterConfig {
  const { certificate, privateKey } = clientCertificate;
  return {
    server: url,
    tls: { ca: caPem, insecureSkipVerify: false },
    credentials: { certificate: { cert: { value: certificate }, key: { value: privateKey } } },
  };
}

async function finishFurnishing(
  stop: AbortSignal,
  { kube }: LocalWorld,
  memory: WorldMemory,
  clock: Clock,
): Promise<void> {
  try {
    await furnishFirstCluster(kube, clock, stop);
    memory.furnished();
  } catch (error) {
    // Stopped before the system pool was ready: the next start continues.
    if (!stop.aborted) throw error;
  }
}

const PORT_TAKEN = 'another process listens there';

async function listen(world: LocalWorld, { port }: UpOptions): ReturnType<LocalWorld['listen']> {
  try {
    return await world.listen(port);
  } catch (error) {
    if (systemCode(error) !== 'EADDRINUSE') throw error;
    const data = { purpose: 'the Kubernetes API', port, problem: PORT_TAKEN, setting: '--port, or 0 for any free one' };
    throw new NodewrightError('PortUnavailable', data, { cause: error });
  }
}

/** Time never goes back in a world: if its clock ran fast, it stays ahead. */
function worldClock(clock: Clock, speed: number, earliest: number): Clock {
  const now = clock.now();
  return speed === 1 && earliest <= now ? clock : new ScaledClock(clock, speed, Math.max(now, earliest));
}

/** Saves the time of a fast clock periodically. */
async function noteTime(stop: AbortSignal, memory: WorldMemory, clock: Clock, speed: number): Promise<void> {
  const interval = NOTE_EVERY * speed;
  while (!stop.aborted) {
    memory.reach(clock.now() + 2 * interval);
    await clock.sleep(interval, stop).catch(() => undefined);
  }
}

/** How the nodes of a cluster are connected, as AKS was told. */
function networkOf({ networkPlugin, networkPluginMode, networkDataplane, networkPolicy }: ManagedCluster) {
  return {
    networkPlugin: networkPlugin === 'none' ? networkPlugin : 'azure',
    networkPluginMode: networkPluginMode === 'overlay' ? networkPluginMode : '',
    networkDataplane: networkDataplane === 'cilium' ? networkDataplane : 'azure',
    networkPolicy,
  } as const;
}

/** The same identity as with `aks enable`, so that nodes do not drift when the controller changes. */
function identityOf({ kubeletIdentity: { clientId, resourceId } }: ManagedCluster) {
  return { kubeletIdentityClientId: clientId, nodeIdentities: resourceId === '' ? [] : [resourceId] };
}

/** Runs all until `signal` aborts or one fails; then stops the others and waits for them. */
async function runTogether(
  signal: AbortSignal,
  log: Log,
  parts: Readonly<Record<string, (stop: AbortSignal) => Promise<void>>>,
): Promise<void> {
  const failure = new AbortController();
  const stop = AbortSignal.any([signal, failure.signal]);
  setMaxListeners(0, stop);
  const results = await Promise.allSettled(
    Object.entries(parts).map(async ([name, part]) => {
      try {
        await part(stop);
        log.info('stopped', { part: name });
      } catch (error) {
        log.error('ended', { part: name, error });
        failure.abort(error);
        throw error;
      }
    }),
  );
  const failed = results.find((result) => result.status === 'rejected');
  if (failed && !signal.aborted) throw failed.reason as Error;
}
