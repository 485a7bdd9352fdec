/** Which clients of the API a fault concerns. */
import type { FaultOrder } from './faultKinds.ts';

export const NODEWRIGHT = 'nodewright';

/** Without `client=` a fault concerns nodewright; `all` is every client; else the beginning of a user agent. */
export function concernsClient({ texts }: FaultOrder, client: string): boolean {
  const wanted = texts['client']?.toLowerCase() ?? NODEWRIGHT;
  return wanted === 'all' || client.toLowerCase().startsWith(wanted);
}
