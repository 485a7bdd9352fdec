import { Kinds, type Event } from '../api/kinds.ts';
import { apiVersionOf, type KubeObject, type ResourceKind } from '../api/object.ts';
import type { Clock } from '../clock/clock.ts';
import type { Random } from '../clock/random.ts';
import { timestamp } from '../units/timestamp.ts';
import { isAlreadyExists, isNotFound, KubeError } from './errors.ts';
import { EventFilter, type EventFrequency } from './eventFilter.ts';
import type { Kube } from './kube.ts';
import type { Log } from './log.ts';
import { RecentMap } from './recentMap.ts';
import { backoffDelay } from './runtime/backoff.ts';
import { settlesWithin } from './runtime/windDown.ts';

/** An event for the owner of an object. */
export interface EventDraft extends EventFrequency {
  readonly kind: ResourceKind<KubeObject>;
  readonly object: KubeObject;
  readonly type: 'Normal' | 'Warning';
  readonly message: string;
  /** Events of one series about an object are merged: the count increases and the latest message is kept. */
  readonly series?: string;
}

/** Where controllers publish events: returns at once and never throws. */
export interface EventRecorder {
  publish(...events: readonly EventDraft[]): void;
}

export interface KubeEventRecorderOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The component that reports the event. */
  readonly component?: string;
  /** The process that reports it, usually the pod's name. */
  readonly instance?: string;
  /** Limit on queued events; further ones are dropped. */
  readonly queueLimit?: number;
  /** Limit on events remembered to detect repetitions. */
  readonly memoryLimit?: number;
}

/** An event to be sent, and the key of its repetitions. */
interface Outgoing {
  readonly event: NewEvent;
  readonly identity: string;
}

type NewEvent = Omit<Event, 'metadata'> & { readonly metadata: { readonly name: string; readonly namespace: string } };

const MAX_ATTEMPTS = 6;
const RETRY = { base: 1_000, max: 10_000, jitter: 0.2 };

/**
 * Writes core/v1 Events. A repeated event increases the count of the existing one. A single sender processes a bounded
 * queue in order; events that the server refuses are logged and dropped, failed requests are retried a few times.
 */
export class KubeEventRecorder implements EventRecorder {
  private readonly options: KubeEventRecorderOptions;
  private readonly filter: EventFilter;
  private readonly queueLimit: number;
  private readonly queue: Outgoing[] = [];
  /** Events on the server by content, to count repetitions. */
  private readonly sent: RecentMap<string, NewEvent>;
  private readonly closing = new AbortController();
  private sending: Promise<void> | undefined;
  private dropped = 0;

  constructor(options: KubeEventRecorderOptions) {
    const { clock, queueLimit = 1_000, memoryLimit = 4_096 } = options;
    this.options = options;
    this.queueLimit = queueLimit;
    this.filter = new EventFilter(clock, memoryLimit);
    this.sent = new RecentMap(memoryLimit);
  }

  publish(...events: readonly EventDraft[]): void {
    for (const event of events) {
      try {
        this.enqueue(event);
      } catch (error) {
        this.options.log.error('cannot compose an event', { object: event.object?.metadata?.name, error });
      }
    }
  }

  /** Resolves when all events published so far are sent or dropped. */
  async flush(): Promise<void> {
    await this.sending;
  }

  /** Accepts no more events, and allows `milliseconds` to send the queued ones. */
  async close(milliseconds = 2_000): Promise<void> {
    const inTime = await settlesWithin(this.options.clock, this.flush(), milliseconds);
    this.closing.abort(new Error('the event recorder was closed'));
    if (inTime) return;
    this.options.log.error('stopping with unsent events', { count: this.queue.length });
    this.queue.length = 0;
  }

  private enqueue(draft: EventDraft): void {
    if (this.closing.signal.aborted || !this.filter.admits(draft)) return;
    if (this.queue.length >= this.queueLimit) {
      this.dropped++;
      return;
    }
    const event = this.compose(draft);
    this.queue.push({ event, identity: identityOf(event, draft.series) });
    this.sending ??= this.sendAll();
  }

  private compose({ kind, object, type, reason, message }: EventDraft): NewEvent {
    const { clock, random, component = 'karpenter', instance = '' } = this.options;
    const { name, namespace, uid, resourceVersion } = object.metadata;
    // Named like those of other recorders: nanoseconds in hexadecimal. The clock only has milliseconds, so the last
    // digits are random.
    const nanoseconds = BigInt(Math.floor(clock.now())) * 1_000_000n + BigInt(Math.floor(random.next() * 1e6));
    const time = timestamp(clock.now());
    return {
      metadata: { name: `${name.slice(0, 230)}.${nanoseconds.toString(16)}`, namespace: namespace ?? 'default' },
      involvedObject: {
        apiVersion: apiVersionOf(kind),
        kind: kind.kind,
        name,
        ...(namespace === undefined ? {} : { namespace }),
        ...(uid === undefined ? {} : { uid }),
        ...(resourceVersion === undefined ? {} : { resourceVersion }),
      },
      type,
      reason,
      message,
      source: { component, ...(instance === '' ? {} : { host: instance }) },
      reportingComponent: component,
      reportingInstance: instance,
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
    };
  }

  private async sendAll(): Promise<void> {
    // Yield first, so that the publisher continues.
    await Promise.resolve();
    for (let next = this.queue[0]; next !== undefined; next = this.queue[0]) {
      await this.sendOne(next);
      this.queue.shift();
    }
    this.sending = undefined;
    if (this.dropped > 0) this.options.log.error('event queue full; dropped events', { count: this.dropped });
    this.dropped = 0;
  }

  private async sendOne({ event, identity }: Outgoing): Promise<void> {
    const { clock, random, log } = this.options;
    for (let attempt = 1; ; attempt++) {
      try {
        await this.write(event, identity);
        return;
      } catch (error) {
        const hopeless = attempt >= MAX_ATTEMPTS || !isPassing(error) || this.closing.signal.aborted;
        if (hopeless) {
          log.error('cannot write an event', { object: event.involvedObject.name, reason: event.reason, error });
          return;
        }
        const wait = Math.max(backoffDelay(RETRY, attempt - 1, random), (error as KubeError).retryAfter ?? 0);
        await clock.sleep(wait, this.closing.signal).catch(() => undefined);
      }
    }
  }

  private async write(event: NewEvent, key: string): Promise<void> {
    const { kube } = this.options;
    const signal = this.closing.signal;
    const earlier = this.sent.get(key);
    let stored = event;
    if (earlier !== undefined) {
      const { message = '', lastTimestamp = '' } = event;
      stored = { ...earlier, count: (earlier.count ?? 1) + 1, lastTimestamp, message };
      const words = message === earlier.message ? {} : { message };
      const body = { count: stored.count, lastTimestamp, ...words };
      try {
        await kube.patch(Kinds.Event, earlier.metadata, { type: 'merge', body }, { signal });
        this.sent.set(key, stored);
        return;
      } catch (error) {
        if (!isNotFound(error)) throw error;
        // The server deletes events after an hour: write it again, under the new name and with its count.
        stored = { ...stored, metadata: event.metadata };
      }
    }
    try {
      await kube.create(Kinds.Event, stored, { signal });
    } catch (error) {
      // An earlier attempt had arrived after all.
      if (!isAlreadyExists(error)) throw error;
    }
    this.sent.set(key, stored);
  }
}

/** Equal for two events with the same content about the same object, or of one series. */
function identityOf({ involvedObject, type, reason, message }: NewEvent, series: string | undefined): string {
  const { apiVersion, kind, namespace, name, uid } = involvedObject;
  const words = series === undefined ? { message } : { series };
  return JSON.stringify([apiVersion, kind, namespace, name, uid, type, reason, words]);
}

/** Whether a retry may help: the server was not reached, is busy, or failed. */
function isPassing(error: unknown): error is KubeError {
  return error instanceof KubeError && (error.code === 0 || error.code === 429 || error.code >= 500);
}
