import { renderCrds } from '../../src/api/crds.ts';
import { Kinds } from '../../src/api/kinds.ts';
import type { Clock } from '../../src/clock/clock.ts';
import type { Random } from '../../src/clock/random.ts';
import { KubeEventRecorder } from '../../src/kube/eventRecorder.ts';
import { Informers } from '../../src/kube/informer.ts';
import type { Kube } from '../../src/kube/kube.ts';
import type { Log } from '../../src/kube/log.ts';
import { Manager } from '../../src/kube/runtime/manager.ts';
import { LocalApiServer } from '../../src/local/apiserver/localApiServer.ts';
import { ControllerEvents } from '../../src/local/controllerEvents.ts';
import { Kubelets } from '../../src/local/kubelet/kubelets.ts';
import type { MachinePace } from '../../src/local/kubelet/machine.ts';
import { BY_NODE, schedulerController } from '../../src/local/scheduler/scheduler.ts';
import { deploymentController } from '../../src/local/workloads/deployment.ts';
import { BY_CONTROLLER, byControllerIndex } from '../../src/local/workloads/ownedObjects.ts';
import { replicaSetController } from '../../src/local/workloads/replicaSet.ts';

export interface LocalClusterOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly pace?: Partial<MachinePace>;
}

const PACE: MachinePace = { boot: 20_000, ready: 5_000, podStart: 1_000, podStop: 2_000 };

/** Test support: a Kubernetes without a cloud. API server, scheduler, workload controllers, and kubelets to power on. */
export class LocalCluster {
  readonly kubelets: Kubelets;
  private readonly server: LocalApiServer;
  private readonly manager: Manager;

  constructor({ clock, random, log, pace }: LocalClusterOptions) {
    this.server = new LocalApiServer({ clock, random });
    const { kube } = this.server;
    const common = { kube, clock, random, log };
    const informers = new Informers(common);
    const pods = informers.of(Kinds.Pod, {
      indexes: {
        [BY_NODE]: ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []),
        [BY_CONTROLLER]: byControllerIndex,
      },
      transform: (pod) => pod,
    });
    const nodes = informers.of(Kinds.Node);
    const replicaSets = informers.of(Kinds.ReplicaSet, { indexes: { [BY_CONTROLLER]: byControllerIndex } });
    const deployments = informers.of(Kinds.Deployment);
    const namespaces = informers.of(Kinds.Namespace);
    const events = new KubeEventRecorder({ ...common, component: 'default-scheduler' });
    const silent = new ControllerEvents(undefined, common.clock);
    this.kubelets = new Kubelets({ ...common, pods, pace: { ...PACE, ...pace } });
    this.manager = new Manager({ ...common, informers });
    for (const controller of [
      schedulerController({ ...common, events, pods, nodes, namespaces }),
      deploymentController({ ...common, events: silent, pods, replicaSets, deployments }),
      replicaSetController({ ...common, events: silent, pods, replicaSets }),
      ...this.kubelets.controllers(),
    ]) {
      this.manager.add(controller);
    }
  }

  get kube(): Kube {
    return this.server.kube;
  }

  async installCrds(): Promise<void> {
    for (const crd of renderCrds()) await this.kube.create(Kinds.CustomResourceDefinition, crd);
  }

  run(signal: AbortSignal): Promise<void> {
    return this.manager.run(signal);
  }

  async close(): Promise<void> {
    await this.server.close();
  }
}
