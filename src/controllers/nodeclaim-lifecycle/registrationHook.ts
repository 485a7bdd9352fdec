import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';

/**
 * A say of others in when a machine counts as registered. While one is not done, the Node keeps its `unregistered`
 * taint. A hook that throws is asked again with the usual waits.
 */
export interface RegistrationHook {
  readonly name: string;
  /** True when it is done; otherwise when to ask again, in milliseconds. */
  isDone(claim: NodeClaim, signal: AbortSignal): Promise<true | { readonly requeueAfter: number }>;
}
