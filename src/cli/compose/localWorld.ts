/** The composition root of `nodewright up`: the local world, and nodewright in it as it would run on AKS. */
import { setMaxListeners } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { renderCrds } from '../../api/crds.ts';
import { Kinds } from '../../api/kinds.ts';
import type { KubeObject, ResourceKind } from '../../api/object.ts';
import { environmentAt } from '../../azure/azureEnvironment.ts';
import { createAzureCloudProvider } from '../../azure/createAzureCloudProvider.ts';
import type { Clock } from '../../clock/clock.ts';
import { SeededRandom } from '../../clock/seededRandom.ts';
import { ScaledClock } from '../../clock/scaledClock.ts';
import { SystemClock } from '../../clock/systemClock.ts';
import { systemRandom } from '../../clock/systemRandom.ts';
import type { CloudProvider } from '../../cloud/cloudProvider.ts';
import { HttpKube } from '../../kube/httpKube.ts';
import { loadKubeconfig } from '../../kube/kubeconfig.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import type { Draft, Kube } from '../../kube/kube.ts';
import type { Log } from '../../kube/log.ts';
import { noMetrics } from '../../kube/metrics.ts';
import type { Manager } from '../../kube/runtime/manager.ts';
import { ControlServer } from '../../local/faults/controlServer.ts';
import type { Faults } from '../../local/faults/faults.ts';
import { faultyKube } from '../../local/faults/faultyKube.ts';
import { applyProfile } from '../../local/faults/profiles.ts';
import { SkewedClock } from '../../local/faults/skewedClock.ts';
import { UnusableStateError } from '../../local/journal.ts';
import { installScenario, troubleWorld, type ScenarioName } from '../../local/scenarios/scenarios.ts';
import { LocalWorld } from '../../local/localWorld.ts';
import { defaultNodeClass, defaultPools } from '../../nap/defaultPools.ts';
import { createJsonLog } from '../../server/jsonLog.ts';
import { openLogSink } from '../../server/logSink.ts';
import { buildInfo } from '../buildInfo.ts';
import type { RunLocalWorld, UpOptions } from './contract.ts';
import { createEngine } from './engine.ts';
import { WorldNarrator } from './narrator.ts';
import { WorldMemory } from './worldMemory.ts';
import { WorldObserver } from './worldObserver.ts';
import { NodewrightError } from '../../errors/nodewrightError.ts';
import { systemCode } from '../../errors/thrown.ts';
import { claimStateDirectory } from './stateDirectory.ts';

const CLUSTER_NAME = 'local';
const OWNER_ONLY = 0o600;
/** Real milliseconds. */
const NOTE_EVERY = 1_000;
/** Batches close sooner than in production: somebody is watching. */
const BATCH = { batchIdle: 1_000, batchMax: 10_000 };

export const runLocalWorld: RunLocalWorld = async (options, signal) => {
  const state = await claimStateDirectory(options.stateDirectory);
  const sink = openLogSink([state.log]);
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
    level: 'info',
    sink,
    failureSink: openLogSink(['stderr']),
    clock,
    commit: buildInfo().commit,
  });
  const faultRandom = options.seed === undefined ? systemRandom : new SeededRandom(options.seed);
  const world = orStartAnew(
    () => new LocalWorld({ clock, random: systemRandom, faultRandom, log, state: memory.state }),
  );
  const { faults } = world;
  const control = new ControlServer(faults, systemRandom.uuid());
  try {
    const endpoint = await listen(world, options);
    const isResumed = memory.isFurnished;
    await installDefinitions(world.kube);
    if (!isResumed) await furnish(world.kube, options.scenario);
    memory.furnished();
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
        environment: environmentAt(arm.endpoint),
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
      const { nodeClass, leftovers, refreshes } = cloud;
      return {
        engine: createEngine({ ...common, nodeClass, leftovers, refreshes, metrics: noMetrics, ...BATCH }),
        cloud,
      };
    };
    const { cloud } = await start(() => false);
    applyProfile(options.profile, faults);
    troubleWorld(options.scenario, faults, clock.now() - memory.begunAt);
    for (const fault of options.faults) faults.add(fault);
    const isDrawn = !options.headless && process.stdout.isTTY;
    const since = isResumed ? new Date(memory.begunAt).toISOString().slice(0, 19) : undefined;
    if (!isDrawn) greet({ kubeconfig: state.kubeconfig, log: state.log, url: endpoint.url, since }, options);
    const observer = new WorldObserver({
      kube: world.kube,
      cloud,
      clock,
      faults,
      title: titleOf(options, endpoint.url),

      hints: [
        `export KUBECONFIG=${state.kubeconfig}`,
        ...COMMANDS,
        `Ctrl-C stops everything; the next start goes on from there, unless with --fresh; the log is ${state.log}`,
      ],
      ...(since !== undefined && { opening: `the world that began at ${since} goes on; --fresh would start anew` }),
      ...(!isDrawn && { onDecision: (line) => console.log(line) }),
    });
    const terminal = {
      write: (text: string) => process.stdout.write(text),
      size: isDrawn ? () => ({ columns: process.stdout.columns, rows: process.stdout.rows }) : undefined,
    };
    await runTogether(signal, log, {
      world: (stop) => world.run(stop),
      nodewright: (stop) => keepAlive(stop, faults, log, async (isDead) => (await start(isDead)).engine),
      picture: (stop) =>
        new WorldNarrator(observer, terminal, (wait, until) => systemClock.sleep(wait, until)).run(stop),
      ...(clock !== systemClock && { time: (stop: AbortSignal) => noteTime(stop, memory, clock, options.speed) }),
    });
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

/** A world that goes on gets the definitions of this version. */
async function installDefinitions(kube: Kube): Promise<void> {
  for (const crd of renderCrds()) {
    const body = { ...crd, apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' };
    const options = { fieldManager: 'nodewright', force: true };
    await kube.patch(Kinds.CustomResourceDefinition, { name: crd.metadata.name }, { type: 'apply', body }, options);
  }
}

/** What AKS has ready in a new cluster with node auto-provisioning, and what the scenario adds. */
async function furnish(kube: Kube, scenario: ScenarioName): Promise<void> {
  await createMissing(kube, Kinds.AKSNodeClass, defaultNodeClass);
  for (const pool of defaultPools) await createMissing(kube, Kinds.NodePool, pool);
  await installScenario(scenario, kube);
}

/** The process may have died while it furnished the world. */
async function createMissing<T extends KubeObject>(kube: Kube, kind: ResourceKind<T>, object: Draft<T>): Promise<void> {
  try {
    await kube.create(kind, object);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

/** Time never goes back in a world: one that has hurried on stays ahead. */
function worldClock(clock: Clock, speed: number, earliest: number): Clock {
  const now = clock.now();
  return speed === 1 && earliest <= now ? clock : new ScaledClock(clock, speed, Math.max(now, earliest));
}

/** Notes from time to time how far a hurried clock has come. */
async function noteTime(stop: AbortSignal, memory: WorldMemory, clock: Clock, speed: number): Promise<void> {
  const interval = NOTE_EVERY * speed;
  while (!stop.aborted) {
    memory.reach(clock.now() + 2 * interval);
    await clock.sleep(interval, stop).catch(() => undefined);
  }
}

function orStartAnew<T>(open: () => T): T {
  try {
    return open();
  } catch (error) {
    if (!(error instanceof UnusableStateError)) throw error;
    throw new NodewrightError('WorldUnusable', { problem: error.message }, { cause: error });
  }
}

interface Greeting {
  readonly kubeconfig: string;
  readonly log: string;
  readonly url: string;
  /** When a world that goes on had begun. */
  readonly since: string | undefined;
}

function greet({ kubeconfig, log, url, since }: Greeting, { headless, scenario, profile }: UpOptions): void {
  const lines = [
    `nodewright ${buildInfo().version}: a local AKS is up at ${url} (scenario ${scenario}, profile ${profile})`,
    since === undefined ? '' : `The world that began at ${since} goes on; --fresh would start anew.`,
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
