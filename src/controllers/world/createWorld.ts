import { Kinds } from '../../api/kinds.ts';
import { Cluster } from '../../cluster/cluster.ts';
import { KubeEventRecorder } from '../../kube/eventRecorder.ts';
import { Ledger } from '../../ledger/ledger.ts';
import { Informers } from '../../kube/informer.ts';
import { clusterInformers } from './clusterInformers.ts';
import { BY_PROVIDER_ID, byProviderIDIndex } from '../nodeclaim-lifecycle/nodesOf.ts';
import { PodTimes } from './podTimes.ts';
import { RegistrationHealth } from '../nodepool-registration-health/registrationHealth.ts';
import type { World } from './world.ts';

export interface EngineWorld {
  readonly world: World;
  /** All watches, for the manager to run and for loops that need kinds of their own. */
  readonly informers: Informers;
}

/** Opens the watches and starts the picture that all loops share. In: the ports. Out: a world, not running yet. */
export function createWorld(
  ports: Pick<World, 'kube' | 'cloud' | 'clock' | 'random' | 'log' | 'metrics' | 'overlays'> &
    Partial<Pick<World, 'ledger'>>,
): EngineWorld {
  const { log, cloud } = ports;
  const informers = new Informers({
    ...ports,
    onError: (error, kind) => log.error('watch interrupted; trying again', { kind: kind.kind, error }),
  });
  informers.of(Kinds.Node, { indexes: { [BY_PROVIDER_ID]: byProviderIDIndex } });
  const cluster = new Cluster();
  const world: World = {
    ...ports,
    events: new KubeEventRecorder(ports),
    ledger: ports.ledger ?? new Ledger({ now: () => ports.clock.now() }),
    cluster,
    informers: clusterInformers(informers, cluster, cloud),
    registrationHealth: new RegistrationHealth(),
    podTimes: new PodTimes(),
  };
  return { world, informers };
}
