/**
 * Sends spans to an OpenTelemetry collector: OTLP over HTTP as JSON. All buffers are bounded, and tracing never blocks:
 * spans that cannot be buffered or delivered are dropped and counted.
 */
import { request } from 'undici';
import type { Clock } from '../clock/clock.ts';
import type { Random } from '../clock/random.ts';
import { messageOf } from '../errors/thrown.ts';
import type { Log } from '../kube/log.ts';
import type { Counter, MetricsRegistry } from '../kube/metrics.ts';
import type { Span, SpanAttributes, Tracer } from '../kube/trace.ts';

export interface OtlpTracerOptions {
  /** The complete URL, such as `http://collector:4318/v1/traces`. */
  readonly endpoint: string;
  readonly version: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: MetricsRegistry;
  readonly log: Log;
}

/** Limits on spans waiting to be sent, per message, and per trace. */
const MOST_WAITING = 4_096;
const MOST_SENT = 512;
const MOST_OF_TRACE = 256;
/** Milliseconds: between two messages, for one attempt, before the one retry, and for the final send. */
const INTERVAL = 5_000;
const TIMEOUT = 10_000;
const RETRY_AFTER = 1_000;
const FAREWELL = 5_000;
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const INTERNAL = 1;
const ERROR = 2;

interface FinishedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: typeof INTERNAL;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly object[];
  readonly status?: { readonly code: typeof ERROR; readonly message: string };
}

/** One trace: its id, and the number of spans it may still have. */
interface Trace {
  readonly id: string;
  left: number;
}

export class OtlpTracer implements Tracer {
  private readonly options: OtlpTracerOptions;
  private readonly waiting: FinishedSpan[] = [];
  private readonly exported: Counter;
  private readonly dropped: Counter;
  private isComplaining = false;

  constructor(options: OtlpTracerOptions) {
    this.options = options;
    this.exported = options.metrics.counter({
      name: 'nodewright_traces_exported_spans_total',
      help: 'Spans that the OpenTelemetry collector has taken.',
    });
    this.dropped = options.metrics.counter({
      name: 'nodewright_traces_dropped_spans_total',
      help: 'Spans that were dropped: no room in the queue, a trace with too many of them, or a collector that did not take them.',
      labels: ['reason'],
    });
  }

  begin(name: string, since?: number): Span {
    return this.span(name, { id: this.id(32), left: MOST_OF_TRACE - 1 }, undefined, since);
  }

  /** Sends finished spans until the signal aborts; then sends the rest once. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.options;
    while (!signal.aborted) {
      await clock.sleep(INTERVAL, signal).catch(() => undefined);
      if (!signal.aborted) await this.flush(TIMEOUT);
    }
    await this.flush(FAREWELL);
  }

  private span(name: string, trace: Trace, parent: string | undefined, since?: number): Span {
    const { clock } = this.options;
    const spanId = this.id(16);
    const began = { now: clock.now(), monotonic: clock.monotonic() };
    const start = since ?? began.now;
    return {
      child: (childName, childSince) => {
        if (trace.left <= 0) {
          this.dropped.inc({ reason: 'trace' });
          return NOTHING;
        }
        trace.left -= 1;
        return this.span(childName, trace, spanId, childSince);
      },
      end: (attributes = {}, error) => {
        const end = began.now + (clock.monotonic() - began.monotonic);
        this.keep({
          traceId: trace.id,
          spanId,
          ...(parent && { parentSpanId: parent }),
          name,
          kind: INTERNAL,
          startTimeUnixNano: nanoseconds(start),
          endTimeUnixNano: nanoseconds(Math.max(start, end)),
          attributes: attributesOf(attributes),
          ...(error !== undefined && { status: { code: ERROR, message: messageOf(error) } }),
        });
      },
    };
  }

  private keep(span: FinishedSpan): void {
    if (this.waiting.length >= MOST_WAITING) this.dropped.inc({ reason: 'queue' });
    else this.waiting.push(span);
  }

  private async flush(timeout: number): Promise<void> {
    while (this.waiting.length > 0) {
      const spans = this.waiting.splice(0, MOST_SENT);
      const problem = await this.send(spans, timeout);
      if (problem === undefined) {
        this.exported.inc({}, spans.length);
        this.isComplaining = false;
        continue;
      }
      this.dropped.inc({ reason: 'export' }, spans.length);
      // Logged once, until it works again: an unavailable collector must not fill the log.
      if (!this.isComplaining) this.options.log.error('traces cannot be exported; they are dropped', { problem });
      this.isComplaining = true;
      return;
    }
  }

  /** The problem; undefined when the spans were accepted. */
  private async send(spans: readonly FinishedSpan[], timeout: number): Promise<string | undefined> {
    const body = JSON.stringify(this.message(spans));
    for (let attempt = 0; ; attempt++) {
      const { status, problem } = await this.options.clock.track(this.post(body, timeout));
      if (problem === undefined) return undefined;
      const isWorthwhile = status === undefined || RETRYABLE.has(status);
      if (attempt > 0 || !isWorthwhile || timeout === FAREWELL) return problem;
      await this.options.clock.sleep(RETRY_AFTER);
    }
  }

  private async post(body: string, timeout: number): Promise<{ status?: number; problem?: string }> {
    try {
      const response = await request(this.options.endpoint, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
        headersTimeout: timeout,
        bodyTimeout: timeout,
        signal: AbortSignal.timeout(timeout),
      });
      await response.body.dump();
      const { statusCode: status } = response;
      return status >= 200 && status < 300 ? { status } : { status, problem: `the collector answers ${status}` };
    } catch (error) {
      return { problem: messageOf(error) };
    }
  }

  private message(spans: readonly FinishedSpan[]): object {
    const { version } = this.options;
    const resource = { attributes: attributesOf({ 'service.name': 'nodewright', 'service.version': version }) };
    return { resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'nodewright', version }, spans }] }] };
  }

  /** Hexadecimal digits, not all 0. */
  private id(length: number): string {
    const text = this.options.random.uuid().replaceAll('-', '');
    return text.slice(0, length);
  }
}

const NOTHING: Span = { child: () => NOTHING, end: () => {} };

const nanoseconds = (milliseconds: number): string => String(BigInt(Math.round(milliseconds * 1_000)) * 1_000n);

function attributesOf(attributes: SpanAttributes): readonly object[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: valueOf(value) }));
}

function valueOf(value: SpanAttributes[string]): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  // In JSON of protocol buffers, 64-bit integers are text.
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
