import type { Clock } from '../../clock/clock.ts';
import type { Random } from '../../clock/random.ts';
import type { CloudProvider } from '../../cloud/cloudProvider.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Kube } from '../../kube/kube.ts';
import type { Log } from '../../kube/log.ts';
import type { MetricsRegistry } from '../../kube/metrics.ts';
import type { ServerVersion } from '../../kube/serverVersion.ts';
import type { Tracer } from '../../kube/trace.ts';
import type { ClusterInformers } from './clusterInformers.ts';
import type { OverlayStore } from '../nodeoverlay/overlayCloud.ts';
import type { Notices } from './notices.ts';
import type { PodTimes } from './podTimes.ts';
import type { RegistrationHealth } from '../nodepool-registration-health/registrationHealth.ts';

/** Context of every loop of the engine: the ports, the cluster, and the watches that wake loops. */
export interface World {
  /** Writes through to `cluster` (see writeThroughKube.ts). */
  readonly kube: Kube;
  readonly cloud: CloudProvider;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: MetricsRegistry;
  readonly events: Notices;
  /** The latest decisions. */
  readonly ledger: Ledger;
  readonly cluster: Cluster;
  readonly serverVersion: ServerVersion;
  readonly informers: ClusterInformers;
  readonly registrationHealth: RegistrationHealth;
  readonly podTimes: PodTimes;
  /** Set when overlays are enabled; `cloud` already applies them. */
  readonly overlays?: OverlayStore;
  /** Set when passes are traced. */
  readonly tracer?: Tracer;
}
