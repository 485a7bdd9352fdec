/** Whom a fault of the API concerns. In: the order and who asks. Out: whether it is meant for them. */
import type { FaultOrder } from './faultKinds.ts';

export const NODEWRIGHT = 'nodewright';

/** Without `client=` a fault is meant for nodewright; `all` means everybody; else the beginning of a user agent. */
export function concernsClient({ texts }: FaultOrder, client: string): boolean {
  const wanted = texts['client']?.toLowerCase() ?? NODEWRIGHT;
  return wanted === 'all' || client.toLowerCase().startsWith(wanted);
}
