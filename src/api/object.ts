/**
 * The types common to all Kubernetes objects. Objects are raw API JSON, so timestamps are strings and quantities are
 * text.
 */
/** @public */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: string;
  readonly apiVersion?: string;
  readonly time?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: object;
  readonly subresource?: string;
}

export interface ObjectMeta {
  name: string;
  namespace?: string;
  generateName?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  managedFields?: ManagedFieldsEntry[];
}

export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
}

export interface KubeList<T extends KubeObject> {
  apiVersion?: string;
  kind?: string;
  metadata: { resourceVersion?: string; continue?: string; remainingItemCount?: number };
  items: T[];
}

export type ConditionStatus = 'True' | 'False' | 'Unknown';

/** One entry of `status.conditions`. */
export interface Condition {
  type: string;
  status: ConditionStatus;
  /** RFC 3339; changes only when `status` does. */
  lastTransitionTime: string;
  reason?: string;
  message?: string;
  observedGeneration?: number;
}

/**
 * Identifies a kind for the API server and, through the phantom parameter, its TypeScript type: `kube.get(NODE_POOL,
 * …)` is a `Promise<NodePool>`.
 */
export interface ResourceKind<T extends KubeObject> {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** Never present at run time: carries `T`. */
  readonly __object?: T;
}

/** The `apiVersion` of objects of this kind: `v1`, `karpenter.sh/v1`. */
export function apiVersionOf(kind: Pick<ResourceKind<KubeObject>, 'group' | 'version'>): string {
  return kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
}

/** A type of the published Kubernetes definitions, with the metadata that every stored object has. */
export type WithMeta<T> = Omit<T, 'metadata'> & { metadata: ObjectMeta };
