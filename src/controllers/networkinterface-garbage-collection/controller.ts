import type { Controller } from '../../kube/runtime/controller.ts';
import { singleton } from '../../kube/runtime/singleton.ts';
import type { World } from '../world/world.ts';

/** Same length as the time window of the network API's throttling. */
const INTERVAL = 5 * 60_000;

/** Removes the network interfaces that belong to none of the given claims, and returns their names. */
export interface Leftovers {
  remove(claimNames: () => Iterable<string>, signal?: AbortSignal): Promise<readonly string[]>;
}

/** Removes network interfaces that failed launches left behind. */
export function networkInterfaceGarbageCollectionController(world: World, leftovers: Leftovers): Controller {
  const { cluster, log } = world;
  const claimNames = (): readonly string[] => [...cluster.claims()].map(({ metadata }) => metadata.name);
  return singleton({
    ...world,
    name: 'networkinterface.garbagecollection',
    interval: INTERVAL,
    reconcile: async (signal) => {
      for (const name of await leftovers.remove(claimNames, signal)) {
        log.info('garbage collected network interface', {
          controller: 'networkinterface.garbagecollection',
          'network-interface': name,
        });
      }
    },
  });
}
