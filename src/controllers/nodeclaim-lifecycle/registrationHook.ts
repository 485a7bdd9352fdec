import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';

/**
 * Delays the registration of a Node. While a hook is not done, the Node keeps its `unregistered` taint. A hook that
 * throws is retried with the usual backoff.
 */
export interface RegistrationHook {
  readonly name: string;
  /** True when it is done; otherwise when to ask again, in milliseconds. */
  isDone(claim: NodeClaim, signal: AbortSignal): Promise<true | { readonly requeueAfter: number }>;
  /** The Node takes pods now. What is left of its registration waits for this. */
  opened?(claim: NodeClaim, signal: AbortSignal): Promise<void>;
}
