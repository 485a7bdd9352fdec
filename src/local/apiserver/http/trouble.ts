/** Trouble that a server makes on purpose: delays, refusals, cut watches. */
import type { ApiRequest } from './message.ts';

export interface RequestTrouble {
  /** Before a request is answered: may take its time, or throw the `KubeError` that the client is to hear. */
  before(request: ApiRequest): Promise<void>;
  /** Around the lines of a watch: a `KubeError` thrown here cuts the connection. */
  watching(request: ApiRequest, lines: AsyncIterable<string>): AsyncIterable<string>;
}
