import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';

/**
 * Delays the registration of a Node. Until all hooks are done, the Node keeps its `unregistered` taint. A hook that
 * throws is retried with the usual backoff.
 */
export interface RegistrationHook {
  readonly name: string;
  /** True when done; otherwise the milliseconds until the next call. */
  isDone(claim: NodeClaim, signal: AbortSignal): Promise<true | { readonly requeueAfter: number }>;
  /** Called when the Node accepts pods. The rest of its registration waits for this. */
  opened?(claim: NodeClaim, signal: AbortSignal): Promise<void>;
}
