/** The context that the routes of the local Azure share, and responses of operations and lists. */
import type { Clock } from '../../clock/clock.ts';
import type { Random } from '../../clock/random.ts';
import type { SkuCatalogue } from '../../catalogue/skuCatalogue.ts';
import { refusal } from './refusal.ts';
import type { Operation, Operations } from './operations.ts';
import { present, type ArmResource, type ResourceStore } from './resourceStore.ts';
import { ok, type ArmRequest, type ArmResponse } from './server/router.ts';

/** How long changes take, in milliseconds. */
export interface ArmDurations {
  readonly networkInterface: number;
  readonly virtualMachineCreate: number;
  readonly virtualMachineDelete: number;
  /** A change of tags, identities or size. */
  readonly virtualMachineUpdate: number;
  /** Start, stop, restart. */
  readonly virtualMachinePower: number;
  readonly extension: number;
  /** Networks, security groups, load balancers, disks and other small resources. */
  readonly other: number;
  readonly managedCluster: number;
  readonly agentPool: number;
  readonly resourceGroupDelete: number;
  /** How long an interface stays reserved for a VM that could not be created. */
  readonly interfaceReservation: number;
}

export interface ArmContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly store: ResourceStore;
  readonly operations: Operations;
  /** VM sizes sold in the home region. */
  readonly catalogue: SkuCatalogue;
  /** Returns the VM sizes sold in a region; undefined means the home region. */
  readonly catalogueAt: (location: string | undefined) => SkuCatalogue;
  /** The home region, that of the initial cluster. */
  readonly location: string;
  readonly durations: ArmDurations;
  /** Maximum number of items on one page of a list. */
  readonly pageSize: number;
  /** `https://127.0.0.1:<port>`, known once the server listens. */
  readonly endpoint: () => string;
}

/** Azure sends 10 for VMs; a local change may end sooner. */
const MAX_RETRY_AFTER_SECONDS = 10;
const FALLBACK_VERSION = '2024-07-01';

/** Returns the value of the Retry-After header: whole seconds until the operation ends. */
export function retryAfter(context: ArmContext, operation: Operation): string {
  const seconds = Math.floor((operation.endsAt - context.clock.now()) / 1000);
  // Some clients read 0 as absent and wait 30 seconds, so only operations of less than a second get it.
  const least = operation.endsAt - operation.startedAt >= 1000 ? 1 : 0;
  return String(Math.min(Math.max(seconds, least), MAX_RETRY_AFTER_SECONDS));
}

/** Returns the headers for both of ARM's ways to poll an operation. */
function operationHeaders(
  context: ArmContext,
  request: ArmRequest,
  operation: Operation,
): Readonly<Record<'azure-asyncoperation' | 'location' | 'retry-after', string>> {
  const namespace = /\/providers\/([^/]+)/i.exec(request.path)?.[1] ?? 'Microsoft.Resources';
  const base = `${context.endpoint()}/subscriptions/${context.store.subscriptionId}/providers/${namespace}/locations/${context.location}`;
  const version = `api-version=${request.query.get('api-version') ?? FALLBACK_VERSION}`;
  return {
    'azure-asyncoperation': `${base}/operations/${operation.id}?${version}`,
    location: `${base}/operationResults/${operation.id}?${version}`,
    'retry-after': retryAfter(context, operation),
  };
}

/** Returns the response to a PUT or PATCH: the resource, and no Location, since clients read the result at its id. */
export function changed(
  context: ArmContext,
  request: ArmRequest,
  status: 200 | 201,
  resource: ArmResource,
  operation: Operation,
): ArmResponse {
  const { location: _location, ...headers } = operationHeaders(context, request, operation);
  return { status, body: present(resource), headers };
}

export function accepted(
  context: ArmContext,
  request: ArmRequest,
  operation: Operation,
  resource?: ArmResource,
): ArmResponse {
  return {
    status: 202,
    headers: operationHeaders(context, request, operation),
    ...(resource && { body: present(resource) }),
  };
}

/** Returns a list that always fits on one page. */
export function listed(values: readonly unknown[]): ArmResponse {
  return ok({ value: values });
}

/** Returns one page of resources in order of id, and the link to the next. New and deleted resources shift no page. */
export function paged(
  context: ArmContext,
  request: ArmRequest,
  resources: readonly ArmResource[],
  show: (resource: ArmResource) => unknown = present,
): ArmResponse {
  const top = Number(request.query.get('$top') ?? Number.NaN);
  const size = Number.isInteger(top) && top > 0 ? Math.min(top, context.pageSize) : context.pageSize;
  const after = lastOf(request.query.get('$skiptoken') ?? request.query.get('$skipToken'));
  const rest = resources.filter(({ id }) => id.toLowerCase() > after);
  const page = rest.slice(0, size);
  const last = page.at(-1);
  if (last === undefined || rest.length <= size) return listed(page.map(show));
  const query = new URLSearchParams(request.query);
  query.delete('$skipToken');
  query.set('$skiptoken', Buffer.from(last.id.toLowerCase()).toString('base64url'));
  const nextLink = `${context.endpoint()}${request.path}?${query.toString()}`;
  return ok({ value: page.map(show), nextLink });
}

function lastOf(skipToken: string | null): string {
  if (skipToken === null) return '';
  const id = Buffer.from(skipToken, 'base64url').toString('utf8');
  if (id.startsWith('/')) return id;
  throw refusal('InvalidSkipToken', { skipToken });
}

export function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
