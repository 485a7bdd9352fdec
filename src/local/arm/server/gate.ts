/** The checks of every ARM request: token, api-version, subscription, rate limits, roles. */
import type { ArmError } from '../armError.ts';
import { refusal } from '../refusal.ts';
import { authorize, type Principal } from '../directory/principals.ts';
import type { Tokens } from '../directory/tokens.ts';
import { textAt } from '../jsonPath.ts';
import type { ResourceStore } from '../resourceStore.ts';
import { checkApiVersion } from './apiVersions.ts';
import { actionOf, parseResourcePath, type ResourcePath } from './resourcePath.ts';
import type { Throttling } from './throttling.ts';

export interface GateOptions {
  readonly tokens: Tokens;
  readonly store: ResourceStore;
  /** Undefined: no throttling. */
  readonly throttling: Throttling | undefined;
  /** Other subscriptions that may be read because they share images. */
  readonly sharedSubscriptions: readonly string[];
}

export interface Arrival {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly authorization: string | undefined;
  readonly body: unknown;
}

export interface Admission {
  readonly principal: Principal;
  readonly headers: Readonly<Record<string, string>>;
}

/** Paths of operations, which need a token but no role. */
const OPERATION = /\/(operations|operationresults)\/[^/]+$/i;

export class Gate {
  private readonly options: GateOptions;

  constructor(options: GateOptions) {
    this.options = options;
  }

  /** Throws unless the request is allowed; `known` says whether its path has a route. */
  admit(arrival: Arrival, known: boolean): Admission {
    const { tokens, throttling } = this.options;
    const { method, path: address } = arrival;
    const principal = tokens.check(arrival.authorization);
    const path = parseResourcePath(address);
    checkApiVersion(arrival.query.get('api-version'), path, method, this.locationOf(arrival, path));
    this.checkSubscription(path);
    if (!known) throw unknownType(path, address);
    const headers = throttling?.admit({ method, path, actor: principal.objectId, address }) ?? {};
    if (!OPERATION.test(address)) authorize(principal, actionOf(path, method), scopeOf(address));
    return { principal, headers };
  }

  private checkSubscription({ subscription }: ResourcePath): void {
    const { store, sharedSubscriptions } = this.options;
    if (subscription === undefined) return;
    const known = [store.subscriptionId, ...sharedSubscriptions].map((each) => each.toLowerCase());
    if (known.includes(subscription.toLowerCase())) return;
    throw refusal('SubscriptionNotFound', { subscription });
  }

  private locationOf({ path, body }: Arrival, { names }: ResourcePath): string | undefined {
    if (names.length === 0) return undefined;
    return this.options.store.find(path)?.location ?? textAt(body, 'location');
  }
}

/** Returns the scope of a request: for an action, its resource. */
function scopeOf(address: string): string {
  const { names, tail } = parseResourcePath(address);
  return tail === undefined || names.length === 0 ? address : address.replace(/\/[^/]+\/?$/, '');
}

function unknownType(path: ResourcePath, address: string): ArmError {
  if (path.namespace === undefined) return refusal('NotFound.address', { address });
  const type = path.tail === undefined ? path.type : `${path.type}/${path.tail}`.replace(/^\//, '');
  return refusal('InvalidResourceType.namespace', { type, namespace: path.namespace });
}
