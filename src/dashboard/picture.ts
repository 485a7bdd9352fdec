/** Input of the screens: the cluster at one moment, the latest decisions, and sources of further answers. */
import type { Pod } from '../api/kinds.ts';
import type { CloudProvider } from '../cloud/cloudProvider.ts';
import type { NodeView } from '../cluster/nodeView.ts';
import type { Pass } from '../disruption/method.ts';
import type { Kube } from '../kube/kube.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ClusterObjects } from '../rehearsal/clusterObjects.ts';
import type { ControllerState } from './screens.ts';

/** Immutable. Unchanged views and pools are identical objects. */
export interface Picture {
  readonly time: number;
  readonly views: readonly NodeView[];
  readonly pendingPods: readonly Pod[];
  /** They wait too, and no plan counts them. */
  readonly heldPods: readonly Pod[];
  /** By name; those with known instance types. */
  readonly pools: Pass['pools'];
}

/** Input of rehearsals. */
export interface RehearsalSource {
  readonly objects: ClusterObjects;
  readonly cloud: CloudProvider;
  /** For reading kinds that loops do not watch, such as owners of pods. */
  readonly kube: Kube;
}

/** An offering that recently failed in the cloud. */
export interface UnavailableOffering {
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: string;
  readonly until: number;
}

export interface DashboardSource {
  /** Title of the page: which cluster it is. */
  readonly title: string;
  readonly version: string;
  readonly ledger: Ledger;
  state(): ControllerState;
  /** Undefined while the cluster is unknown. */
  picture(): Promise<Picture | undefined>;
  /** Undefined while the cluster is unknown. */
  rehearsal(): RehearsalSource | undefined;
  /** Metrics in Prometheus's text format, in parts; empty without a controller. */
  metrics(): AsyncIterable<string>;
  unavailable(): readonly UnavailableOffering[];
}
