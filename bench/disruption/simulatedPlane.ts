import { renderCrds } from '../../src/api/crds.ts';
import { Kinds } from '../../src/api/kinds.ts';
import { createEngine } from '../../src/cli/compose/engine.ts';
import { SeededRandom } from '../../src/clock/seededRandom.ts';
import { VirtualClock } from '../../src/clock/virtualClock.ts';
import { Informers } from '../../src/kube/informer.ts';
import { silentLog, type Log, type LogFields } from '../../src/kube/log.ts';
import { noMetrics } from '../../src/kube/metrics.ts';
import { Manager } from '../../src/kube/runtime/manager.ts';
import { createKwokCloudProvider } from '../../src/kwok/createKwokCloudProvider.ts';
import { LocalApiServer } from '../../src/local/apiserver/localApiServer.ts';
import { createControlPlane } from '../../src/local/controlPlane.ts';
import { Kubelets } from '../../src/local/kubelet/kubelets.ts';
import type { Plane } from './plane.ts';

export interface SimulationOptions {
  readonly seed: string;
  /** Whether the scheduler is told where pods are planned. */
  readonly hints: boolean;
}

const START = Date.UTC(2026, 0, 5, 9);
/** As quick as on the real plane: instances are Node objects there. */
const PACE = { boot: 0, ready: 1_000, podStart: 500, podStop: 100 };
const LOG_LINES = 5_000;

/** The same program in one process with a control plane of ours, on a virtual clock: minutes pass in seconds. */
export async function simulatedPlane({ seed, hints }: SimulationOptions): Promise<Plane> {
  const clock = new VirtualClock(START);
  const random = new SeededRandom(`plane of ${seed}`);
  const server = new LocalApiServer({ clock, random });
  const { kube } = server;
  for (const crd of renderCrds()) await kube.create(Kinds.CustomResourceDefinition, crd);
  await kube.create(Kinds.KWOKNodeClass, { metadata: { name: 'default' } });
  const common = { kube, clock, random, log: silentLog };
  const informers = new Informers(common);
  const controlPlane = createControlPlane({
    ...common,
    informers,
    resourceGroupId: '/subscriptions/none/resourceGroups/none',
    dataDisks: () => 64,
    canReport: () => true,
    quiet: true,
  });
  const kubelets = new Kubelets({ ...common, pods: controlPlane.pods, pace: PACE, leasePeriod: 60_000 });
  informers.of(Kinds.Node).subscribe(({ type, object }) => {
    if (type === 'deleted') kubelets.powerOff(object.metadata.name);
    else kubelets.adopt(object.metadata.name);
  });
  const manager = new Manager({ ...common, informers });
  // Kubelets here are only played; no other controller judges them, as on the real plane.
  const judged = controlPlane.controllers.filter(({ name }) => name !== 'local.nodelifecycle');
  for (const controller of [...judged, ...kubelets.controllers()]) manager.add(controller);
  const stopping = new AbortController();
  const running = [manager.run(stopping.signal)];
  const log = new Lines(() => clock.now());
  return {
    kube,
    clock,
    random,
    run: async () => {
      const ports = { kube, clock, random: new SeededRandom(`engine of ${seed}`), log };
      const engine = createEngine({
        ...ports,
        cloud: await createKwokCloudProvider(ports),
        metrics: noMetrics,
        batchIdle: 1_000,
        batchMax: 10_000,
        ...(hints && { placementHints: { schedulers: ['default-scheduler'] } }),
      });
      running.push(engine.run(stopping.signal));
      await clock.idle();
    },
    until: async (condition, within) => {
      const end = clock.now() + within;
      await clock.runUntil(() => condition() || clock.now() >= end);
      return condition();
    },
    cpuSeconds: async () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    },
    logged: (part) => log.containing(part),
    stop: async () => {
      stopping.abort();
      let ended = false;
      const all = Promise.allSettled(running).finally(() => {
        ended = true;
      });
      await Promise.all([all, clock.runUntil(() => ended)]);
      await server.close();
    },
  };
}

/** Keeps the last lines of a log. */
class Lines implements Log {
  private readonly lines: Record<string, unknown>[] = [];
  private readonly now: () => number;

  constructor(now: () => number) {
    this.now = now;
  }

  debug(): void {
    // Nothing reads these.
  }

  info(message: string, fields: LogFields = {}): void {
    this.lines.push({ time: new Date(this.now()).toISOString(), message, ...fields });
    if (this.lines.length > LOG_LINES) this.lines.shift();
  }

  error(message: string, fields: LogFields = {}): void {
    this.info(message, fields);
  }

  with(): Log {
    return this;
  }

  containing(part: string): readonly Record<string, unknown>[] {
    return this.lines.filter(({ message }) => String(message).includes(part));
  }
}
