/**
 * Lists and watches one kind until stopped. After `complete` the sink has every object, and then receives every change.
 * Failures are retried with growing waits.
 */
import type { KubeObject, ResourceKind } from '../api/object.ts';
import type { Clock } from '../clock/clock.ts';
import type { Random } from '../clock/random.ts';
import type { ListMetadata } from './decodeList.ts';
import { isExpired, KubeError } from './errors.ts';
import { isItemwise } from './itemwiseKube.ts';
import type { Kube, ListOptions } from './kube.ts';
import { backoffDelay } from './runtime/backoff.ts';
import { SilenceAlarm, SilenceError } from './silenceAlarm.ts';

/** Receives a reflector's objects. */
export interface Sink<T> {
  /** A full list starts; it may start again before it completes. */
  begin(): void;
  upsert(object: T): void;
  remove(object: T): void;
  /** The list is complete: objects not upserted since `begin` no longer exist. */
  complete(): void;
}

/** Selects objects of the kind. */
export type Scope = Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector'>;

export interface ReflectorTuning {
  /** Objects per page of a list. */
  readonly pageSize?: number;
  /**
   * How the full list is fetched: in pages, or as the start of a watch, which is cheaper for the server and supported
   * from Kubernetes 1.34 on (elsewhere the reflector falls back to pages).
   */
  readonly listing?: 'paged' | 'streaming';
  /** Seconds after which the server should end a watch; up to the same time is added at random. */
  readonly watchSeconds?: number;
}

export interface ReflectorOptions<T extends KubeObject> extends ReflectorTuning {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  readonly kind: ResourceKind<T>;
  readonly scope: Scope;
  readonly sink: Sink<T>;
  readonly onError: (error: unknown) => void;
  /** Called when a watch ended earlier than requested. */
  readonly onBroken?: () => void;
}

const PAGE_SIZE = 500;
const WATCH_SECONDS = 300;
/** First wait 0.8 to 1.6 s; 15 to 30 s after many failures. */
const BACKOFF = { base: 1_600, max: 30_000, jitter: 0.5 };
/** A watch that ends sooner than this counts as failed. */
const SHORT_WATCH = 1_000;
/** If a watch is silent this long beyond its end, the connection is dead. */
const SILENCE_MARGIN = 30_000;
/** Some servers send bookmarks about once a minute; then silence is detected sooner. */
const BOOKMARK_SILENCE = 150_000;
/** A streamed list is sent without pauses; a server that cannot mark its end becomes silent. */
const LISTING_SILENCE = 30_000;
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

export class Reflector<T extends KubeObject> {
  private readonly options: ReflectorOptions<T>;
  /** Where the next watch resumes; undefined: a full list is needed. */
  private resourceVersion: string | undefined;
  private streaming: boolean;
  private failures = 0;
  private watchBegan = 0;
  private heardAny = false;
  /** Never reset: a server that has sent bookmarks will send them on the next watch too. */
  private sendsBookmarks = false;

  constructor(options: ReflectorOptions<T>) {
    this.options = options;
    this.streaming = options.listing === 'streaming';
  }

  /** Runs until the signal aborts, and resolves then. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.watchBegan = Number.POSITIVE_INFINITY;
      this.heardAny = false;
      let failure: unknown;
      try {
        await this.listAndWatch(signal);
      } catch (error) {
        failure = error ?? new Error('the watch broke');
      }
      if (signal.aborted) return;
      const pause = this.pauseAfter(failure);
      if (pause > 0) await this.options.clock.sleep(pause, signal).catch(() => {});
    }
  }

  private async listAndWatch(signal: AbortSignal): Promise<void> {
    if (this.resourceVersion !== undefined) return this.watch(this.resourceVersion, signal);
    if (this.streaming) return this.streamList(signal);
    this.resourceVersion = await this.pagedList(signal);
    return this.watch(this.resourceVersion, signal);
  }

  private pauseAfter(failure: unknown): number {
    const { clock, random, onError } = this.options;
    // A connection that takes long to fail does not count as a long watch.
    const lasted = clock.now() - this.watchBegan >= SHORT_WATCH && (failure === undefined || this.heardAny);
    if (lasted) this.failures = 0;
    if (lasted && failure === undefined) return 0;
    if (isExpired(failure) || isFromTheFuture(failure)) {
      this.resourceVersion = undefined;
      // Normal after a long silence: list again at once, unless that was just tried.
      if (this.failures++ === 0) return 0;
    } else if (failure !== undefined) onError(failure);
    const asked = failure instanceof KubeError ? (failure.retryAfter ?? 0) : 0;
    return Math.max(asked, backoffDelay(BACKOFF, this.failures++, random));
  }

  private async pagedList(signal: AbortSignal): Promise<string> {
    const { scope, sink, pageSize = PAGE_SIZE } = this.options;
    let paging: Pick<ListOptions, 'limit' | 'continue'> = { limit: pageSize };
    sink.begin();
    for (;;) {
      let page: ListMetadata;
      try {
        page = await this.page({ ...scope, ...paging, signal });
      } catch (error) {
        if (!isExpired(error) || paging.continue === undefined) throw error;
        // The snapshot behind the pages was compacted; a single answer without pages avoids that.
        paging = {};
        sink.begin();
        continue;
      }
      const { continue: next, resourceVersion = '' } = page;
      if (next === undefined || next === '') {
        sink.complete();
        return resourceVersion;
      }
      paging = { limit: pageSize, continue: next };
    }
  }

  private async page(options: ListOptions): Promise<ListMetadata> {
    const { kube, kind, sink } = this.options;
    if (isItemwise(kube)) return kube.listEach(kind, options, (object) => sink.upsert(object));
    const page = await kube.list(kind, options);
    for (const object of page.items) sink.upsert(object);
    return page.metadata;
  }

  private async streamList(signal: AbortSignal): Promise<void> {
    this.options.sink.begin();
    let complete = false;
    try {
      await this.watch(undefined, signal, () => {
        complete = true;
      });
    } catch (error) {
      const refused = error instanceof KubeError && (error.code === 400 || error.code === 422);
      if (!refused && !(error instanceof SilenceError)) throw error;
      if (complete) throw error;
    }
    if (complete || signal.aborted) return;
    this.streaming = false;
    await this.listAndWatch(signal);
  }

  /** Without a resource version, the server first sends all existing objects. */
  private async watch(resourceVersion: string | undefined, signal: AbortSignal, onListed?: () => void): Promise<void> {
    const { kube, clock, random, kind, scope, sink, watchSeconds = WATCH_SECONDS } = this.options;
    const timeoutSeconds = Math.ceil(watchSeconds * (1 + random.next()));
    const listing = resourceVersion === undefined;
    const silence = new SilenceAlarm(clock, signal, listing ? LISTING_SILENCE : this.silenceLimit(timeoutSeconds));
    const events = kube.watch(kind, {
      ...scope,
      ...(listing ? { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' } : { resourceVersion }),
      allowBookmarks: true,
      timeoutSeconds,
      signal: silence.signal,
    });
    this.watchBegan = clock.now();
    let listed = !listing;
    try {
      for await (const event of events) {
        silence.heard();
        this.heardAny = true;
        if (event.type === 'DELETED') sink.remove(event.object);
        else if (event.type !== 'BOOKMARK') sink.upsert(event.object);
        else if (!listed && event.object.metadata.annotations?.[INITIAL_EVENTS_END] === 'true') {
          listed = true;
          sink.complete();
          onListed?.();
          silence.limit = this.silenceLimit(timeoutSeconds);
        } else if (listed) {
          this.sendsBookmarks = true;
          silence.limit = this.silenceLimit(timeoutSeconds);
        }
        // Until the list is complete, its events are unordered, so none can be used to resume.
        if (listed) this.resourceVersion = event.object.metadata.resourceVersion ?? this.resourceVersion;
      }
    } catch (error) {
      throw silence.rang ?? error;
    } finally {
      silence.stop();
      if (!signal.aborted && clock.now() - this.watchBegan < timeoutSeconds * 1000) this.options.onBroken?.();
    }
    if (silence.rang !== undefined) throw silence.rang;
  }

  private silenceLimit(timeoutSeconds: number): number {
    const atTheEnd = timeoutSeconds * 1000 + SILENCE_MARGIN;
    return this.sendsBookmarks ? Math.min(BOOKMARK_SILENCE, atTheEnd) : atTheEnd;
  }
}

/** etcd was restored from a backup: the last version seen is newer than its current history. */
const isFromTheFuture = (error: unknown): boolean =>
  error instanceof KubeError &&
  error.status.details?.causes?.some((cause) => cause.reason === 'ResourceVersionTooLarge') === true;
