/** What the screens are made of: the cluster at one moment, the latest decisions, and where further answers come from. */
import type { Pod } from '../api/kinds.ts';
import type { CloudProvider } from '../cloud/cloudProvider.ts';
import type { NodeView } from '../cluster/nodeView.ts';
import type { Pass } from '../disruption/method.ts';
import type { Kube } from '../kube/kube.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ClusterObjects } from '../rehearsal/clusterObjects.ts';
import type { ControllerState } from './screens.ts';

/** Immutable. Views and pools are the same objects as before unless something about them changed. */
export interface Picture {
  readonly time: number;
  readonly views: readonly NodeView[];
  readonly pendingPods: readonly Pod[];
  /** By name; those whose instance types are known. */
  readonly pools: Pass['pools'];
}

/** Where rehearsals start from. */
export interface RehearsalSource {
  readonly objects: ClusterObjects;
  readonly cloud: CloudProvider;
  /** Answers for kinds that loops do not read, such as the owners of pods. */
  readonly kube: Kube;
}

/** An offering that the cloud could not deliver lately. */
export interface UnavailableOffering {
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: string;
  readonly until: number;
}

export interface DashboardSource {
  /** Shown at the top: which cluster this is. */
  readonly title: string;
  readonly version: string;
  readonly ledger: Ledger;
  state(): ControllerState;
  /** Undefined while nothing is known. */
  picture(): Promise<Picture | undefined>;
  /** Undefined while nothing is known. */
  rehearsal(): RehearsalSource | undefined;
  /** Metrics in Prometheus's text format, in parts; none where there is no controller. */
  metrics(): AsyncIterable<string>;
  unavailable(): readonly UnavailableOffering[];
}
