import { Cluster } from '../../cluster/cluster.ts';
import { KubeEventRecorder } from '../../kube/eventRecorder.ts';
import { noticesTo } from './notices.ts';
import { Ledger } from '../../ledger/ledger.ts';
import { Informers } from '../../kube/informer.ts';
import { ServerVersion } from '../../kube/serverVersion.ts';
import { clusterInformers } from './clusterInformers.ts';
import { PodTimes } from './podTimes.ts';
import { RegistrationHealth } from '../nodepool-registration-health/registrationHealth.ts';
import type { World } from './world.ts';
import { writeThroughKube } from './writeThroughKube.ts';

export interface EngineWorld {
  readonly world: World;
  /** All watches, for the manager to run and for loops that need additional kinds. */
  readonly informers: Informers;
  /** Writes events; close it when nothing publishes any more. */
  readonly recorder: KubeEventRecorder;
}

/** Creates the watches and connects them to the cluster shared by all loops. Starts nothing. */
export function createWorld(
  ports: Pick<World, 'kube' | 'cloud' | 'clock' | 'random' | 'log' | 'metrics' | 'overlays' | 'tracer'> &
    Partial<Pick<World, 'ledger'>>,
): EngineWorld {
  const { log, cloud } = ports;
  const serverVersion = new ServerVersion(ports);
  const informers = new Informers({
    ...ports,
    onBroken: () => serverVersion.doubt(),
    onError: (error, kind) => log.error('watch interrupted; retrying', { kind: kind.kind, error }),
  });
  const cluster = new Cluster();
  const recorder = new KubeEventRecorder(ports);
  const world: World = {
    ...ports,
    kube: writeThroughKube(ports.kube, cluster),
    events: noticesTo(recorder),
    ledger: ports.ledger ?? new Ledger({ now: () => ports.clock.now() }),
    cluster,
    serverVersion,
    informers: clusterInformers(informers, cluster, cloud),
    registrationHealth: new RegistrationHealth(),
    podTimes: new PodTimes(),
  };
  return { world, informers, recorder };
}
