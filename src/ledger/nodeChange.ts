/** A change that allows a kept node to be removed, as plain data. */
import type { DisruptionReason } from '../api/kinds/nodePool.ts';

export type NodeChange =
  | { readonly kind: 'unprotect-node'; readonly node: string }
  | { readonly kind: 'unprotect-pods'; readonly pods: readonly string[] }
  /** Set the number of pods that the PodDisruptionBudget allows to be down. */
  | { readonly kind: 'pod-budget'; readonly budget: string; readonly maxUnavailable: number }
  | { readonly kind: 'pod-budget-least'; readonly budget: string; readonly minAvailable: number }
  /** Let the PodDisruptionBudget allow eviction of pods that are not ready. */
  | { readonly kind: 'pod-budget-unhealthy'; readonly budget: string }
  /** Change the PodDisruptionBudget so that it selects nothing. */
  | { readonly kind: 'pod-budget-selector'; readonly budget: string; readonly instead: string }
  | { readonly kind: 'pool-label'; readonly node: string; readonly pool: string }
  | { readonly kind: 'node-label'; readonly node: string; readonly key: string; readonly value: string }
  | { readonly kind: 'consolidate-after'; readonly pool: string; readonly from: string; readonly to: string }
  | { readonly kind: 'policy'; readonly pool: string; readonly from: string; readonly to: string }
  | { readonly kind: 'budget'; readonly pool: string; readonly reason: DisruptionReason; readonly nodes: string }
  | { readonly kind: 'replicas'; readonly pool: string; readonly from: number; readonly to: number }
  | { readonly kind: 'min-values'; readonly pool: string; readonly key: string; readonly to: number }
  | { readonly kind: 'node-limit'; readonly pool: string; readonly to: number }
  | { readonly kind: 'drop-requirement'; readonly pool: string; readonly key: string }
  /** Scale workloads down to the replicas that they have elsewhere. */
  | {
      readonly kind: 'scale-down';
      readonly owners: readonly { readonly name: string; readonly replicas: number }[];
    }
  /** Keep new pods off the node. */
  | { readonly kind: 'cordon'; readonly node: string }
  | { readonly kind: 'suspend'; readonly jobs: readonly string[] }
  /** Delete pods without an owner, which cannot be changed. */
  | { readonly kind: 'delete-pods'; readonly pods: readonly string[] }
  /** A change, told as words, that is enough only while savings are expected to last. */
  | { readonly kind: 'if-savings-last'; readonly change: string }
  | { readonly kind: 'delete-claim'; readonly nodeClaim: string }
  | { readonly kind: 'feature-gate'; readonly gate: string };
