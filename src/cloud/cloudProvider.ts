import type { Node } from '../api/kinds.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import type { NodePool } from '../api/kinds/nodePool.ts';
import type { KubeObject, ResourceKind } from '../api/object.ts';
import type { InstanceType, QuotaFigure } from './instanceType.ts';

/**
 * The cloud port. Callers pass objects from their watches: no call reads a pool, a node class, a node or a claim from
 * the API server. The node class is of one of `nodeClasses`, exists and is not being deleted. Contract for every
 * implementation:
 * - `create` launches exactly one instance for the claim, and is idempotent by the claim's UID or name: called again
 * after a crash it finds the instance that it started before. The instance boots with the taint
 * `karpenter.sh/unregistered:NoExecute` and a Node whose `spec.providerID` equals the returned one. It may return as
 * soon as the cloud has accepted the launch; later failures are reported to `onFailure`.
 * - `delete` starts or continues the removal and returns; it throws `InstanceNotFoundError` once nothing is left.
 * Callers repeat it until then.
 * - `list` returns only instances of this cluster, including those without a claim.
 * - `instanceTypes` returns every type of the pool, including unavailable ones.
 * - Failures are the errors of errors.ts; anything else is a transient fault that the caller retries.
 */
export interface CloudProvider {
  /** The value of the `provider` metric label. */
  readonly name: string;
  /** The supported node classes; the first is the default. */
  readonly nodeClasses: readonly ResourceKind<KubeObject>[];
  create(request: LaunchRequest, signal?: AbortSignal): Promise<Instance>;
  delete(claim: NodeClaim, signal?: AbortSignal): Promise<void>;
  get(providerID: string, signal?: AbortSignal): Promise<Instance>;
  list(signal?: AbortSignal): Promise<readonly Instance[]>;
  instanceTypes(pool: NodePool, nodeClass: KubeObject, signal?: AbortSignal): Promise<readonly InstanceType[]>;
  /**
   * The quotas that apply to offerings, by name; unknown ones are missing. `unlaunched`: claims without an instance
   * yet, which count as planned. Not implemented by a cloud without quotas.
   */
  quotas?(unlaunched: readonly NodeClaim[]): ReadonlyMap<string, QuotaFigure>;
  /** Why the instance no longer matches its node class; undefined when it does. */
  driftReason(subject: DriftSubject, signal?: AbortSignal): Promise<string | undefined>;
  readonly repairPolicies: readonly RepairPolicy[];
}

export interface LaunchRequest<C extends KubeObject = KubeObject> {
  readonly claim: NodeClaim;
  readonly nodeClass: C;
  /** The caller's view of the instance types: the choice uses its prices and resources. Absent: unchanged types. */
  readonly view?: TypeView;
  /** The launch failed after `create` had returned; the instance is being removed. Called at most once. */
  readonly onFailure?: (error: Error) => void;
}

export interface DriftSubject<C extends KubeObject = KubeObject> {
  readonly claim: NodeClaim;
  readonly nodeClass: C;
  /** The claim's node, if there is one. */
  readonly node: Node | undefined;
}

/** The same types in the same order, with other prices or more resources. */
export type TypeView = (types: readonly InstanceType[]) => readonly InstanceType[];

/** What the cloud knows of one instance. Quantities are text, as they are written into the NodeClaim's status. */
export interface Instance {
  readonly providerID: string;
  /** Name of the NodeClaim for which the instance was created, if the cloud recorded it. */
  readonly claimName?: string;
  readonly imageID?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly capacity: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch. */
  readonly createdAt?: number;
  /** The cloud is already removing it. */
  readonly deleting?: boolean;
}

/** A node condition that justifies replacing the node after `toleration` milliseconds. */
export interface RepairPolicy {
  readonly conditionType: string;
  readonly conditionStatus: 'True' | 'False' | 'Unknown';
  readonly toleration: number;
  /** Reasons of the condition that count; absent: any. */
  readonly reasons?: readonly string[];
  /** The condition means that the cloud is about to remove the instance. */
  readonly isLeaving?: boolean;
}
