/** A change beside those that the solver suggests that gives a pod a place, as plain data. */
export type PodChange =
  | { readonly kind: 'ungate'; readonly gates: readonly string[] }
  | { readonly kind: 'scheduler'; readonly from: string; readonly to: string }
  /** The pod no longer asks for nodes without this label. */
  | { readonly kind: 'opt-in'; readonly label: string }
  /** Selectors and affinity terms that cannot be honoured go. */
  | { readonly kind: 'drop-invalid'; readonly keys: readonly string[] }
  | { readonly kind: 'drop-resource-claims' }
  /** Pods of the owner no longer keep away from each other; all are made anew. */
  | { readonly kind: 'drop-apartness'; readonly topologyKeys: readonly string[] }
  /** The rollout of its owner no longer waits for new pods before old ones go. */
  | { readonly kind: 'replace-at-once' }
  /** The pod keeps its data in its own node's directory instead of the claim. */
  | { readonly kind: 'empty-dir'; readonly claim: string }
  /** The claim is deleted and created again: its volume is gone. */
  | { readonly kind: 'remake-claim'; readonly claim: string; readonly storageClass?: string }
  | { readonly kind: 'claim-class'; readonly claim: string; readonly storageClass: string }
  | { readonly kind: 'ephemeral-class'; readonly volume: string; readonly storageClass: string }
  /** Something that has to be made: no patch does that. */
  | { readonly kind: 'create'; readonly what: string; readonly name: string }
  | { readonly kind: 'create-pool' }
  | { readonly kind: 'node-class'; readonly pool: string; readonly from: string; readonly to: string }
  | {
      readonly kind: 'replicas';
      readonly pool: string;
      readonly from: number;
      readonly to: number;
      /** Where its nodes have to be. */
      readonly zone?: string;
    }
  /** A pod that its owner makes again leaves its room to a pod that may run nowhere else. */
  | { readonly kind: 'make-way'; readonly pod: string }
  | { readonly kind: 'daemon-requests'; readonly daemonSet: string; readonly percent: number };
