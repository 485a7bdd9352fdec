/** What the routes of the local Azure share, and the responses that they have in common. */
import type { Clock } from '../../clock/clock.ts';
import type { Random } from '../../clock/random.ts';
import type { Operation, Operations } from './operations.ts';
import type { ResourceStore } from './resourceStore.ts';
import type { ArmResponse } from './router.ts';
import type { SkuCatalogue } from '../../catalogue/skuCatalogue.ts';

/** How long changes take, in milliseconds. */
export interface ArmDurations {
  readonly networkInterface: number;
  readonly virtualMachineCreate: number;
  readonly virtualMachineDelete: number;
  readonly extension: number;
}

export interface ArmContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly store: ResourceStore;
  readonly operations: Operations;
  readonly catalogue: SkuCatalogue;
  readonly location: string;
  readonly durations: ArmDurations;
  /** `https://127.0.0.1:<port>`, known once the server listens. */
  readonly endpoint: () => string;
}

/** Real Azure says 10 for machines; a local change may be over sooner. */
const MAX_RETRY_AFTER_SECONDS = 10;

/** When a client should ask again, in whole seconds. */
export function retryAfter(context: ArmContext, operation: Operation): string {
  const seconds = Math.floor((operation.endsAt - context.clock.now()) / 1000);
  return String(Math.min(Math.max(seconds, 0), MAX_RETRY_AFTER_SECONDS));
}

/** Headers that let a client follow an operation, in both ways that ARM offers. */
function operationHeaders(
  context: ArmContext,
  namespace: string,
  operation: Operation,
): Readonly<Record<string, string>> {
  const base = `${context.endpoint()}/subscriptions/${context.store.subscriptionId}/providers/${namespace}/locations/${context.location}`;
  const version = 'api-version=2024-07-01';
  return {
    'azure-asyncoperation': `${base}/operations/${operation.id}?${version}`,
    location: `${base}/operationResults/${operation.id}?${version}`,
    'retry-after': retryAfter(context, operation),
  };
}

/** PUT and PATCH answers carry the resource, and a 201 no Location: the resource's own address is the result. */
export function changed(
  context: ArmContext,
  namespace: string,
  status: 200 | 201,
  body: unknown,
  operation: Operation,
): ArmResponse {
  const { location: _location, ...headers } = operationHeaders(context, namespace, operation);
  return { status, body, headers };
}

export function accepted(context: ArmContext, namespace: string, operation: Operation): ArmResponse {
  return { status: 202, headers: operationHeaders(context, namespace, operation) };
}

export function listed(values: readonly unknown[]): ArmResponse {
  return { status: 200, body: { value: values } };
}

export function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
