/** A change that gives a pod a place and that the solver does not suggest itself, as plain data. */
export type PodChange =
  | { readonly kind: 'ungate'; readonly gates: readonly string[] }
  | { readonly kind: 'scheduler'; readonly from: string; readonly to: string }
  /** The pod no longer excludes nodes with this label. */
  | { readonly kind: 'opt-in'; readonly label: string }
  /** Removes unsupported selectors and affinity terms. */
  | { readonly kind: 'drop-invalid'; readonly keys: readonly string[] }
  | { readonly kind: 'drop-resource-claims' }
  /** Removes anti-affinity between the owner's pods; all of them are recreated. */
  | { readonly kind: 'drop-apartness'; readonly topologyKeys: readonly string[] }
  /** The owner's rollout deletes old pods before new ones are ready. */
  | { readonly kind: 'replace-at-once' }
  /** The pod uses an emptyDir volume instead of the claim. */
  | { readonly kind: 'empty-dir'; readonly claim: string }
  /** The claim is deleted and created again: its volume is gone. */
  | { readonly kind: 'remake-claim'; readonly claim: string; readonly storageClass?: string }
  | { readonly kind: 'claim-class'; readonly claim: string; readonly storageClass: string }
  | { readonly kind: 'ephemeral-class'; readonly volume: string; readonly storageClass: string }
  /** Something must be created, which no patch can do. */
  | { readonly kind: 'create'; readonly what: string; readonly name: string }
  | { readonly kind: 'create-pool' }
  | { readonly kind: 'node-class'; readonly pool: string; readonly from: string; readonly to: string }
  | {
      readonly kind: 'replicas';
      readonly pool: string;
      readonly from: number;
      readonly to: number;
      /** Required zone of its nodes. */
      readonly zone?: string;
      /** Label on which the pool has a requirement that nothing sold meets. */
      readonly drop?: string;
    }
  /** A pod that its owner makes again leaves its room to a pod that may run nowhere else. */
  | { readonly kind: 'make-way'; readonly pod: string }
  | { readonly kind: 'daemon-requests'; readonly daemonSet: string; readonly percent: number };
