/** A look at a running cluster from outside: the same picture and the same plan as the controller has, and no writes. */
import { SystemClock } from '../../clock/systemClock.ts';
import { systemRandom } from '../../clock/systemRandom.ts';
import { Planner, type Moment } from '../../controllers/planning/planner.ts';
import { createWorld } from '../../controllers/world/createWorld.ts';
import type { World } from '../../controllers/world/world.ts';
import { isUsable } from '../../controllers/planning/poolUse.ts';
import type { CloudProvider } from '../../cloud/cloudProvider.ts';
import type { Kube } from '../../kube/kube.ts';
import type { Log } from '../../kube/log.ts';
import { PrometheusMetrics } from '../../server/metrics.ts';
import { buildInfo } from '../buildInfo.ts';
import { readOnlyKube } from './readOnlyKube.ts';

export interface ClusterLook {
  readonly world: World;
  readonly moment: Moment;
}

/** Reads the cluster until the picture is complete, hands it over, and ends the watches. */
export async function lookAtCluster<T>(
  { kube, cloud, log }: { readonly kube: Kube; readonly cloud: CloudProvider; readonly log: Log },
  use: (look: ClusterLook) => Promise<T>,
): Promise<T> {
  const clock = new SystemClock();
  const metrics = new PrometheusMetrics({ build: buildInfo() });
  const ports = { kube: readOnlyKube(kube), cloud, clock, random: systemRandom, log, metrics };
  const { world, informers } = createWorld(ports);
  const planner = new Planner(world);
  const end = new AbortController();
  const running = informers.run(end.signal);
  try {
    await Promise.race([informers.synced(end.signal), running]);
    const moment = await planner.moment(cloud, isUsable, end.signal);
    return await use({ world, moment });
  } finally {
    end.abort();
    await running;
  }
}
