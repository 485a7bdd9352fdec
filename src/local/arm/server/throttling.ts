/** Rate limits: token buckets as documented for ARM and compute, with their headers and refusals. */
import type { Clock } from '../../../clock/clock.ts';
import type { ArmError } from '../armError.ts';
import { refusal } from '../refusal.ts';
import type { ResourcePath } from './resourcePath.ts';

/** Capacity of a token bucket, and its refill per second. */
export interface BucketSize {
  readonly capacity: number;
  readonly perSecond: number;
}

export interface ThrottleLimits {
  readonly subscription: Readonly<Record<'reads' | 'writes' | 'deletes', BucketSize>>;
  /** For requests that name no subscription. */
  readonly tenant: Readonly<Record<'reads' | 'writes', BucketSize>>;
  /** By group of operations: per subscription, and per resource. */
  readonly compute: Readonly<
    Record<string, { readonly subscription: BucketSize; readonly resource: BucketSize | undefined }>
  >;
  readonly graph: BucketSize;
}

const perMinute = (capacity: number, refill: number): BucketSize => ({ capacity, perSecond: refill / 60 });
const change = { subscription: perMinute(1500, 500), resource: perMinute(12, 4) };

/** Azure's documented limits for one principal in one region. */
export const AZURE_LIMITS: ThrottleLimits = {
  subscription: {
    reads: { capacity: 250, perSecond: 25 },
    writes: { capacity: 200, perSecond: 10 },
    deletes: { capacity: 200, perSecond: 10 },
  },
  tenant: { reads: { capacity: 250, perSecond: 25 }, writes: { capacity: 200, perSecond: 10 } },
  compute: {
    PutVM: change,
    UpdateVM: change,
    DeleteVM: change,
    LowCostGet: { subscription: perMinute(24_000, 8000), resource: perMinute(36, 12) },
    HighCostGet: { subscription: perMinute(900, 300), resource: undefined },
    GetOperation: { subscription: perMinute(15_000, 5000), resource: perMinute(45, 15) },
    PutDisk: { subscription: perMinute(1000, 1000 / 3), resource: undefined },
    GetDisk: { subscription: perMinute(9000, 3000), resource: undefined },
  },
  graph: { capacity: 15, perSecond: 3 },
};

interface Bucket {
  readonly size: BucketSize;
  tokens: number;
  at: number;
}

const MAX_BUCKETS = 50_000;
const DELETING_ACTIONS: ReadonlySet<string> = new Set(['deallocate', 'simulateeviction']);

export interface ThrottledRequest {
  readonly method: string;
  readonly path: ResourcePath;
  /** Object id of the principal; each principal has its own limits. */
  readonly actor: string;
  /** The whole path, which names the resource that a bucket may belong to. */
  readonly address: string;
}

export class Throttling {
  private readonly clock: Clock;
  private readonly limits: ThrottleLimits;
  private readonly buckets = new Map<string, Bucket>();

  constructor(clock: Clock, limits: ThrottleLimits = AZURE_LIMITS) {
    this.clock = clock;
    this.limits = limits;
  }

  /** Counts a request and returns its rate-limit headers; throws 429 above a limit. */
  admit(request: ThrottledRequest): Readonly<Record<string, string>> {
    return { ...this.admitToArm(request), ...this.admitToCompute(request), ...this.admitToGraph(request) };
  }

  private admitToArm({ method, path, actor }: ThrottledRequest): Readonly<Record<string, string>> {
    const kind = kindOf(method);
    const scope = path.subscription === undefined ? 'tenant' : 'subscription';
    const counted = scope === 'tenant' && kind === 'deletes' ? 'writes' : kind;
    const size = this.limits[scope][counted as 'reads' | 'writes'];
    const bucket = this.bucket(`arm/${scope}/${counted}/${actor}`, size);
    const wait = this.take(bucket);
    if (wait > 0) {
      const code = scope === 'tenant' ? 'TenantRequestsThrottled' : 'SubscriptionRequestsThrottled';
      const headers = { 'retry-after': String(wait), [remainingHeader(scope, counted)]: '0' };
      throw refusal(code, { noun: counted.slice(0, -1), subscription: path.subscription, actor, wait }, { headers });
    }
    const left = Math.floor(bucket.tokens);
    return {
      [remainingHeader(scope, counted)]: String(left),
      ...(scope === 'subscription'
        ? { [`x-ms-ratelimit-remaining-subscription-global-${counted}`]: String(left + 14 * size.capacity) }
        : {}),
    };
  }

  private admitToCompute({ method, path, actor, address }: ThrottledRequest): Readonly<Record<string, string>> {
    const group = computeGroup(method, path);
    const sizes = group === undefined ? undefined : this.limits.compute[group];
    if (group === undefined || sizes === undefined) return {};
    const resource = address.toLowerCase().split('/providers/').slice(0, 2).join('/');
    const policies: readonly (readonly [string, Bucket])[] = [
      [`${group}SubscriptionMaximum`, this.bucket(`compute/${group}/${actor}`, sizes.subscription)],
      ...(sizes.resource === undefined
        ? []
        : [[`${group}Resource`, this.bucket(`compute/${group}/${resource}`, sizes.resource)] as const]),
    ];
    for (const [name, bucket] of policies) {
      const wait = this.take(bucket);
      if (wait > 0) throw this.tooMany(name, bucket, wait);
    }
    const left = policies.map(([name, bucket]) => `Microsoft.Compute/${name};${Math.floor(bucket.tokens)}`);
    return { 'x-ms-ratelimit-remaining-resource': left.join(',') };
  }

  private admitToGraph({ path, actor }: ThrottledRequest): Readonly<Record<string, string>> {
    if (path.namespace?.toLowerCase() !== 'microsoft.resourcegraph') return {};
    const bucket = this.bucket(`graph/${actor}`, this.limits.graph);
    const wait = this.take(bucket);
    const resetsAfter = Math.max(1, Math.ceil((bucket.size.capacity - bucket.tokens) / bucket.size.perSecond));
    const headers = {
      'x-ms-user-quota-remaining': String(Math.max(0, Math.floor(bucket.tokens))),
      'x-ms-user-quota-resets-after': `00:00:${String(Math.min(resetsAfter, 59)).padStart(2, '0')}`,
    };
    if (wait > 0) throw refusal('RateLimiting', {}, { headers: { ...headers, 'retry-after': String(wait) } });
    return headers;
  }

  private tooMany(policy: string, { size, at }: Bucket, wait: number): ArmError {
    const measured = {
      operationGroup: policy,
      startTime: new Date(at - 60_000).toISOString(),
      endTime: new Date(at + wait * 1000).toISOString(),
      allowedRequestCount: size.capacity,
      measuredRequestCount: size.capacity + 1,
    };
    return refusal(
      'OperationNotAllowed.throttled',
      {},
      {
        details: [{ code: 'TooManyRequests', target: policy, message: JSON.stringify(measured) }],
        innererror: { internalErrorCode: 'TooManyRequestsReceived' },
        headers: {
          'retry-after': String(wait),
          'x-ms-ratelimit-remaining-resource': `Microsoft.Compute/${policy};0`,
        },
      },
    );
  }

  /** Takes a token and returns 0, or returns the whole seconds until there is one. */
  private take(bucket: Bucket): number {
    if (bucket.tokens >= 1) {
      bucket.tokens -= 1;
      return 0;
    }
    return Math.max(1, Math.ceil((1 - bucket.tokens) / bucket.size.perSecond));
  }

  private bucket(key: string, size: BucketSize): Bucket {
    const now = this.clock.now();
    const known = this.buckets.get(key);
    if (known !== undefined) {
      const earned = (Math.max(0, now - known.at) / 1000) * size.perSecond;
      known.tokens = Math.min(size.capacity, known.tokens + earned);
      known.at = now;
      return known;
    }
    const bucket: Bucket = { size, tokens: size.capacity, at: now };
    if (this.buckets.size >= MAX_BUCKETS) this.forgetFull(now);
    this.buckets.set(key, bucket);
    return bucket;
  }

  /** Drops full buckets, which are like new ones. */
  private forgetFull(now: number): void {
    for (const [key, { size, tokens, at }] of this.buckets) {
      if (tokens + ((now - at) / 1000) * size.perSecond >= size.capacity) this.buckets.delete(key);
    }
  }
}

function kindOf(method: string): 'reads' | 'writes' | 'deletes' {
  if (method === 'GET' || method === 'HEAD') return 'reads';
  return method === 'DELETE' ? 'deletes' : 'writes';
}

function remainingHeader(scope: string, kind: string): string {
  return `x-ms-ratelimit-remaining-${scope}-${kind}`;
}

/** Returns the policy of compute that counts an operation. */
function computeGroup(method: string, { namespace, type, tail }: ResourcePath): string | undefined {
  if (namespace?.toLowerCase() !== 'microsoft.compute') return undefined;
  const words = `${type}/${tail ?? ''}`.toLowerCase();
  if (words.startsWith('locations/operation')) return 'GetOperation';
  if (words.startsWith('disks') || words.startsWith('/disks')) return method === 'GET' ? 'GetDisk' : 'PutDisk';
  if (!words.startsWith('virtualmachines') && !words.startsWith('/virtualmachines')) return undefined;
  if (method === 'GET') return words === '/virtualmachines' ? 'HighCostGet' : 'LowCostGet';
  if (method === 'DELETE') return type.toLowerCase() === 'virtualmachines' ? 'DeleteVM' : 'UpdateVM';
  if (method === 'PUT') return type.toLowerCase() === 'virtualmachines' ? 'PutVM' : 'UpdateVM';
  return DELETING_ACTIONS.has(tail?.toLowerCase() ?? '') ? 'DeleteVM' : 'UpdateVM';
}
