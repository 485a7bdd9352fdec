/** A look at a running cluster from outside: the same picture and the same plan as the controller has, and no writes. */
import { SystemClock } from '../../clock/systemClock.ts';
import { systemRandom } from '../../clock/systemRandom.ts';
import { Planner, type Moment } from '../../controllers/planning/planner.ts';
import { createWorld } from '../../controllers/world/createWorld.ts';
import type { World } from '../../controllers/world/world.ts';
import { isUsable } from '../../controllers/planning/poolUse.ts';
import type { CloudProvider } from '../../cloud/cloudProvider.ts';
import type { Kube } from '../../kube/kube.ts';
import { silentLog, type Log } from '../../kube/log.ts';
import { NodewrightError } from '../../errors/nodewrightError.ts';
import { messageOf } from '../../errors/thrown.ts';
import { PrometheusMetrics } from '../../server/metrics.ts';
import { buildInfo } from '../buildInfo.ts';
import { readOnlyKube } from './readOnlyKube.ts';

/** How long the lists of a large cluster may take, in milliseconds. */
const PATIENCE = 60_000;

export interface ClusterLook {
  readonly world: World;
  readonly moment: Moment;
}

/** Reads the cluster until the picture is complete, hands it over, and ends the watches. */
export async function lookAtCluster<T>(
  { kube, cloud }: { readonly kube: Kube; readonly cloud: CloudProvider },
  use: (look: ClusterLook) => Promise<T>,
): Promise<T> {
  const clock = new SystemClock();
  let lastError: unknown;
  const log: Log = {
    ...silentLog,
    error: (_, fields) => {
      lastError = fields?.['error'];
    },
    with: () => log,
  };
  const metrics = new PrometheusMetrics({ build: buildInfo() });
  const ports = { kube: readOnlyKube(kube), cloud, clock, random: systemRandom, log, metrics };
  const { world, informers } = createWorld(ports);
  const planner = new Planner(world);
  const end = new AbortController();
  const running = informers.run(end.signal);
  try {
    const isComplete = await Promise.race([
      informers.synced(end.signal).then(() => true),
      clock.sleep(PATIENCE, end.signal).then(() => false),
    ]);
    if (!isComplete) {
      throw new NodewrightError('ClusterUnreadable', { problem: messageOf(lastError) }, { cause: lastError });
    }
    const moment = await planner.moment(cloud, isUsable, end.signal);
    return await use({ world, moment });
  } finally {
    end.abort();
    await running;
  }
}
