/**
 * Azure's rate limits by bucket: for all requests of a kind in the subscription, for an operation, and for one
 * resource. After a refusal, all requests that use the same bucket wait for the time that Azure demands. A budget that
 * runs low is spent slowly; waiting requests resume one after another, not all at once.
 */
import type { PipelineResponse } from '@azure/core-rest-pipeline';
import type { Clock } from '../clock/clock.ts';
import type { Random } from '../clock/random.ts';
import type { Counter, Gauge, MetricsRegistry } from '../kube/metrics.ts';
import type { ArmRequest } from './armRequest.ts';

export interface ArmBudgetOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: MetricsRegistry;
}

interface Bucket {
  /** Nothing may be sent before this time. */
  heldUntil: number;
  /** Azure's last figure for the remaining budget, and its time. */
  remaining: number;
  notedAt: number;
  /** Number of requests waiting for the end of the hold. */
  waiting: number;
}

/** Below this remaining budget, a request waits in proportion to the shortage. */
const LOW = 20;
const LOW_WAIT = 2_000;
/** A figure older than this is ignored: buckets refill every second. */
const BELIEVED_FOR = 10_000;
/** Average milliseconds between two requests that resume after a hold. */
const RETURN_GAP = 50;
const MAX_SPREAD = 30_000;
const MAX_BUCKETS = 5_000;
/** ARM's own headers; the suffix is the kind of request. */
const SUBSCRIPTION = 'x-ms-ratelimit-remaining-subscription-';
/** `Microsoft.Compute/PutVMSubscriptionMaximum;239,Microsoft.Compute/PutVMResource;11`. */
const RESOURCE = 'x-ms-ratelimit-remaining-resource';
const GRAPH = 'x-ms-user-quota-remaining';

export class ArmBudget {
  private readonly options: ArmBudgetOptions;
  private readonly buckets = new Map<string, Bucket>();
  private readonly remaining: Gauge;
  private readonly waited: Counter;

  constructor(options: ArmBudgetOptions) {
    this.options = options;
    const { metrics } = options;
    this.remaining = metrics.gauge({
      name: 'nodewright_azure_throttle_remaining',
      help: 'Requests that Azure still allows, by bucket, as it said last.',
      labels: ['bucket'],
    });
    this.waited = metrics.counter({
      name: 'nodewright_azure_throttle_wait_seconds_total',
      help: 'Seconds that requests to Azure waited for a rate limit, by operation.',
      labels: ['operation'],
    });
  }

  /** Resolves when the request may be sent. */
  async admit(request: ArmRequest, signal?: AbortSignal): Promise<void> {
    const { clock } = this.options;
    for (;;) {
      const held = this.bucketsOf(request).filter(({ heldUntil }) => heldUntil > clock.now());
      const wait = held.length === 0 ? this.lowWait(request) : this.holdWait(held);
      if (wait <= 0) return;
      this.waited.inc({ operation: request.operation }, wait / 1000);
      for (const bucket of held) bucket.waiting += 1;
      try {
        await clock.sleep(wait, signal);
      } finally {
        for (const bucket of held) bucket.waiting -= 1;
      }
      if (held.length === 0) return;
    }
  }

  /** Updates the budget from an answer; `retryAfter`: milliseconds that Azure asked to wait. */
  note(request: ArmRequest, response: PipelineResponse, retryAfter: number | undefined): void {
    if (response.status !== 429) {
      this.noteFigures(request, response);
      return;
    }
    const key = refusedBucket(request, response);
    const bucket = this.bucket(key);
    bucket.heldUntil = Math.max(bucket.heldUntil, this.options.clock.now() + (retryAfter ?? 0));
    // After the hold some budget is available; the next answer tells how much.
    bucket.remaining = Number.POSITIVE_INFINITY;
    if (key !== resourceKey(request)) this.remaining.set({ bucket: key }, 0);
  }

  private noteFigures(request: ArmRequest, { headers }: PipelineResponse): void {
    const figures: readonly (readonly [string, string | undefined])[] = [
      [subscriptionKey(request), headers.get(`${SUBSCRIPTION}${request.kind}`)],
      [operationKey(request), leastOf(headers.get(RESOURCE)) ?? headers.get(GRAPH)],
    ];
    for (const [key, text] of figures) {
      const figure = Number(text ?? Number.NaN);
      if (!Number.isFinite(figure)) continue;
      const bucket = this.bucket(key);
      bucket.remaining = figure;
      bucket.notedAt = this.options.clock.now();
      this.remaining.set({ bucket: key }, figure);
    }
  }

  /** Waits until the hold is over, plus a random time: the more requests wait, the more they are spread. */
  private holdWait(held: readonly Bucket[]): number {
    const { clock, random } = this.options;
    const until = Math.max(...held.map(({ heldUntil }) => heldUntil));
    const waiting = Math.max(...held.map((bucket) => bucket.waiting));
    return until - clock.now() + random.next() * Math.min(MAX_SPREAD, RETURN_GAP * waiting);
  }

  private lowWait(request: ArmRequest): number {
    const { clock, random } = this.options;
    const now = clock.now();
    const lows = this.bucketsOf(request)
      .filter(({ notedAt }) => now - notedAt < BELIEVED_FOR)
      .map(({ remaining }) => Math.max(0, LOW - remaining) / LOW);
    const lowest = Math.max(0, ...lows);
    return lowest === 0 ? 0 : LOW_WAIT * lowest * (0.5 + random.next());
  }

  private bucketsOf(request: ArmRequest): readonly Bucket[] {
    return [subscriptionKey(request), operationKey(request), resourceKey(request)].flatMap((key) => {
      const bucket = this.buckets.get(key);
      return bucket === undefined ? [] : [bucket];
    });
  }

  private bucket(key: string): Bucket {
    const known = this.buckets.get(key);
    if (known !== undefined) return known;
    if (this.buckets.size >= MAX_BUCKETS) this.forgetIdle();
    const made: Bucket = { heldUntil: 0, remaining: Number.POSITIVE_INFINITY, notedAt: 0, waiting: 0 };
    this.buckets.set(key, made);
    return made;
  }

  private forgetIdle(): void {
    const now = this.options.clock.now();
    for (const [key, { heldUntil, waiting }] of this.buckets) {
      if (heldUntil <= now && waiting === 0) this.buckets.delete(key);
    }
  }
}

function subscriptionKey({ kind }: ArmRequest): string {
  return `subscription ${kind}`;
}

function operationKey({ operation }: ArmRequest): string {
  return operation;
}

function resourceKey({ operation, resource }: ArmRequest): string {
  return `${operation} ${resource}`;
}

/** The bucket of a refusal, from the headers or the code. If unclear, the operation's. */
function refusedBucket(request: ArmRequest, { headers, bodyAsText }: PipelineResponse): string {
  const ofSubscription =
    headers.get(`${SUBSCRIPTION}${request.kind}`) === '0' ||
    /"(?:Subscription|Tenant)RequestsThrottled"/.test(bodyAsText ?? '');
  if (ofSubscription) return subscriptionKey(request);
  const spent = entriesOf(headers.get(RESOURCE)).filter(({ left }) => left === 0);
  const onlyResource = spent.length > 0 && spent.every(({ name }) => name.endsWith('Resource'));
  return onlyResource ? resourceKey(request) : operationKey(request);
}

/** The lowest remaining subscription limit; limits of one resource do not apply to the whole operation. */
function leastOf(header: string | undefined): string | undefined {
  const shared = entriesOf(header).filter(({ name }) => !name.endsWith('Resource'));
  return shared.length === 0 ? undefined : String(Math.min(...shared.map(({ left }) => left)));
}

function entriesOf(header: string | undefined): readonly { readonly name: string; readonly left: number }[] {
  return (header ?? '').split(',').flatMap((entry) => {
    const [name = '', left = ''] = entry.trim().split(';');
    return name === '' || left === '' || Number.isNaN(Number(left)) ? [] : [{ name, left: Number(left) }];
  });
}
