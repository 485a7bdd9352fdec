/**
 * An AKS in one process. In: a clock and randomness. Out: a Kubernetes API and an ARM API that answer, machines that
 * boot when a VM is created and leave when it is deleted, a scheduler, and workload controllers.
 */
import { Kinds } from '../api/kinds.ts';
import type { Clock } from '../clock/clock.ts';
import type { Random } from '../clock/random.ts';
import { KubeEventRecorder } from '../kube/eventRecorder.ts';
import { Informers } from '../kube/informer.ts';
import type { Kube } from '../kube/kube.ts';
import type { Log } from '../kube/log.ts';
import { Manager } from '../kube/runtime/manager.ts';
import { LocalApiServer, type Endpoint } from './apiserver/localApiServer.ts';
import type { ArmDurations } from './arm/armContext.ts';
import { LocalArm } from './arm/localArm.ts';
import { Kubelets } from './kubelet/kubelets.ts';
import type { MachinePace } from './kubelet/machine.ts';
import { bootedMachine } from './kubelet/bootedMachine.ts';
import { BY_NODE, schedulerController } from './scheduler/scheduler.ts';
import { deploymentController } from './workloads/deployment.ts';
import { BY_CONTROLLER, byControllerIndex } from './workloads/ownedObjects.ts';
import { replicaSetController } from './workloads/replicaSet.ts';

export interface LocalWorldOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly pace?: Partial<MachinePace>;
  readonly armDurations?: Partial<ArmDurations>;
  readonly location?: string;
}

/** A machine of the local world is quick: somebody is watching. */
const DEFAULT_PACE: MachinePace = { boot: 5_000, ready: 2_000, podStart: 1_000, podStop: 1_000 };

export class LocalWorld {
  readonly arm: LocalArm;
  readonly #apiServer: LocalApiServer;
  readonly #manager: Manager;
  readonly #kubelets: Kubelets;

  constructor(options: LocalWorldOptions) {
    const { clock, random, log, location, armDurations } = options;
    this.#apiServer = new LocalApiServer({ clock, random });
    this.arm = new LocalArm({
      clock,
      random,
      ...(location && { location }),
      ...(armDurations && { durations: armDurations }),
    });
    const { kube } = this.#apiServer;
    const informers = new Informers({
      kube,
      clock,
      random,
      onError: (error, kind) => log.error('local watch interrupted; trying again', { kind: kind.kind, error }),
    });
    const podIndexes = {
      [BY_NODE]: ({ spec }: { spec?: { nodeName?: string } }) => (spec?.nodeName ? [spec.nodeName] : []),
      [BY_CONTROLLER]: byControllerIndex,
    };
    // Kubelets and controllers need whole pods, not the trimmed ones of the engine.
    const pods = informers.of(Kinds.Pod, { indexes: podIndexes, transform: (pod) => pod });
    const nodes = informers.of(Kinds.Node);
    const replicaSets = informers.of(Kinds.ReplicaSet, { indexes: { [BY_CONTROLLER]: byControllerIndex } });
    const deployments = informers.of(Kinds.Deployment);
    const namespaces = informers.of(Kinds.Namespace);
    const events = new KubeEventRecorder({ kube, clock, random, log, component: 'default-scheduler' });
    const common = { kube, clock, random, log };
    this.#kubelets = new Kubelets({ ...common, pods, pace: { ...DEFAULT_PACE, ...options.pace } });
    this.#manager = new Manager({ ...common, informers });
    const controllers = [
      schedulerController({ ...common, events, pods, nodes, namespaces }),
      deploymentController({ ...common, pods, replicaSets, deployments }),
      replicaSetController({ ...common, pods, replicaSets }),
      ...this.#kubelets.controllers(),
    ];
    for (const controller of controllers) this.#manager.add(controller);
    this.arm.onVirtualMachine(({ type, vm }) => {
      if (type === 'deleted') return this.#kubelets.powerOff(vm.computerName);
      const machine = bootedMachine(vm);
      if (machine) this.#kubelets.powerOn(machine);
    });
  }

  /** The API without a network, for whoever lives in this process. */
  get kube(): Kube {
    return this.#apiServer.kube;
  }

  /** Opens both APIs on loopback. */
  async listen(port: number): Promise<Endpoint> {
    await this.arm.listen();
    return this.#apiServer.listen({ port });
  }

  writeKubeconfig(path: string): Promise<void> {
    return this.#apiServer.writeKubeconfig(path);
  }

  /** Lets the world live until `signal` aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#manager.run(signal);
  }

  async close(): Promise<void> {
    await Promise.all([this.#apiServer.close(), this.arm.close()]);
  }
}
